"""Whose a SQLite file is: a file that this process has open is only ever inspected through SQLite."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from store.backup.create import backup
from store.catalog.catalog import is_made
from store.disk.sqlite import to_read
from store.disk.sqlite_identity import identify
from store.library import Library
from store.memory.memory import Memory
from store.reading.reader import Reader

_ASK = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute("SELECT value FROM meta WHERE key IN ('noted', 'memories noted')").fetchone()[0])
db.close()
"""


def noted(path: Path) -> str:
    """What another process reads, which would remove the log if no lock told of this one."""
    command = [sys.executable, "-c", _ASK, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def identify_catalog(library: Library) -> None:
    identify(library.layout.catalog)


def check_that_the_catalog_exists(library: Library) -> None:
    assert is_made(library.layout.catalog)


def open_and_close_a_reader(library: Library) -> None:
    Reader(library.layout.root).close()


@pytest.mark.parametrize("look", [identify_catalog, check_that_the_catalog_exists, open_and_close_a_reader])
def test_other_processes_see_writes_made_after_the_catalog_was_inspected(
    library: Library, look: Callable[[Library], None]
) -> None:
    library.catalog.set_meta("noted", "before")
    look(library)
    assert noted(library.layout.catalog) == "before"
    library.catalog.set_meta("noted", "after")
    assert noted(library.layout.catalog) == "after"


def test_other_processes_see_writes_made_after_a_backup_of_the_memory(
    library: Library, tmp_path: Path
) -> None:
    with Memory.open(library.layout.root) as memory:
        database = memory.memories.entries.database
        database.set_meta("noted", "before")
        backup(library, tmp_path / "backup")
        assert noted(database.path) == "before"
        database.set_meta("noted", "after")
        assert noted(database.path) == "after"


@pytest.mark.parametrize("size", [1, 14, 15, 511, 512, 4096, 5000])
def test_a_file_that_is_not_a_database_is_refused_and_left_unchanged(tmp_path: Path, size: int) -> None:
    path = tmp_path / "catalog.sqlite3"
    path.write_bytes(b"A" * size)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        identify(path)
    assert path.read_bytes() == b"A" * size


@pytest.mark.parametrize("is_writable", [True, False])
def test_a_log_may_be_removed_by_its_process_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_writable: bool
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: is_writable)
    path, log = tmp_path / "catalog.sqlite3", tmp_path / "catalog.sqlite3-wal"
    has_ended = threading.Event()

    def write_and_remove() -> None:
        while not has_ended.is_set():
            log.write_bytes(b"log")
            log.unlink()

    other = threading.Thread(target=write_and_remove)
    other.start()
    try:
        for _ in range(2000):
            assert to_read(path).startswith(path.as_uri())
    finally:
        has_ended.set()
        other.join()


def test_a_missing_or_empty_file_has_no_identity(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite3"
    assert identify(path) is None
    path.touch()
    assert identify(path) is None


def test_what_lies_beside_an_empty_file_as_its_log_stays(tmp_path: Path) -> None:
    empty = tmp_path / "memories.sqlite3"
    log = empty.with_name(f"{empty.name}-wal")
    empty.touch()
    log.write_bytes(b"not of this file")
    assert identify(empty) is None
    assert log.read_bytes() == b"not of this file"
