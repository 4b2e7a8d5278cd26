"""How kinds of text memory differ, as far as the engine needs to know, and the SQL that reads one."""

import sqlite3
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from store.catalog.filters import matching
from store.catalog.words import cjk_runs, without_cjk
from store.disk.sqlite import marks
from store.memory.engine.inputs import InvalidInput

Row = dict[str, Any]
Value = str | int | float
Where = Mapping[str, Value | Collection[Value]]  # column → what it has to be, or one of several
TAGS = "tags"  # a filter: entries that have all of these
GIVEN = "(SELECT value FROM json_each(?))"  # as a list in JSON, of any length
MOMENTS = {"since": ">=", "until": "<="}  # filters: when it was written or last edited, in UNIX seconds


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

    @property
    def last_written(self) -> str:
        """SQL: when an entry was written or last edited, in UNIX seconds."""
        edited = (
            "SELECT max(d.at) FROM history h JOIN decisions d ON d.number = h.decision "
            f"WHERE h.id = {self.table}.id AND h.tbl = '{self.table}' AND d.verb = 'edit'"
        )
        return f"max(coalesce({self.written}, 0), coalesce(({edited}), 0))"

    def conditions(
        self, words: str = "", where: Where | None = None, before: float | None = None
    ) -> tuple[str, list[Any]]:
        """SQL for these filters, with its values.

        Raises InvalidInput if the kind cannot be filtered by one of them.
        """
        parts, values = ["TRUE"], list[Any]()
        for column, wanted in (where or {}).items():
            some = [wanted] if isinstance(wanted, str | int | float) else [*wanted]
            if column in MOMENTS:
                parts.append(f"{self.last_written} {MOMENTS[column]} ?")
                values.append(some[0])
                continue
            if column == TAGS and TAGS in self.labels:
                parts += [f"EXISTS (SELECT 1 FROM json_each({self.table}.tags) WHERE value = ?)"] * len(some)
                values += some
                continue
            if column not in (*self.filters, *self.more_filters):
                known = ", ".join((*self.filters, *self.more_filters, *self.labels, *MOMENTS))
                raise InvalidInput(f"{self.name} can be filtered by {known}, not {column}")
            parts.append(f"{column} IN ({marks(some)})")
            values += some
        for run in cjk_runs(words):
            parts.append(f"instr({self.text}, ?)")
            values.append(run)
        if (rest := without_cjk(words) if cjk_runs(words) else words).strip():
            parts.append(f"{self.table}.rowid IN (SELECT rowid FROM {self.words} WHERE {self.words} MATCH ?)")
            values.append(matching(rest))
        if before is not None:
            parts.append(f"{self.last_written} < ?")
            values.append(before)
        return " AND ".join(parts), values

    def ordered(self, order: str, *, columns: Collection[str]) -> str:
        """SQL for one of these columns to sort by, with "-" before it for descending; ties by age."""
        column = order.removeprefix("-")
        if not column:
            return self.order
        if column not in {*columns, "length", "written"}:
            raise InvalidInput(f"{self.name} cannot be sorted by {column}")
        by = {"length": f"length({self.text})", "written": self.last_written}.get(column, column)
        return f"{by} {'DESC' if order.startswith('-') else 'ASC'}, rowid"

    def vector_key(self, model: str = "") -> str:
        """SQL: the key of an entry's vector, as a rule by the kind's model."""
        model = model or f"(SELECT value FROM meta WHERE key = '{self.key('model')}')"
        return f"vector_key({model}, CAST(p.{self.text} AS BLOB))"  # a damaged text may not be UTF-8

    def joined(self, *, model: str = "") -> str:
        """SQL after the entries as `p`: as `v` their vectors by a model (SQL), as a rule the kind's."""
        return f"LEFT JOIN {self.vectors} v ON v.key = {self.vector_key(model)}"

    def with_any_vector(self, *names: str) -> str:
        """SQL to select from: the entries with `embedding_model` and `vector`, or one of these `names` alone.

        The vector is another model's where their own model has none.
        """
        models = f"SELECT json_group_array(DISTINCT model) FROM {self.vectors}"
        found = {
            name: f"coalesce(v.{column}, (SELECT o.{column} FROM json_each(({models})) m "
            f"CROSS JOIN {self.vectors} o ON o.key = {self.vector_key('m.value')} LIMIT 1))"
            for name, column in (("embedding_model", "model"), ("vector", "vector"))
        }
        found["embedding_model"] = f"without_version({found['embedding_model']})"
        listed = ", ".join(f"{found[name]} AS {name}" for name in names or found)
        return f"(SELECT p.rowid AS rowid_, p.*, {listed} FROM {self.table} p {self.joined()})"
