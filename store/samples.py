"""Pictures that questions are asked with, kept so that a link or a saved search still finds them."""

from pathlib import Path

from store.files import Disk, content_hash
from store.layout import Layout

KEPT = 500  # beyond it the ones longest unused go; each takes about 40 kB
_NAME = 16  # hex digits of the SHA-256 of the normalised picture


def named(content: bytes) -> tuple[str, bytes]:
    """The name of a picture and the picture as the library would keep it; BadPicture for what is none."""
    from store.images import normalise  # Pillow, which a list does without

    normal = normalise(content)
    return content_hash(normal)[:_NAME], normal


def keep(layout: Layout, content: bytes, *, disk: Disk) -> str:
    """Keep a picture, once however often it is shown, and give its name."""
    name, normal = named(content)
    place = _place(layout, name)
    if place.exists():
        place.touch()
        return name
    disk.make_folder(layout.samples)
    disk.replace(place, normal)
    kept = sorted(layout.samples.glob("*.jpg"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in kept[KEPT:]:
        path.unlink(missing_ok=True)
    return name


def found(layout: Layout, name: str) -> bytes | None:
    """The picture of this name, None where none is kept."""
    is_name = len(name) == _NAME and set(name) <= set("0123456789abcdef")
    place = _place(layout, name)
    return place.read_bytes() if is_name and place.exists() else None


def _place(layout: Layout, name: str) -> Path:
    return layout.samples / f"{name}.jpg"
