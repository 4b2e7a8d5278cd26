"""One SQLite file of ours: what this process has open, it opens by SQLite alone."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from store.backup.create import backup
from store.catalog.catalog import is_made
from store.disk.sqlite import identify
from store.library import Library
from store.memory.memory import Memory
from store.reading.reader import Reader

_ASK = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute("SELECT value FROM meta WHERE key = 'noted'").fetchone()[0])
db.close()
"""


def noted(path: Path) -> str:
    """What another process reads, which would remove the log if no lock told of this one."""
    asked = [sys.executable, "-c", _ASK, str(path)]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def look_at(library: Library) -> None:
    identify(library.layout.catalog)


def ask_whether_it_is_made(library: Library) -> None:
    assert is_made(library.layout.catalog)


def read_beside(library: Library) -> None:
    Reader(library.layout.root).close()


@pytest.mark.parametrize("look", [look_at, ask_whether_it_is_made, read_beside])
def test_what_is_written_after_a_look_at_the_catalog_is_seen_by_other_processes(
    library: Library, look: Callable[[Library], None]
) -> None:
    library.catalog.set_meta("noted", "before")
    look(library)
    assert noted(library.layout.catalog) == "before"
    library.catalog.set_meta("noted", "after")
    assert noted(library.layout.catalog) == "after"


def test_what_is_written_after_a_backup_of_the_memory_is_seen_by_other_processes(
    library: Library, tmp_path: Path
) -> None:
    with Memory.open(library.layout.root) as memory:
        database = memory.memories.passages.database
        database.set_meta("noted", "before")
        backup(library, tmp_path / "backup")
        assert noted(database.path) == "before"
        database.set_meta("noted", "after")
        assert noted(database.path) == "after"


@pytest.mark.parametrize("size", [1, 14, 15, 511, 512, 4096, 5000])
def test_a_file_that_is_no_database_is_refused_and_stays_as_it_is(tmp_path: Path, size: int) -> None:
    path = tmp_path / "catalog.sqlite3"
    path.write_bytes(b"A" * size)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        identify(path)
    assert path.read_bytes() == b"A" * size


def test_there_is_nothing_where_there_is_no_file_or_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite3"
    assert identify(path) is None
    path.touch()
    assert identify(path) is None
