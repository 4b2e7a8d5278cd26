"""One decision in progress, inside one transaction."""

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import uuid4

from store.catalog import history
from store.disk.sqlite_values import insert_rows, marks
from store.embedding import embedding_cache
from store.errors import NotPermitted
from store.memory.engine import vectors
from store.memory.engine.kind import MemoryKind
from store.memory.engine.vectors import NewVectors
from store.outcome import Outcome, Refusal
from store.permissions import Actor
from store.progress import batches

PENDING = "pending"
RECALL = "recall"
ADOPTED = "adopted"  # metadata without a column of their own (`foreign.py`)
BESIDE = (PENDING, RECALL, ADOPTED)  # tables of all kinds whose rows have a history like a kind's own
_LINE = ("decision", "kind", "tbl", "id", "version", "before_version", "before", "agent", "via")
_AT_ONCE = 500  # rows of one statement
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

    def upsert(self, row: dict[str, Any], *, table: str = "", version: int | None = None) -> None:
        """Add the row, or replace the one with its id; `version` if an earlier version is restored."""
        self._write(table or self.kind.table, [row], version)

    def add(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, table: str = "") -> None:
        """Add, or replace, many rows of the same columns, in few statements where none had their ids."""
        for part in batches(rows, _AT_ONCE):
            self._write(table or self.kind.table, [dict(zip(columns, row, strict=True)) for row in part])

    def remove(self, *ids: str, table: str = "", version: int | None = None) -> None:
        """Remove those of these rows that are there."""
        table = table or self.kind.table
        for part in batches(ids, _AT_ONCE):
            there = [*self._rows(table, part)]
            if self.waits and table != PENDING:
                for id in there:
                    self._hold(table, id, None)
            elif there:
                self._note(table, there, version)
                self.db.execute(f"DELETE FROM {table} WHERE {self._are(table, there)}", there)

    def _write(self, table: str, rows: Sequence[dict[str, Any]], version: int | None = None) -> None:
        rows = [
            {name: value for name, value in row.items() if name != "embedding_model"}  # as rows are read
            for row in rows
        ]
        if self.waits and table != PENDING:
            for row in rows:
                self._hold(table, row["id"], row)
            return
        there = self._note(table, [row["id"] for row in rows], version)
        own = {"kind": self.kind.name} if table in BESIDE else {}
        new = [{**own, **row} for row in rows if row["id"] not in there]
        for names, alike in groupby(new, key=tuple):
            insert_rows(self.db, table, names, [tuple(row.values()) for row in alike])
        for row in rows:
            if row["id"] in there:
                columns = ", ".join(f"{name} = ?" for name in row)
                where = self._are(table, [row["id"]])
                self.db.execute(f"UPDATE {table} SET {columns} WHERE {where}", [*row.values(), row["id"]])

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

    def _note(self, table: str, ids: Sequence[str], version: int | None) -> dict[str, dict[str, Any]]:
        """Store in the history what is about to be replaced; returns it, by id."""
        there, former = self._rows(table, ids), self._versions(table, ids)
        self._begin()
        kind, db = self.kind.name, self.db
        (last,) = db.execute("SELECT coalesce(max(number), 0) FROM changes").fetchone()
        places = [(kind, table, id) for id in ids]
        insert_rows(db, "changes", ("kind", "tbl", "id"), places, verb="INSERT OR REPLACE")
        db.execute("UPDATE changes SET version = coalesce(?, number) WHERE number > ?", [version, last])
        versions = self._versions(table, ids)
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
        events = self.db.execute(  # newest first: each finds the row as it left it
            "SELECT number, kind, tbl, id, version, before_version, before IS NULL AND NOT before_version "
            "AS is_new FROM history WHERE decision = ? ORDER BY number DESC",
            [number],
        ).fetchall()
        done, others, refused = dict[str, None](), dict[str, None](), set[tuple[str, str, str]]()
        for (kind, table, is_new), alike in groupby(events, key=itemgetter("kind", "tbl", "is_new")):
            self.kind = kinds[kind]
            for part in batches([*alike], _AT_ONCE if is_new else 1):
                now = self._versions(table, [one["id"] for one in part])
                good = []
                for one in part:
                    place = (kind, table, one["id"])
                    if now.get(one["id"]) == one["version"] and place not in refused:
                        good.append(one)
                    elif place not in refused:
                        refused.add(place)
                        why = f"it was changed since; {self._decision[1]} would lose that"
                        outcome.refused.append(Refusal(one["id"], why))
                if is_new:
                    self.remove(*(one["id"] for one in good), table=table, version=0)
                else:
                    for one in good:
                        self._put_back(one)
                counted = done if table in (self.kind.table, PENDING, RECALL) else others
                counted |= dict.fromkeys(one["id"] for one in good)
        outcome.done += done or others  # such as a world whose name alone was changed
        history.mark_reversed(self.db, decision)
        if self._number is not None:
            self.db.execute("UPDATE decisions SET reverses = ? WHERE number = ?", [decision, self._number])

    def _put_back(self, event: sqlite3.Row) -> None:
        query = "SELECT before FROM history WHERE number = ?"
        (before,) = self.db.execute(query, [event["number"]]).fetchone()
        table, version = event["tbl"], event["before_version"]
        if before is None:
            self.remove(event["id"], table=table, version=version)
        else:
            self.upsert(json.loads(before), table=table, version=version)

    def store(self, new: NewVectors) -> None:
        """Store the vectors of what is written; what waits gets its own when it is accepted."""
        if self.waits:
            return
        if new.embedder:
            vectors.note_version(self.db, self.kind, new.embedder)
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
        """Whether there is an entry with this id, one that waits for a decision, or was one.

        The versions of a removed entry stay readable under its id, so no other entry may get it.
        """
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


def _own(row: sqlite3.Row) -> dict[str, Any]:
    """The row without its kind, and `number`, which SQLite assigns and may differ when a row is restored."""
    return {name: row[name] for name in row.keys() if name not in ("number", "kind")}  # noqa: SIM118
