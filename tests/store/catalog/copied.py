"""Four coins of a library whose catalog was copied; what tests do with both."""

from pathlib import Path

from store.catalog import snapshots
from store.catalog.snapshots import CatalogSnapshot
from tests.store.conftest import address

FIRST, SECOND, THIRD, FOURTH = (address(number) for number in range(4))


def removed(catalog: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        catalog.with_name(catalog.name + ending).unlink(missing_ok=True)


def tables(copy: CatalogSnapshot) -> set[str]:
    with snapshots.reading(copy) as db:
        return {row["name"] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
