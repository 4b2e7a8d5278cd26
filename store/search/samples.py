"""Pictures that questions are asked with, kept so that a link or a saved search still finds them."""

from pathlib import Path

from store.catalog import Catalog, keeping
from store.files import Disk, content_hash
from store.layout import Layout

KEPT = 500  # beyond it the ones longest unused go; each takes about 40 kB
_NAME = 16  # hex digits of the SHA-256 of the normalised picture


class Samples:
    """`library.samples`: by the name that a question calls each by."""

    READING = frozenset({"get", "path"})

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk) -> None:
        self._catalog = catalog
        self._folder = layout.samples
        self._disk = disk

    def get(self, name: str) -> bytes | None:
        """The picture of this name, None where none is kept."""
        is_name = len(name) == _NAME and set(name) <= set("0123456789abcdef")
        place = self._place(name)
        return place.read_bytes() if is_name and place.exists() else None

    def path(self, image_hash: str) -> Path | None:
        """Where the picture with this SHA-256 lies, None where none is kept."""
        place = self._place(image_hash[:_NAME])
        return place if place.exists() else None

    def keep(self, content: bytes) -> str:
        """Keep a picture, once however often it is shown, and give its name; BadPicture for what is none."""
        self._catalog.check_writable()
        name, normal = named(content)
        place = self._place(name)
        with keeping("the picture"):
            if place.exists():
                place.touch()
                return name
            self._disk.make_folder(self._folder)
            self._disk.replace(place, normal)
            kept = sorted(self._folder.glob("*.jpg"), key=lambda path: path.stat().st_mtime, reverse=True)
            for path in kept[KEPT:]:
                path.unlink(missing_ok=True)
        return name

    def _place(self, name: str) -> Path:
        return self._folder / f"{name}.jpg"


def named(content: bytes) -> tuple[str, bytes]:
    """The name of a picture and the picture as the library would keep it; BadPicture for what is none."""
    from store.images import normalise  # Pillow, which a list does without

    normal = normalise(content)
    return content_hash(normal)[:_NAME], normal
