"""One decision being carried out, inside one transaction."""

import json
import sqlite3
from typing import Any

from store.memory.kind import Kind


class Change:
    """Rows put and removed, each with what it replaced in the history."""

    def __init__(
        self, db: sqlite3.Connection, kind: Kind, verb: str, *, who: str, at: float, after: int
    ) -> None:
        """`after`: the number of the latest decision of any kind, which this one comes behind."""
        self.db = db
        self.kind = kind
        self.count = 0  # rows of embedded text changed
        self.reverses: int | None = None  # for undo and redo
        self._decision: int | None = None
        self._what = (after, verb, who, at)

    def row(self, table: str, id: str) -> dict[str, Any] | None:
        """A row as it is now, vector included; None where there is none."""
        found = self.db.execute(f"SELECT * FROM {table} WHERE id = ?", [id]).fetchone()
        return _own(found) if found else None

    def put(self, row: dict[str, Any], *, table: str = "", version: int | None = None) -> None:
        """Add the row, or replace the one with its id; `version` where it comes back as it once was."""
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
        """Remove the row; nothing happens where there is none."""
        table = table or self.kind.table
        if self.row(table, id) is not None:
            self._note(table, id, version)
            self.db.execute(f"DELETE FROM {table} WHERE id = ?", [id])

    def finish(self) -> None:
        """Write down what the decision came to."""
        if self._decision is not None:
            self.db.execute(
                "UPDATE decisions SET count = ?, reverses = ? WHERE number = ?",
                [self.count, self.reverses, self._decision],
            )

    def _note(self, table: str, id: str, version: int | None) -> None:
        """Keep what is about to be replaced."""
        before = self.row(table, id)
        if self._decision is None:
            cursor = self.db.execute(
                "INSERT INTO decisions (number, verb, who, at) "
                "SELECT max(?, coalesce(max(number), 0)) + 1, ?, ?, ? FROM decisions",
                self._what,
            )
            self._decision = cursor.lastrowid
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
    """Without `number`, which is SQLite's and may be another when a row comes back."""
    return {name: row[name] for name in row.keys() if name != "number"}  # noqa: SIM118
