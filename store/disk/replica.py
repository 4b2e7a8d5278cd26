"""Database files in which Litestream follows a writer on another machine (`litestream restore -f`).

Litestream takes SQLite's own locks while it changes pages, but SQLite notices changed pages only by page 1,
which most commits leave alone. So a replica is read through a new connection every time, which has cached
nothing, and whose lock is held until its reader is done.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from store.errors import ReadOnly


def is_replica(path: Path) -> bool:
    """Whether Litestream follows a writer into this file, so that nothing else may write to it."""
    return path.with_name(f"{path.name}-txid").exists()


def refuse_replica(path: Path) -> None:
    """Raises ReadOnly for a replica, with the remedy."""
    if is_replica(path):
        raise ReadOnly(
            f"{path} is a replica that Litestream writes to; decide on the machine that it follows. To write "
            f"here instead, end Litestream and delete {path.name}-txid"
        )


@contextmanager
def held(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Lend a new connection to a replica, which does not change until the block ends; then close it."""
    with closing(db), closing(db.execute("SELECT 1 FROM sqlite_master")) as reading:
        reading.fetchone()  # of many rows: as long as it is not read to its end, SQLite keeps its lock
        yield db
