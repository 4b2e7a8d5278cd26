"""Checks of the catalog's pages, which take minutes instead of an hour when it has grown large."""

import sqlite3

_AT_ONCE = 2**30  # bytes: SQLite reads a table from its last page to its first, on a disk at 20 MB a second
_MOST = 10  # faults of one check
_HEADING = "*** in database main ***\n"  # before the first of them


def parts(db: sqlite3.Connection) -> list[str]:
    """The parts that are checked one after another: tables, or an empty name for the whole catalog.

    Above 1 GiB these are all tables but the vectors, which are nearly all of it: reading them in the order of
    the file says whether they can be read, and takes a tenth of the time.
    """
    (size,) = db.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
    if size <= _AT_ONCE:
        return [""]
    tables = db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name <> 'vectors'"
    )
    return ["sqlite_schema", *(str(row[0]) for row in tables)]


def faults(db: sqlite3.Connection, part: str) -> list[str]:
    """SQLite's findings about the pages of a part."""
    if part:  # in the order of the file once, so that the check finds it in memory
        _fault_of_reading(db, part)
    asked = f"'{part}'" if part else _MOST
    found = db.execute(f"PRAGMA quick_check({asked})").fetchmany(_MOST)
    return [str(row[0]).removeprefix(_HEADING) for row in found if row[0] != "ok"]


def first_fault(db: sqlite3.Connection) -> str:
    """A fault of any page, those of the vectors included; "" if all are sound."""
    found = (fault for part in parts(db) for fault in faults(db, part))
    return next(found, "") or _fault_of_reading(db, "vectors")


def _fault_of_reading(db: sqlite3.Connection, table: str) -> str:
    """Read a table from its first page to its last; returns what is malformed, or ""."""
    try:
        db.execute(f"SELECT count(*) FROM '{table}' NOT INDEXED").fetchone()
    except sqlite3.OperationalError:  # busy, or interrupted
        raise
    except sqlite3.DatabaseError as error:
        return str(error)
    return ""
