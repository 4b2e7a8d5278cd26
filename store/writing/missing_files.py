"""Deleted files that a decided change needs: found again, or skipped."""

from collections.abc import Iterator
from pathlib import Path

from store.catalog.catalog import Catalog
from store.disk.files import Disk, file_hash
from store.disk.layout import Layout
from store.records import TIERS


class MissingFiles:
    """Restores a missing file if it can be found; `messages` lists what was done."""

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk) -> None:
        self.messages: list[str] = []
        self._catalog = catalog
        self._layout = layout
        self._disk = disk

    def fill(self, target: Path, expected: str) -> None:
        """Put the file with this SHA-256 in place: a sidecar from the catalog, a picture from where it is."""
        with self._catalog.reading() as db:
            row = db.execute("SELECT text FROM sidecars WHERE hash = ?", [expected]).fetchone()
        if row:
            self._disk.replace(target, str(row["text"]).encode())
            self.messages.append(
                f"{target.stem}: its sidecar was removed and is written again from the catalog"
            )
            return
        for path in self._places(target.stem, expected):
            if file_hash(path) == expected:
                self._disk.replace(target, path.read_bytes())
                self.messages.append(
                    f"{target.stem}: its picture was removed; {path} is the same and was copied"
                )
                return
        self.messages.append(
            f"{target.stem}: its picture was removed and is nowhere else; the change is done without it. "
            f"Put the picture back as {target}, or remove the sidecar beside it as well"
        )

    def _places(self, address: str, expected: str) -> Iterator[Path]:
        """Where a picture may be: moved by hand, set aside, staged, or of a coin that looks the same."""
        yield from (self._layout.image(tier, address) for tier in TIERS)
        for folder in (self._layout.set_aside, *self._layout.operations.glob("*")):
            yield from folder.glob(f"*{address}.jpg")
        with self._catalog.reading() as db:
            rows = db.execute("SELECT tier, address FROM records WHERE image_hash = ?", [expected]).fetchall()
        yield from (self._layout.image(row["tier"], row["address"]) for row in rows)
