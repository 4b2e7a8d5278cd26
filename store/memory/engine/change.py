"""One decision in progress, inside one transaction."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import uuid4

from store.catalog import history
from store.disk.sqlite import insert_rows, marks
from store.embedding import embedding_cache
from store.errors import NotPermitted
from store.memory.engine.kind import GIVEN, MemoryKind, NewVectors, Row
from store.outcome import Outcome, Refusal
from store.permissions import Actor
from store.progress import batches

PENDING = "pending"
RECALL = "recall"
ADOPTED = "adopted"  # metadata without a column of their own (`foreign.py`)
BESIDE = (PENDING, RECALL, ADOPTED)  # tables of all kinds whose rows have a history like a kind's own
_LINE = ("decision", "kind", "tbl", "id", "version", "before_version", "before", "agent", "via")
_AT_ONCE = 500  # rows of one statement
_NEW: Mapping[str, int] = {}  # of rows that get a version of their own
_IMPORTS = ("import", "load world", "adopt")  # verbs that say through what by themselves


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """A change by an agent that waits for a person. Search and contexts do not find it."""

    id: str
    kind: str
    target: str  # the entry's id
    row: dict[str, Any] | None  # the entry as it would be, without its vector; None: it would be removed
    verb: str
    actor: str  # in whose place
    agent: str
    via: str
    created_at: float  # UNIX seconds


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


class MemoryChange:
    """Rows written and removed, with what they replaced in the history."""

    def __init__(
        self,
        db: sqlite3.Connection,
        kind: MemoryKind,
        verb: str,
        *,
        decision: str,
        actor: str,
        at: float,
        via: str = "",
        agent: str = "",
        waits: bool = False,
    ) -> None:
        """`kind` is the one whose rows are written next, `decision` the id; it may have other parts.

        `agent` is the program that wrote it in the actor's place, `via` through what. With `waits` nothing is
        changed: it is stored in `pending` until a person accepts it.
        """
        self.db = db
        self.kind = kind
        self._texts, self._others = Counter[str](), Counter[str]()  # changed: texts, and what waits and pins
        self._number: int | None = None  # of the decision, once there is something of it
        self._decision = (decision, verb, actor, at, agent)
        self.agent, self.via = agent, via_of(verb, via)
        self.waits = waits

    @property
    def count(self) -> int:
        """How many texts were changed."""
        return self._texts.total()

    @property
    def is_begun(self) -> bool:
        """Whether something was written or removed."""
        return self._number is not None

    def row(self, table: str, id: str) -> dict[str, Any] | None:
        """The current row; None if there is none."""
        return self._rows(table, [id]).get(id)

    def upsert(self, row: dict[str, Any], *, table: str = "") -> None:
        """Add the row, or replace the one with its id."""
        self._write(table or self.kind.table, [row])

    def add(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, table: str = "") -> None:
        """Add, or replace, many rows of the same columns, in few statements where none had their ids."""
        for part in batches(rows, _AT_ONCE):
            self._write(table or self.kind.table, [dict(zip(columns, row, strict=True)) for row in part])

    def remove(self, *ids: str, table: str = "") -> None:
        """Remove those of these rows that are there."""
        for part in batches(ids, _AT_ONCE):
            self._remove(table or self.kind.table, part)

    def _remove(self, table: str, ids: Sequence[str], versions: Mapping[str, int] = _NEW) -> None:
        there = [*self._rows(table, ids)]
        if self.waits and table != PENDING:
            for id in there:
                self._hold(table, id, None)
        elif there:
            self._note(table, there, versions)
            self.db.execute(f"DELETE FROM {table} WHERE {self._are(table, there)}", there)

    def _write(self, table: str, rows: Sequence[dict[str, Any]], versions: Mapping[str, int] = _NEW) -> None:
        if self.waits and table != PENDING:
            for row in rows:
                self._hold(table, row["id"], row)
            return
        there = self._note(table, [row["id"] for row in rows], versions)
        own = {"kind": self.kind.name} if table in BESIDE else {}
        written = [(row["id"], {**own, **_stored(row)}) for row in rows]
        for names, alike in groupby((row for id, row in written if id not in there), key=tuple):
            insert_rows(self.db, table, names, [tuple(row.values()) for row in alike])
        for id, row in written:
            if id in there:
                columns = ", ".join(f"{name} = ?" for name in row)
                where = self._are(table, [id])
                self.db.execute(f"UPDATE {table} SET {columns} WHERE {where}", [*row.values(), id])

    def _rows(self, table: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Those of these rows that are there, by id in the order of `ids`."""
        found = self.db.execute(f"SELECT * FROM {table} WHERE {self._are(table, ids)}", ids)
        there = {row["id"]: _own(row) for row in found}
        return {id: there[id] for id in ids if id in there}

    def _are(self, table: str, ids: Sequence[str]) -> str:
        """SQL: whether a row of this table is this kind's with one of so many ids."""
        of_kind = f"kind = '{self.kind.name}' AND " if table in BESIDE else ""
        return f"{of_kind}id IN ({marks(ids)})"

    def _versions(self, table: str, ids: Sequence[str]) -> dict[str, int]:
        """The versions of those of these rows that are, or were, there."""
        query = f"SELECT id, version FROM changes WHERE kind = ? AND tbl = ? AND id IN ({marks(ids)})"
        return dict(self.db.execute(query, [self.kind.name, table, *ids]).fetchall())

    def _note(self, table: str, ids: Sequence[str], restored: Mapping[str, int]) -> dict[str, dict[str, Any]]:
        """Store in the history what is about to be replaced, by id; `restored` are versions of before."""
        there, former = self._rows(table, ids), self._versions(table, ids)
        self._begin()
        kind, db = self.kind.name, self.db
        (last,) = db.execute(
            "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)"
        ).fetchone()
        versions = {id: restored.get(id, number) for number, id in enumerate(ids, start=last + 1)}
        places = [(number, kind, table, id, versions[id]) for number, id in enumerate(ids, start=last + 1)]
        columns = ("number", "kind", "tbl", "id", "version")
        insert_rows(db, "changes", columns, places, verb="INSERT OR REPLACE")
        lines = [
            (
                self._number, kind, table, id, versions[id], former.get(id, 0),
                json.dumps(there[id]) if id in there else None, self.agent, self.via,
            )
            for id in ids
        ]  # fmt: skip
        insert_rows(db, "history", _LINE, lines)
        self._texts[kind] += len(ids) if table == self.kind.table else 0
        self._others[kind] += len(ids) if table in (PENDING, RECALL) else 0
        return there

    def reverse(self, decision: str, outcome: Outcome, *, kinds: Mapping[str, MemoryKind]) -> None:
        """Restore what this decision replaced, in all kinds; rows changed since are refused, one by one."""
        (number,) = self.db.execute("SELECT number FROM decisions WHERE id = ?", [decision]).fetchone()
        events = self.db.execute(  # newest first of each table: each finds the row as it left it
            "SELECT number, kind, tbl, id, version, before_version FROM history WHERE decision = ? "
            "ORDER BY kind, tbl, number DESC",
            [number],
        ).fetchall()
        done, others, refused = dict[str, None](), dict[str, None](), set[tuple[str, str, str]]()
        for (kind, table), alike in groupby(events, key=itemgetter("kind", "tbl")):
            self.kind = kinds[kind]
            for part in _with_distinct_ids(alike):
                now, good = self._versions(table, [*part]), dict[str, sqlite3.Row]()
                for id, event in part.items():
                    if now.get(id) == event["version"] and (kind, table, id) not in refused:
                        good[id] = event
                    elif (kind, table, id) not in refused:
                        refused.add((kind, table, id))
                        why = f"it was changed since; {self._decision[1]} would lose that"
                        outcome.refused.append(Refusal(id, why))
                self._put_back(table, good)
                counted = done if table in (self.kind.table, PENDING, RECALL) else others
                counted |= dict.fromkeys(good)
        outcome.done += done or others  # such as a world whose name alone was changed
        history.mark_reversed(self.db, decision)
        if self._number is not None:
            self.db.execute("UPDATE decisions SET reverses = ? WHERE number = ?", [decision, self._number])

    def _put_back(self, table: str, events: Mapping[str, sqlite3.Row]) -> None:
        numbers = [event["number"] for event in events.values()]
        query = f"SELECT id, before FROM history WHERE number IN ({marks(numbers)})"
        before = dict(self.db.execute(query, numbers).fetchall())
        versions = {id: event["before_version"] for id, event in events.items()}
        if gone := [id for id in events if before[id] is None]:
            self._remove(table, gone, versions)
        if rows := [json.loads(before[id]) for id in events if before[id] is not None]:
            self._write(table, rows, versions)

    def store(self, new: NewVectors) -> None:
        """Store the vectors of what is written; what waits gets its own when it is accepted."""
        if self.waits:
            return
        if new.embedder:
            self.kind.note_version(self.db, new.embedder)
        embedding_cache.store(self.db, new.model, new.by_key, table=self.kind.vectors)

    def finish(self) -> None:
        """Store the decision."""
        if self._number is not None:
            count = sum(self._texts[kind] or self._others[kind] for kind in self._others)
            self.db.execute("UPDATE decisions SET count = count + ? WHERE number = ?", [count, self._number])

    def record_final(self, table: str, id: str, note: Mapping[str, Any], *, count: int = 0) -> None:
        """Make this a decision that cannot be undone, with its details."""
        self._begin()
        self.db.execute(
            "UPDATE decisions SET count = count + ?, is_final = 1 WHERE number = ?", [count, self._number]
        )
        line = (self._number, self.kind.name, table, id, 0, 0, json.dumps(note), self.agent, self.via)
        insert_rows(self.db, "history", _LINE, [line])

    def _begin(self) -> None:
        """Add the decision, unless an earlier part of it was added."""
        if self._number is not None:
            return
        self.db.execute(
            "INSERT OR IGNORE INTO decisions (id, verb, who, at, agent) VALUES (?, ?, ?, ?, ?)",
            self._decision,
        )
        query = "SELECT number, who FROM decisions WHERE id = ?"
        self._number, who = self.db.execute(query, [self._decision[0]]).fetchone()
        if who != self._decision[2]:
            raise NotPermitted("another user made a decision with this id")

    def is_taken(self, id: str) -> bool:
        """Whether an entry has this id, had it (its versions stay readable), or waits for it."""
        found = self.db.execute(
            "SELECT 1 FROM pending WHERE kind = :kind AND target = :id UNION ALL "
            "SELECT 1 FROM history WHERE kind = :kind AND id = :id LIMIT 1",
            {"kind": self.kind.name, "id": id},
        ).fetchone()
        return found is not None or self.row(self.kind.table, id) is not None

    def _hold(self, table: str, id: str, row: Mapping[str, Any] | None) -> None:
        """Store what an agent writes until a person decides. Raises NotPermitted for more than entries."""
        _, verb, who, at, _ = self._decision
        if table != self.kind.table:
            raise NotPermitted(f"what agents write is reviewed here; a person has to {verb}")
        self.upsert(
            {
                "id": uuid4().hex, "target": id, "row": None if row is None else json.dumps(row),
                "verb": verb, "who": who, "agent": self.agent, "via": self.via, "at": at,
            },
            table=PENDING,
        )  # fmt: skip


