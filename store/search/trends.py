"""Trending pictures to search with, from a folder (`TRENDS_IMAGES_ROOT`)."""

from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from store.disk.layout import Layout
from store.settings import settings

_KINDS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif"})
_LARGEST = 30_000_000  # bytes; far above any picture worth showing


def pictures(layout: Layout) -> list[Path]:
    """The files that look like pictures, newest first; links out of the folder are skipped."""
    folder = settings().trends_images_root or layout.memecoins / "trends"
    found = []
    with suppress(OSError):  # nobody has made the folder
        for path in folder.iterdir():
            with suppress(OSError):  # it is gone since, which says nothing of the others
                file_stat = path.lstat()
                if (
                    path.suffix.lower() in _KINDS
                    and S_ISREG(file_stat.st_mode)
                    and file_stat.st_size <= _LARGEST
                ):
                    found.append((file_stat.st_mtime, path))
    return [path for _, path in sorted(found, reverse=True)]
