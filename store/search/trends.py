"""Pictures of what is in fashion, in a folder (reference 1's TRENDS_IMAGES_ROOT)."""

from pathlib import Path

from store.layout import Layout
from store.settings import settings

_KINDS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif"})
_LARGEST = 30_000_000  # bytes; far above any picture worth showing


def pictures(layout: Layout, *, limit: int = 8) -> list[Path]:
    """The newest ones; links out of the folder are passed over."""
    folder = settings().trends_images_root or layout.memecoins / "trends"
    try:
        found = [(path.stat().st_mtime, path) for path in folder.iterdir() if _is_picture(path)]
    except OSError:  # nobody has made the folder
        return []
    return [path for _, path in sorted(found, reverse=True)[:limit]]


def _is_picture(path: Path) -> bool:
    return (
        path.suffix.lower() in _KINDS
        and path.is_file()
        and not path.is_symlink()
        and path.stat().st_size <= _LARGEST
    )
