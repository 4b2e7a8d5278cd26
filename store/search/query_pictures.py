"""Pictures to search with: those that people searched with, and trending ones from a folder.

The first are stored so that links and saved searches keep working.
"""

import contextlib
import re
import time
from pathlib import Path
from stat import S_ISREG

from store.catalog.catalog import Catalog, writing_errors
from store.disk.files import Disk, content_hash, file_hash
from store.disk.layout import Layout
from store.settings import settings

KEPT = 500  # that nothing names; beyond it the ones longest unused go. Each takes about 40 kB
OPEN = 7 * 86_400  # seconds after its last use in which a link to it may still be open somewhere
_STEP = 3_600  # seconds; a picture in use is marked as used no more often than that
_NAME = 16  # hex digits of the SHA-256 of the normalised picture
_NAMED = re.compile(rf"picture:([0-9a-f]{{{_NAME}}})(?![\w.-])", re.IGNORECASE)
# All places that store lines: saved searches lie in meta, what was generated or asked for in jobs.
_LINES = (
    ("meta", "value"), ("golden", "line"), ("judgements", "line"), ("evaluations", "report"),
    ("jobs", "options"), ("jobs", "note"), ("job_items", "key"), ("job_items", "payload"),
    ("history", "reason"),
)  # fmt: skip


class QueryPictures:
    """`library.samples`: query pictures, by the name that queries use."""

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk) -> None:
        self._catalog = catalog
        self._folder = layout.samples
        self._disk = disk

    def get(self, name: str) -> bytes | None:
        """The picture of this name; None if it is not stored."""
        self._catalog.actor.check_login()
        is_name = len(name) == _NAME and set(name) <= set("0123456789abcdef")
        place = self._place(name)
        if not is_name or not place.exists():
            return None
        with contextlib.suppress(OSError):  # a disk that is only read keeps all it has
            if time.time() - place.stat().st_mtime > _STEP:
                place.touch()
        return place.read_bytes()

    def path(self, image_hash: str) -> Path | None:
        """The path of the picture with this SHA-256; None if it is not stored."""
        self._catalog.actor.check_login()
        place = self._place(image_hash[:_NAME])
        return place if place.exists() else None

    def store(self, content: bytes) -> str:
        """Store a picture once and return its name. Raises BadPicture if it cannot be read."""
        self._catalog.check_writable()
        name, normal = named(content)
        place = self._place(name)
        with writing_errors("the picture"):
            if place.exists():
                place.touch()
                return name
            self._disk.make_folder(self._folder)
            self._disk.replace(place, normal)
            self._delete_old()
        return name

    def _delete_old(self) -> None:
        """Delete the ones longest unused beyond the limit, unless a search, query or job refers to them."""
        stats = {path: path.stat().st_mtime for path in self._folder.glob(f"{'?' * _NAME}.jpg")}
        if len(stats) <= KEPT:
            return
        named = self._named()
        loose = sorted(
            (path for path in stats if path.stem not in named), key=stats.__getitem__, reverse=True
        )
        open_since = time.time() - OPEN
        for path in loose[KEPT:]:
            is_ours = (file_hash(path) or "").startswith(path.stem)  # ours are named by what is in them
            if stats[path] < open_since and is_ours:
                path.unlink(missing_ok=True)

    def _named(self) -> set[str]:
        texts = [
            str(row[0])
            for table, column in _LINES
            for row in self._catalog.rows(f"SELECT {column} FROM {table} WHERE {column} LIKE '%picture:%'")
        ]
        return {name for text in texts for name in _NAMED.findall(text)}

    def _place(self, name: str) -> Path:
        return self._folder / f"{name}.jpg"


def named(content: bytes) -> tuple[str, bytes]:
    """The name of a picture, and it as the library stores it. Raises BadPicture if it cannot be read."""
    from store.disk.images import normalise  # Pillow, which a list does without

    normal = normalise(content)
    return content_hash(normal)[:_NAME], normal


_KINDS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif"})
_LARGEST = 30_000_000  # bytes; far above any picture worth showing


def trending_pictures(layout: Layout) -> list[Path]:
    """The files that look like pictures, newest first; links out of the folder are skipped."""
    folder = settings().trends_images_root or layout.memecoins / "trends"
    found = []
    with contextlib.suppress(OSError):  # the folder does not exist
        for path in folder.iterdir():
            with contextlib.suppress(OSError):  # it is gone since, which says nothing of the others
                file_stat = path.lstat()
                if (
                    path.suffix.lower() in _KINDS
                    and S_ISREG(file_stat.st_mode)
                    and file_stat.st_size <= _LARGEST
                ):
                    found.append((file_stat.st_mtime, path))
    return [path for _, path in sorted(found, reverse=True)]
