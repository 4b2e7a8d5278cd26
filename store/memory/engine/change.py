"""One decision in progress, inside one transaction."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from store.disk.sqlite_values import insert_rows, marks
from store.embedding import embedding_cache
from store.errors import NotPermitted
from store.memory.engine import vectors
from store.memory.engine.kind import MemoryKind
from store.memory.engine.vectors import NewVectors
from store.permissions import Actor
from store.progress import batches

PENDING = "pending"
RECALL = "recall"
ADOPTED = "adopted"  # metadata without a column of their own (`foreign.py`)
BESIDE = (PENDING, RECALL, ADOPTED)  # tables of all kinds whose rows have a history like a kind's own
_BY_KIND = (RECALL, ADOPTED)  # … with ids that other kinds may use as well
_AT_ONCE = 500  # ids in one question
_IMPORTS = ("import", "load world", "adopt")  # verbs that say through what by themselves


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
        """`decision` is the decision's id; it may have other parts, in other kinds and transactions.

        `agent` is the program that wrote it in the actor's place, `via` through what. With `waits` nothing is
        changed: it is stored in `pending` until a person accepts it.
        """
        self.db = db
        self.kind = kind
        self.count = 0  # rows of embedded text changed
        self.reverses: str | None = None  # for undo and redo
        self._number: int | None = None  # of the decision, once there is something of it
        self._decision = (decision, verb, actor, at, agent)
        self._other_rows = 0  # those of what waits, of pins
        self.agent, self.via = agent, via_of(verb, via)
        self.waits = waits

    def row(self, table: str, id: str) -> dict[str, Any] | None:
        """The current row; None if there is none."""
        found = self.db.execute(f"SELECT * FROM {table} WHERE {self._is_row(table)}", [id]).fetchone()
        return _own(found) if found else None

    def upsert(self, row: dict[str, Any], *, table: str = "", version: int | None = None) -> None:
        """Add the row, or replace the one with its id; `version` if an earlier version is restored."""
        table = table or self.kind.table
        row = {name: value for name, value in row.items() if name != "embedding_model"}  # as rows are read
        if self.waits and table != PENDING:
            self._hold(table, row["id"], row)
            return
        self._note(table, row["id"], version)
        key = "kind, id" if table in _BY_KIND else "id"
        stored = {"kind": self.kind.name, **row} if table in BESIDE else row
        updates = ", ".join(f"{name} = excluded.{name}" for name in stored if name not in ("id", "kind"))
        self.db.execute(
            f"INSERT INTO {table} ({', '.join(stored)}) VALUES ({marks(stored)}) "
            f"ON CONFLICT ({key}) DO UPDATE SET {updates}",
            [*stored.values()],
        )

    def add(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, table: str = "") -> None:
        """Add rows that are not there, their ids first; in few statements where none had their ids before."""
        table = table or self.kind.table
        former = self._versions(table, [row[0] for row in rows])
        for row in rows:
            if row[0] in former or self.waits:
                self.upsert(dict(zip(columns, row, strict=True)), table=table)
        rows = [row for row in rows if row[0] not in former]
        if not rows or self.waits:
            return
        self._begin()
        (last,) = self.db.execute("SELECT coalesce(max(number), 0) FROM changes").fetchone()
        insert_rows(self.db, table, columns, rows)
        insert_rows(
            self.db, "changes", ("kind", "tbl", "id"), [(self.kind.name, table, row[0]) for row in rows]
        )
        self.db.execute("UPDATE changes SET version = number WHERE number > ?", [last])
        self.db.execute(
            "INSERT INTO history (decision, kind, tbl, id, version, before_version, agent, via) "
            "SELECT ?, kind, tbl, id, version, 0, ?, ? FROM changes WHERE number > ? ORDER BY number",
            [self._number, self.agent, self.via, last],
        )
        self.count += len(rows) if table == self.kind.table else 0

    def remove_added(self, ids: Sequence[str], *, table: str) -> None:
        """Remove rows that nothing preceded, in few statements, as `remove` with version 0 would."""
        if self.waits:
            for id in ids:
                self.remove(id, table=table, version=0)
            return
        named = f"{self._is_row(table).removesuffix('= ?')} IN ({marks(ids)})"
        rows = [_own(row) for row in self.db.execute(f"SELECT * FROM {table} WHERE {named}", ids)]
        if not rows:
            return
        self._begin()
        places = [(self.kind.name, table, row["id"]) for row in rows]
        versions = self._versions(table, [row["id"] for row in rows])
        insert_rows(self.db, "changes", ("kind", "tbl", "id"), places, verb="INSERT OR REPLACE")
        columns = (
            "decision", "kind", "tbl", "id", "version", "before_version", "before", "agent", "via",
        )  # fmt: skip
        lines = [
            (self._number, *place, 0, versions[place[2]], json.dumps(row), self.agent, self.via)
            for place, row in zip(places, rows, strict=True)
        ]
        insert_rows(self.db, "history", columns, lines)
        self.db.execute(f"DELETE FROM {table} WHERE {named}", ids)
        self.count += len(rows) if table == self.kind.table else 0
        self._other_rows += len(rows) if table in (PENDING, RECALL) else 0

    def _versions(self, table: str, ids: Sequence[str]) -> dict[str, int]:
        """The versions of those of these rows that are, or were, there."""
        query = "SELECT id, version FROM changes WHERE kind = ? AND tbl = ? AND id IN "
        found = dict[str, int]()
        for part in batches(ids, _AT_ONCE):
            found |= self.db.execute(f"{query} ({marks(part)})", [self.kind.name, table, *part]).fetchall()
        return found

    def remove(self, id: str, *, table: str = "", version: int | None = None) -> None:
        """Remove the row, if there is one."""
        table = table or self.kind.table
        if self.row(table, id) is None:
            return
        if self.waits and table != PENDING:
            self._hold(table, id, None)
            return
        self._note(table, id, version)
        self.db.execute(f"DELETE FROM {table} WHERE {self._is_row(table)}", [id])

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
            self.db.execute(
                "UPDATE decisions SET count = count + ?, reverses = ? WHERE number = ?",
                [self.count or self._other_rows, self.reverses, self._number],
            )

    def record_final(self, table: str, id: str, note: Mapping[str, Any], *, count: int = 0) -> None:
        """Make this a decision that cannot be undone, with its details."""
        self._begin()
        self.db.execute(
            "UPDATE decisions SET count = count + ?, is_final = 1 WHERE number = ?", [count, self._number]
        )
        self.db.execute(
            "INSERT INTO history (decision, kind, tbl, id, version, before_version, before, agent, via) "
            "VALUES (?, ?, ?, ?, 0, 0, ?, ?, ?)",
            [self._number, self.kind.name, table, id, json.dumps(note), self.agent, self.via],
        )

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

    def _is_row(self, table: str) -> str:
        """SQL: whether a row of this table is this kind's with an id."""
        return f"kind = '{self.kind.name}' AND id = ?" if table in BESIDE else "id = ?"

    def _note(self, table: str, id: str, version: int | None) -> None:
        """Store in the history what is about to be replaced."""
        before = self.row(table, id)
        self._begin()
        place = (self.kind.name, table, id)
        query = "SELECT version FROM changes WHERE kind = ? AND tbl = ? AND id = ?"
        line = self.db.execute(query, place).fetchone()
        number = self.db.execute(
            "INSERT OR REPLACE INTO changes (kind, tbl, id) VALUES (?, ?, ?)", place
        ).lastrowid
        version = number if version is None else version
        self.db.execute("UPDATE changes SET version = ? WHERE number = ?", [version, number])
        self.db.execute(
            "INSERT INTO history (decision, kind, tbl, id, version, before_version, before, agent, via) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                self._number, *place, version, line["version"] if line else 0,
                json.dumps(before) if before else None, self.agent, self.via,
            ],
        )  # fmt: skip
        self.count += table == self.kind.table
        self._other_rows += table in (PENDING, RECALL)

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
