"""The differences between kinds of text memory, as far as the engine needs to know."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


def _nothing_more(row: Any) -> dict[str, Any]:
    """Chroma gets only the filter columns, as SQLite has them."""
    return {}


def _accepted(db: sqlite3.Connection) -> None:
    """Accept any file; another check raises, before anything is written, for a file it refuses."""


def _up_to_date(db: sqlite3.Connection, step: Callable[[str], None]) -> None:
    """There are no older files of this kind."""


@dataclass(frozen=True, slots=True)
class MemoryKind:
    """One table of embedded text, and what belongs to it; one collection in Chroma.

    Every table in `tables` has a text key `id`; the first is the one of embedded text. `schema/` has their
    columns.
    """

    name: str  # the collection, as the references name it
    file: str  # the SQLite file below memory/ that it had up to version 1.2, without its ending
    tables: tuple[str, ...]  # those whose rows have a history; embedded text first
    text: str  # the column that is embedded
    filters: tuple[str, ...] = ()  # columns to filter by; with the id all that Chroma is given
    more_filters: tuple[str, ...] = ()  # columns to filter by that Chroma is not given
    labels: tuple[str, ...] = ()  # columns whose words say as much of an entry as its text does
    scope: str = ""  # the column that says to which world, session or protocol an entry belongs
    scopes: str = ""  # SQL: the names of worlds that exist although nothing is stored under them
    order: str = "rowid"  # how entries are listed by default
    written: str = (
        "0"  # SQL: when what an entry says was written, in UNIX seconds; a later edit counts by itself
    )
    stored: Mapping[str, str] = field(default_factory=dict)  # SQL by table: when a row without a history came
    siblings: tuple[str, ...] = ()  # columns that entries cut from the same text have in common
    sequence: tuple[str, ...] = ("number",)  # … and what brings those in reading order
    has_token_states: bool = False  # its first answers are ordered by late interaction
    keeps_models: bool = False  # one that came with another model's vector is not embedded unless asked for
    least: float = 0.0  # score by words and meaning below which an entry answers no question
    metadata: Callable[[Any], dict[str, Any]] = field(default=_nothing_more)  # what else Chroma gets of a row
    takes_over: tuple[str, ...] = ()  # tables by which another program's file of this kind is known
    check: Callable[[sqlite3.Connection], None] = field(default=_accepted)
    upgrade: Callable[[sqlite3.Connection, Callable[[str], None]], None] = field(default=_up_to_date)

    @property
    def table(self) -> str:
        """The table that holds the entries."""
        return self.tables[0]

    @property
    def vectors(self) -> str:
        """The table of the entries' vectors (`vectors.py`)."""
        return f"{self.table}_vectors"

    @property
    def words(self) -> str:
        """The full-text index of the entries."""
        return f"{self.table}_words"

    def key(self, name: str) -> str:
        """The key in `meta` of this kind's value of a name."""
        return f"{self.name} {name}"
