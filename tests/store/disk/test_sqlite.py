"""The connections of our SQLite files."""

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from store.disk.sqlite import _Connection, is_integer, marks
from store.errors import MaybeWritten, MemedexError, NotWritten
from store.library import Library
from store.memory.memory import Memory
from tests.store.conftest import address, coin


@pytest.mark.parametrize(
    "ask",
    [
        lambda library: library.get("a\ud800"),
        lambda library: library.approve(["a\udcff"]),
        lambda library: library.filters.save("a\ud800", "dog"),
        lambda library: library.jobs.get(1 << 80),
        lambda library: library.jobs.start("move", ["\ud800"], name="a"),
    ],
)
def test_what_no_database_holds_is_a_named_error(library: Library, ask: Callable[[Library], object]) -> None:
    library.add([coin(0)])
    with pytest.raises(MemedexError, match=r"unpaired surrogate|more than 64 bits"):
        ask(library)
    assert library.get(address(0)).tier == "pending"


def test_a_file_that_is_closed_while_somebody_reads_keeps_no_connection(library: Library) -> None:
    with library.catalog.reading() as db:
        library.close()
        assert db.execute("SELECT count(*) FROM records").fetchone()[0] == 0
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")
    assert library.catalog._connections.pool == []


@pytest.mark.parametrize(
    ("failures", "kind", "says"),
    [(1, NotWritten, "nothing was changed: "), (9, MaybeWritten, "nobody knows whether ")],
    ids=["once", "from then on"],
)
def test_a_commit_whose_sync_failed_is_ruled_out_or_called_unknown(
    library: Library, monkeypatch: pytest.MonkeyPatch, failures: int, kind: type[NotWritten], says: str
) -> None:
    library.add([coin(0)])
    memory = Memory.open(library.layout.root)
    execute, left = _Connection.execute, [failures]

    def failing(db: _Connection, sql: str, *values: Any) -> sqlite3.Cursor:
        if sql == "COMMIT" and left[0]:
            left[0] -= 1
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
            raise error
        return execute(db, sql, *values)

    monkeypatch.setattr(_Connection, "execute", failing)
    outcome = library.approve([address(0)])
    assert (outcome.done, outcome.refused[0].reason[: len(says)]) == ([], says)
    left[0] = failures
    with pytest.raises(NotWritten) as raised:
        memory.memories.store_memory("a frog")
    assert type(raised.value) is kind
    assert str(raised.value).startswith(says)
    left[0] = 0
    assert library.approve([address(0)]).done == [address(0)]
    assert memory.memories.store_memory("a frog")["success"]
    assert memory.memories.entries.count() == 1
    memory.close()


def test_what_is_read_at_one_moment_stays_as_it_is_while_somebody_writes(library: Library) -> None:
    with library.catalog.one_moment() as db:
        assert db.execute("SELECT count(*) FROM records").fetchone()[0] == 0
        library.add([coin(0)])
        assert db.execute("SELECT count(*) FROM records").fetchone()[0] == 0
    with library.catalog.one_moment() as db:
        assert db.execute("SELECT count(*) FROM records").fetchone()[0] == 1


@pytest.mark.parametrize("values", [[], [1], [1, 2, 3]])
def test_there_is_a_mark_for_each_value(values: list[int]) -> None:
    query = f"SELECT value FROM json_each('[1, 2, 3, 4]') WHERE value IN ({marks(values)})"
    assert [row[0] for row in sqlite3.connect(":memory:").execute(query, values)] == values


@pytest.mark.parametrize("value", [0, 2**63 - 1, -(2**63)])
def test_an_integer_of_64_bits_can_be_stored(value: int) -> None:
    assert is_integer(value)
    assert sqlite3.connect(":memory:").execute("SELECT ?", [value]).fetchone() == (value,)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**400, True, 1.0, "1", None])
def test_other_values_are_no_integers(value: object) -> None:
    assert not is_integer(value)
