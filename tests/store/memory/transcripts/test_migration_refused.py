"""Transcript databases that cannot be migrated are not touched, and cost one kind of memory."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from store.memory.engine.database import Places
from store.memory.memory import Memory
from tests.store.memory.bags import Bags
from tests.store.memory.transcripts.version_1 import found, version_1


@pytest.mark.parametrize("version", ["3", "10", "two"])
def test_a_newer_version_is_refused_and_not_touched(path: Path, bags: Bags, version: str) -> None:
    version_1(path, count=3)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE schema_meta SET value = ?", [version])
        db.commit()
    before = path.read_bytes()
    with Memory.open(path.parent.parent, embedder=bags) as memory:
        assert "newer" in memory.status().faults["transcript_vectors"]
        assert memory.transcripts.sessions() == []
    assert path.read_bytes() == before
    assert [name for name in path.parent.glob("transcripts*") if name != path] == []


def test_a_file_of_a_newer_memedex_is_refused_and_not_touched(tmp_path: Path, bags: Bags) -> None:
    Memory.open(tmp_path / "res", embedder=bags).close()
    path = Places(tmp_path / "res").database
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with Memory.open(tmp_path / "res", embedder=bags) as memory:
        assert "newer" in memory.status().faults["memories"]
    assert path.read_bytes() == before


def foreign(path: Path, change: str) -> dict[str, bytes]:
    """A file of version 1 that was changed so; returns the bytes of all files beside it."""
    version_1(path, count=4, as_json=True)
    with closing(sqlite3.connect(path)) as db:
        for statement in change.split(";"):
            db.execute(statement)
        db.commit()
    return {file.name: file.read_bytes() for file in path.parent.iterdir()}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE transcripts SET user_query_vector = '[1, \"x\"]' WHERE user_query_vector IS NOT NULL",
        "UPDATE transcripts SET user_query_vector = x'0102' WHERE user_query_vector IS NOT NULL",
        "ALTER TABLE transcripts RENAME COLUMN content TO content_json",
        "UPDATE schema_meta SET value = '3'",
        "CREATE TABLE transcript_vectors (id TEXT, vector_json TEXT)",
        "CREATE TABLE events (id TEXT, data TEXT)",
    ],
)
def test_a_file_that_cannot_be_upgraded_is_not_touched_and_costs_one_kind(
    path: Path, reopen: Callable[[], Memory], change: str
) -> None:
    before = foreign(path, change)
    memory = reopen()
    assert [*memory.status().faults] == ["transcript_vectors"]
    memory.memories.store_memory("the others work")
    assert {name: (path.parent / name).read_bytes() for name in before} == before


@pytest.mark.parametrize("name", ["words", "changes", "meta"])
def test_a_file_with_tables_of_our_names_is_taken_over_and_kept_whole(
    path: Path, reopen: Callable[[], Memory], name: str
) -> None:
    foreign(path, f"CREATE TABLE {name} (x);INSERT INTO {name} VALUES ('theirs')")
    before = found(path)
    memory = reopen()
    assert memory.status().faults == {}
    assert len(memory.transcripts.sessions()) == 4
    [aside] = memory.places.folder.glob("foreign-*/transcripts.sqlite3")
    memory.close()
    assert found(aside) == before
    with closing(sqlite3.connect(aside)) as db:
        assert db.execute(f"SELECT x FROM {name}").fetchall() == [("theirs",)]
