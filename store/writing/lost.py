"""Files that a decided change needs and that somebody removed: found again, or gone on without."""

from collections.abc import Iterator
from pathlib import Path

from store.catalog import Catalog
from store.files import Disk, file_hash
from store.layout import Layout
from store.records import TIERS


class Lost:
    """Puts a file that is missing where it belongs, as far as it is to be had; `said` tells what it did."""

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk) -> None:
        self.said: list[str] = []
        self._catalog = catalog
        self._layout = layout
        self._disk = disk

    def fill(self, target: Path, expected: str) -> None:
        """The file of this SHA-256 to this place: a sidecar from the catalog, a picture from where it is."""
        with self._catalog.reading() as db:
            row = db.execute("SELECT text FROM sidecars WHERE hash = ?", [expected]).fetchone()
        if row:
            self._disk.replace(target, str(row["text"]).encode())
            self.said.append(f"{target.stem}: its sidecar was removed and is written again from the catalog")
            return
        for path in self._places(target.stem, expected):
            if file_hash(path) == expected:
                self._disk.replace(target, path.read_bytes())
                self.said.append(f"{target.stem}: its picture was removed; {path} is the same and was copied")
                return
        self.said.append(
            f"{target.stem}: its picture was removed and is nowhere else; the change is done without it. "
            f"Put the picture back as {target}, or remove the sidecar beside it as well"
        )

    def _places(self, address: str, expected: str) -> Iterator[Path]:
        """Where a picture may lie: moved by hand, set aside, staged, or of a coin that looks the same."""
        yield from (self._layout.image(tier, address) for tier in TIERS)
        for folder in (self._layout.set_aside, *self._layout.operations.glob("*")):
            yield from folder.glob(f"*{address}.jpg")
        with self._catalog.reading() as db:
            rows = db.execute("SELECT tier, address FROM records WHERE image_hash = ?", [expected]).fetchall()
        yield from (self._layout.image(row["tier"], row["address"]) for row in rows)
