"""A damaged catalog: a new one takes over whatever the old one can still be made to say."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from store import matrix_files
from store.catalog import Catalog
from store.files import Disk
from store.layout import Layout
from store.lock import WriterLock

# Truth that sidecars do not hold; `records` and all rows for listing come from them.
_TABLES = (
    "meta", "sidecars", "vectors", "decisions", "history", "drafts", "verdicts", "jobs", "job_items",
    "sources", "suggestions", "prompts",
    "taxonomies", "troubles", "inbox",
    "golden", "judgements", "calibrations",
)  # fmt: skip


def salvage(layout: Layout) -> dict[str, int]:
    """Put the damaged catalog aside and begin a new one with what could be read: rows taken over by table."""
    lock = WriterLock(layout.lock)
    lock.acquire()
    try:
        broken = layout.catalog.with_name(f"{layout.catalog.name}.damaged-{time.time_ns()}")
        for ending in ("", "-wal", "-shm"):
            path = layout.catalog.with_name(layout.catalog.name + ending)
            if path.exists():
                path.rename(broken.with_name(broken.name + ending))
        catalog = Catalog(layout.catalog, disk=Disk(), writable=True)
        with catalog.writing() as db:
            taken = {table: _take(db, table, broken) for table in _TABLES}
            db.execute("INSERT OR REPLACE INTO meta VALUES ('chroma_rebuild', '1')")
            db.execute("DELETE FROM meta WHERE key = ?", [matrix_files.NAMED])  # its generations begin anew
        catalog.close()
        return taken
    finally:
        lock.release()


def _take(db: sqlite3.Connection, table: str, broken: Path) -> int:
    count = 0
    for row in _readable(broken, table):
        marks = ", ".join("?" * len(row))
        with contextlib.suppress(sqlite3.Error):  # a row that was read wrong does not fit
            count += db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", row).rowcount
    return count


def _readable(broken: Path, table: str) -> Iterator[tuple[object, ...]]:
    """Rows from the front and, where a page cannot be read, from the back."""
    old = sqlite3.connect(broken)
    try:
        for order in ("", " ORDER BY rowid DESC"):
            try:
                yield from old.execute(f"SELECT * FROM {table}{order}")
                return
            except sqlite3.Error:
                continue
    finally:
        old.close()
