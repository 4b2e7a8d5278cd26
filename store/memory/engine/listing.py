"""Rows for pages (full text, filters, sorting, paging), and every version of an entry."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from store.catalog.filters import matching
from store.catalog.words import cjk_runs, without_cjk
from store.memory.engine.inputs import InvalidInput
from store.memory.engine.kind import MemoryKind
from store.memory.engine.vectors import Where, with_any_vector

_GIVEN = "(SELECT value FROM json_each(?))"  # as a list in JSON, of any length
TAGS = "tags"  # a filter: entries that have all of these
MOMENTS = {"since": ">=", "until": "<="}  # filters: when it was written or last edited, in UNIX seconds


@dataclass(frozen=True, slots=True)
class EntryVersion:
    """One version of an entry."""

    version: int  # 0: from before it had a history
    row: dict[str, Any] | None  # without vector; None: it was removed
    created_at: float  # since when it counts, in UNIX seconds; 0 if unknown
    actor: str  # the person; "" if unknown
    agent: str  # the program that wrote it in the person's place; "" if the person did
    via: str  # page, command line, MCP, import, adoption; "" if unknown
    verb: str
    superseded_at: float | None  # until when it counted; None: it counts
    superseded_by: str | None  # the decision that made the next version

    @property
    def author(self) -> str:
        """Who wrote it: the agent with the person in whose place it did, or the person."""
        return f"{self.agent} for {self.actor}" if self.agent else self.actor


def rows(
    db: sqlite3.Connection, kind: MemoryKind, ids: Sequence[Any], *, key: str = "id"
) -> list[dict[str, Any]]:
    """The entries with these values of the key, in this order, each with the model of its vector."""
    query = f"SELECT * FROM {with_any_vector(kind, 'embedding_model')} WHERE {key} IN {_GIVEN}"
    found = {row[key]: entry(row) for row in db.execute(query, [json.dumps(ids)])}
    return [found[id] for id in dict.fromkeys(ids) if id in found]


def written(db: sqlite3.Connection, kind: MemoryKind, ids: Sequence[str]) -> dict[str, float]:
    """When these entries were written or last edited, in UNIX seconds."""
    query = f"SELECT id, {_written(kind)} FROM {kind.table} WHERE id IN {_GIVEN}"
    return dict(db.execute(query, [json.dumps(ids)]).fetchall())


def versions(db: sqlite3.Connection, kind: MemoryKind, id: str) -> list[EntryVersion]:
    """The versions of this entry, newest first; [] if there never was one.

    Nothing is overwritten: a change stores the row that it replaces in the history.
    """
    lines = db.execute(
        "SELECT h.*, d.id AS decided, d.verb, d.who, d.at FROM history h "
        "JOIN decisions d ON d.number = h.decision WHERE h.tbl = ? AND h.id = ? ORDER BY h.number",
        [kind.table, id],
    ).fetchall()
    current = next(iter(rows(db, kind, [id])), None)
    states = [json.loads(line["before"]) if line["before"] else None for line in lines] + [current]
    if not lines and current is None:
        return []
    made: dict[int, sqlite3.Row] = {}  # undo brings back an earlier version, which keeps its author
    for line in lines:
        made.setdefault(line["version"], line)
    found = []
    for number, state in enumerate(states):
        before, after = lines[number - 1] if number else None, lines[number] if number < len(lines) else None
        if before is None and state is None:
            continue
        wrote = made[before["version"]] if before else None
        first = written(db, kind, [id]).get(id, 0.0) if before is None and not lines else 0.0
        found.append(
            EntryVersion(
                version=before["version"] if before else 0,
                row=state
                and {name: state[name] for name in state if name not in ("number", "embedding_model")},
                created_at=before["at"] if before else first,
                actor=wrote["who"] if wrote else "",
                agent=wrote["agent"] if wrote else "",
                via=wrote["via"] if wrote else "",
                verb=before["verb"] if before else "",
                superseded_at=after["at"] if after else None,
                superseded_by=after["decided"] if after else None,
            )
        )
    return found[::-1]


def entry(row: sqlite3.Row) -> dict[str, Any]:
    """A row as an entry, without internal columns."""
    return {name: row[name] for name in row.keys() if name not in ("number", "rowid_", "vector")}  # noqa: SIM118


def _written(kind: MemoryKind) -> str:
    edited = (
        "SELECT max(d.at) FROM history h JOIN decisions d ON d.number = h.decision "
        f"WHERE h.id = {kind.table}.id AND h.tbl = '{kind.table}' AND d.verb = 'edit'"
    )
    return f"max(coalesce({kind.written}, 0), coalesce(({edited}), 0))"


def conditions(kind: MemoryKind, words: str, where: Where, before: float | None) -> tuple[str, list[Any]]:
    """SQL for these filters, with its values.

    Raises InvalidInput if the kind cannot be filtered by one of them.
    """
    parts, values = ["TRUE"], list[Any]()
    for column, wanted in where.items():
        some = [wanted] if isinstance(wanted, str | int | float) else [*wanted]
        if column in MOMENTS:
            parts.append(f"{_written(kind)} {MOMENTS[column]} ?")
            values.append(some[0])
            continue
        if column == TAGS and TAGS in kind.labels:
            parts += [f"EXISTS (SELECT 1 FROM json_each({kind.table}.tags) WHERE value = ?)" for _ in some]
            values += some
            continue
        if column not in (*kind.filters, *kind.more_filters):
            known = ", ".join((*kind.filters, *kind.more_filters, *kind.labels, *MOMENTS))
            raise InvalidInput(f"{kind.name} can be filtered by {known}, not {column}")
        parts.append(f"{column} IN ({', '.join('?' * len(some))})")
        values += some
    for run in cjk_runs(words):
        parts.append(f"instr({kind.text}, ?)")
        values.append(run)
    if (rest := without_cjk(words) if cjk_runs(words) else words).strip():
        parts.append(f"{kind.table}.rowid IN (SELECT rowid FROM {kind.words} WHERE {kind.words} MATCH ?)")
        values.append(matching(rest))
    if before is not None:
        parts.append(f"{_written(kind)} < ?")
        values.append(before)
    return " AND ".join(parts), values


def ordered(db: sqlite3.Connection, kind: MemoryKind, order: str) -> str:
    """SQL for a column to sort by, with "-" before it for descending; ties by age."""
    column = order.removeprefix("-")
    if not column:
        return kind.order
    known = {row["name"] for row in db.execute(f"PRAGMA table_info({kind.table})")}
    if column not in known | {"length", "written"}:
        raise InvalidInput(f"{kind.name} cannot be sorted by {column}")
    by = {"length": f"length({kind.text})", "written": _written(kind)}.get(column, column)
    return f"{by} {'DESC' if order.startswith('-') else 'ASC'}, rowid"
