"""One decision in progress, inside one transaction."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from store.memory.engine.kind import MemoryKind


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
    ) -> None:
        """`after` is the number of the latest decision of any kind, which this one follows.

        `number` is that of a decision made in several transactions or kinds, of which this is a part.
        """
        self.db = db
        self.kind = kind
        self.count = 0  # rows of embedded text changed
        self.reverses: int | None = None  # for undo and redo
        self._decision: int | None = None
        self._number = number
        self._what = (after, verb, actor, at)

    def row(self, table: str, id: str) -> dict[str, Any] | None:
        """The current row, vector included; None if there is none."""
        found = self.db.execute(f"SELECT * FROM {table} WHERE id = ?", [id]).fetchone()
        return _own(found) if found else None

    def upsert(self, row: dict[str, Any], *, table: str = "", version: int | None = None) -> None:
        """Add the row, or replace the one with its id; `version` if an earlier version is restored."""
        table = table or self.kind.table
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
        if self.row(table, id) is not None:
            self._note(table, id, version)
            self.db.execute(f"DELETE FROM {table} WHERE id = ?", [id])

    def finish(self) -> None:
        """Store the decision."""
        if self._decision is not None:
            self.db.execute(
                "UPDATE decisions SET count = count + ?, reverses = ? WHERE number = ?",
                [self.count, self.reverses, self._decision],
            )

    def note_final(self, table: str, id: str, said: Mapping[str, Any]) -> None:
        """Make this a decision that cannot be undone, with its details."""
        self._begin()
        self.db.execute(
            "UPDATE decisions SET count = ?, reversed = 1 WHERE number = ?",
            [said.get("vectors", 0), self._decision],
        )
        self.db.execute(
            "INSERT INTO history (decision, tbl, id, version, before_version, before) "
            "VALUES (?, ?, ?, 0, 0, ?)",
            [self._decision, table, id, json.dumps(said)],
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
            "INSERT INTO history (decision, tbl, id, version, before_version, before, vector) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                self._decision, table, id, version, line["version"] if line else 0,
                json.dumps(before) if before else None, vector,
            ],
        )  # fmt: skip
        self.count += table == self.kind.table


def _own(row: sqlite3.Row) -> dict[str, Any]:
    """The row without `number`, which SQLite assigns and which may differ when a row is restored."""
    return {name: row[name] for name in row.keys() if name != "number"}  # noqa: SIM118