def written(db: sqlite3.Connection, kind: MemoryKind, ids: Sequence[str]) -> dict[str, float]:
    """When these entries were written or last edited, in UNIX seconds."""
    query = f"SELECT id, {kind.last_written} FROM {kind.table} WHERE id IN {GIVEN}"
    return dict(db.execute(query, [json.dumps(ids)]).fetchall())


def versions(
    db: sqlite3.Connection, kind: MemoryKind, id: str, *, current: Row | None, written: float
) -> list[EntryVersion]:
    """The versions of this entry, which is `current` now, newest first; [] if there never was one."""
    lines = db.execute(
        "SELECT h.*, d.id AS decided, d.verb, d.who, d.at FROM history h "
        "JOIN decisions d ON d.number = h.decision WHERE h.tbl = ? AND h.id = ? ORDER BY h.number",
        [kind.table, id],
    ).fetchall()
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
        first = written if before is None and not lines else 0.0
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


def refuse_agents(actor: Actor, verb: str) -> None:
    """Raises NotPermitted to an agent whose changes wait for a person, ReadOnly to a viewer."""
    actor.permit()
    if actor.is_reviewed:
        raise NotPermitted(f"what agents write is reviewed here; a person has to {verb}")


def via_of(verb: str, via: str) -> str:
    """Through what this verb writes: imports and adoptions say so themselves."""
    if not verb.startswith(_IMPORTS):
        return via
    return "adoption" if verb.startswith("adopt") else "import"


def _with_distinct_ids(events: Iterable[sqlite3.Row]) -> Iterator[dict[str, sqlite3.Row]]:
    """The events by id, in parts of which none has two of the same row."""
    part = dict[str, sqlite3.Row]()
    for event in events:
        if event["id"] in part or len(part) == _AT_ONCE:
            yield part
            part = {}
        part[event["id"]] = event
    yield part


def _stored(row: dict[str, Any]) -> dict[str, Any]:
    """The row's own columns: as rows are read, they have their model as well."""
    return {name: value for name, value in row.items() if name != "embedding_model"}


def _own(row: sqlite3.Row) -> dict[str, Any]:
    """The row without its kind, and `number`, which SQLite assigns and may differ when a row is restored."""
    return {name: row[name] for name in row.keys() if name not in ("number", "kind")}  # noqa: SIM118
