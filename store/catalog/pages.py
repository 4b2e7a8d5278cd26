"""Checks of the catalog's pages, which take minutes instead of an hour when it has grown large."""

import contextlib

from store.catalog.catalog import Catalog
from store.errors import CatalogDamaged

_AT_ONCE = 2**30  # bytes: SQLite reads a table from its last page to its first, on a disk at 20 MB a second
_MOST = 10  # faults of one check


def parts(catalog: Catalog) -> list[str]:
    """What is checked one after another: tables, or an empty name for the whole catalog.

    Above 1 GiB these are all tables but the vectors, which are nearly all of it: reading them in the order of
    the file says whether they can be read, and takes a tenth of the time.
    """
    if catalog.path.stat().st_size <= _AT_ONCE:
        return [""]
    with catalog.reading() as db:
        tables = db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name <> 'vectors'"
        )
        return ["sqlite_schema", *(str(row[0]) for row in tables)]


def faults(catalog: Catalog, part: str) -> list[str]:
    """What SQLite finds wrong with the pages of a part."""
    if part:  # in the order of the file once, so that the check finds it in memory
        _read(catalog, part)
    asked = f"'{part}'" if part else _MOST
    with catalog.reading() as db:
        found = db.execute(f"PRAGMA quick_check({asked})").fetchmany(_MOST)
        return [str(row[0]) for row in found if row[0] != "ok"]


def are_sound(catalog: Catalog) -> bool:
    """Whether all pages can be read, those of the vectors included."""
    return _read(catalog, "vectors") and not any(faults(catalog, part) for part in parts(catalog))


def _read(catalog: Catalog, table: str) -> bool:
    """Read a table from its first page to its last; returns whether that was possible."""
    with contextlib.suppress(CatalogDamaged), catalog.reading() as db:
        db.execute(f"SELECT count(*) FROM '{table}' NOT INDEXED").fetchone()
        return True
    return False
