"""The connections of our SQLite files."""

import sqlite3
from collections.abc import Callable

import pytest

from store.errors import MemedexError
from store.library import Library
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


def test_what_is_read_at_one_moment_stays_as_it_is_while_somebody_writes(library: Library) -> None:
    with library.catalog.one_moment() as db:
        assert db.execute("SELECT count(*) FROM records").fetchone()[0] == 0
        library.add([coin(0)])
        assert db.execute("SELECT count(*) FROM records").fetchone()[0] == 0
    with library.catalog.one_moment() as db:
        assert db.execute("SELECT count(*) FROM records").fetchone()[0] == 1
