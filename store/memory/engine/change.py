"""One decision in progress, inside one transaction."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from store.errors import NotPermitted
from store.memory.engine.kind import MemoryKind

PENDING = "pending"
RECALL = "recall"
BESIDE = (PENDING, RECALL)  # tables of every kind whose rows have a history like the kind's own
_IMPORTS = ("import", "load world", "adopt")  # verbs that say through what by themselves


class MemoryChange:
    """Rows written and removed, with what they replaced in the history."""

    def __init__(
        self,
        db: sqlite3.Connection,
        kind: MemoryKind,
        verb: str,
        *,
        actor: str,
        at: float,
        after: int,
        number: int | None = None,
        via: str = "",
        agent: str = "",
        waits: bool = False,
    ) -> None:
        """`after` is the number of the latest decision of any kind, which this one follows.

        `number` is that of a decision made in several transactions or kinds, of which this is a part.
        `agent` is the program that wrote it in the actor's place, `via` through what. With `waits` nothing is
        changed: it is stored in `pending` until a person accepts it.
        """
        self.db = db
        self.kind = kind
        self.count = 0  # rows of embedded text changed
        self.reverses: int | None = None  # for undo and redo
        self._decision: int | None = None
        self._number = number
        self._what = (after, verb, actor, at)
        self._other_rows = 0  # those of what waits, of pins
        self.agent, self.via = agent, via_of(verb, via)
        self.waits = waits

    def row(self, table: str, id: str) -> dict[str, Any] | None:
        """The current row, vector included; None if there is none."""
        found = self.db.execute(f"SELECT * FROM {table} WHERE id = ?", [id]).fetchone()
        return _own(found) if found else None

    def upsert(self, row: dict[str, Any], *, table: str = "", version: int | None = None) -> None:
        """Add the row, or replace the one with its id; `version` if an earlier version is restored."""
        table = table or self.kind.table
        if self.waits and table != PENDING:
            self._hold(table, row["id"], row)
            return
        self._note(table, row["id"], version)
        names = ", ".join(row)
        updates = ", ".join(f"{name} = excluded.{name}" for name in row if name != "id")
        self.db.execute(
            f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))}) "
            f"ON CONFLICT (id) DO UPDATE SET {updates}",
            [*row.values()],
        )

    def remove(self, id: str, *, table: str = "", version: int | None = None) -> None:
        """Remove the row, if there is one."""
        table = table or self.kind.table
        if self.row(table, id) is None:
            return
        if self.waits and table != PENDING:
            self._hold(table, id, None)
            return
        self._note(table, id, version)
        self.db.execute(f"DELETE FROM {table} WHERE id = ?", [id])

    def finish(self) -> None:
        """Store the decision."""
        if self._decision is not None:
            self.db.execute(
                "UPDATE decisions SET count = count + ?, reverses = ? WHERE number = ?",
                [self.count or self._other_rows, self.reverses, self._decision],
            )

    def record_final(self, table: str, id: str, note: Mapping[str, Any], *, count: int = 0) -> None:
        """Make this a decision that cannot be undone, with its details."""
        self._begin()
        self.db.execute(
            "UPDATE decisions SET count = ?, reversed = 1 WHERE number = ?", [count, self._decision]
        )
        self.db.execute(
            "INSERT INTO history (decision, tbl, id, version, before_version, before, agent, via) "
            "VALUES (?, ?, ?, 0, 0, ?, ?, ?)",
            [self._decision, table, id, json.dumps(note), self.agent, self.via],
        )

    def _begin(self) -> None:
        if self._decision is None and self._number is not None:
            self._decision = self._number
            self.db.execute(
                "INSERT OR IGNORE INTO decisions (number, verb, who, at) VALUES (?, ?, ?, ?)",
                (self._number, *self._what[1:]),
            )
        elif self._decision is None:
            self._decision = self.db.execute(
                "INSERT INTO decisions (number, verb, who, at) "
                "SELECT max(?, coalesce(max(number), 0)) + 1, ?, ?, ? FROM decisions",
                self._what,
            ).lastrowid

    def _note(self, table: str, id: str, version: int | None) -> None:
        """Store in the history what is about to be replaced."""
        before = self.row(table, id)
        self._begin()
        line = self.db.execute("SELECT version FROM changes WHERE tbl = ? AND id = ?", [table, id]).fetchone()
        number = self.db.execute(
            "INSERT OR REPLACE INTO changes (tbl, id) VALUES (?, ?)", [table, id]
        ).lastrowid
        version = number if version is None else version
        self.db.execute("UPDATE changes SET version = ? WHERE number = ?", [version, number])
        vector = before.pop("vector", None) if before else None
        self.db.execute(
            "INSERT INTO history (decision, tbl, id, version, before_version, before, vector, agent, via) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                self._decision, table, id, version, line["version"] if line else 0,
                json.dumps(before) if before else None, vector, self.agent, self.via,
            ],
        )  # fmt: skip
        self.count += table == self.kind.table
        self._other_rows += table in BESIDE

    def is_taken(self, id: str) -> bool:
        """Whether there is an entry with this id, one that waits for a decision, or was one.

        The versions of a removed entry stay readable under its id, so no other entry may get it.
        """
        known = "SELECT 1 FROM pending WHERE target = :id UNION ALL SELECT 1 FROM history WHERE id = :id"
        found = self.db.execute(f"{known} LIMIT 1", {"id": id}).fetchone()
        return found is not None or self.row(self.kind.table, id) is not None

    def _hold(self, table: str, id: str, row: Mapping[str, Any] | None) -> None:
        """Store what an agent writes until a person decides. Raises NotPermitted for more than entries."""
        _, verb, who, at = self._what
        if table != self.kind.table:
            raise NotPermitted(f"what agents write is reviewed here; a person has to {verb}")
        kept = row and {name: row[name] for name in row if name not in ("vector", "embedding_model")}
        self.upsert(
            {
                "id": uuid4().hex, "target": id, "row": None if kept is None else json.dumps(kept),
                "verb": verb, "who": who, "agent": self.agent, "via": self.via, "at": at,
            },
            table=PENDING,
        )  # fmt: skip


def via_of(verb: str, via: str) -> str:
    """Through what this verb writes: imports and adoptions say so themselves."""
    if not verb.startswith(_IMPORTS):
        return via
    return "adoption" if verb.startswith("adopt") else "import"


def _own(row: sqlite3.Row) -> dict[str, Any]:
    """The row without `number`, which SQLite assigns and which may differ when a row is restored."""
    return {name: row[name] for name in row.keys() if name != "number"}  # noqa: SIM118
