"""Unsaved text of the caption editor: one draft for each coin and person, stored only in the catalog."""

import json
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from store.catalog.catalog import Catalog, read_json, writing_errors


@dataclass(frozen=True, slots=True)
class UnsavedText:
    """What one person typed about one coin; the editor defines what the fields mean."""

    address: str
    fields: dict[str, Any]
    actor: str
    created_at: float  # UNIX seconds of the last letter kept


class Drafts:
    """`library.drafts`: everybody's unsaved text."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def of(self, address: str) -> list[UnsavedText]:
        """Everybody's drafts of one coin, the latest first."""
        rows = self._catalog.rows("SELECT * FROM drafts WHERE address = ? ORDER BY at DESC", [address])
        return [
            UnsavedText(
                row["address"],
                read_json(row["fields"], f"a draft of {row['address']}"),
                row["who"],
                row["at"],
            )
            for row in rows
        ]

    def own(self, address: str, *, actor: str = "") -> dict[str, Any] | None:
        """This person's draft of a coin by field; None if there is none."""
        return next(
            (
                draft.fields
                for draft in self.of(address)
                if draft.actor == (actor or self._catalog.actor.name)
            ),
            None,
        )

    def save(
        self,
        address: str,
        fields: Mapping[str, Any],
        *,
        actor: str = "",
        replaces: Callable[[Mapping[str, Any]], bool] | None = None,
    ) -> dict[str, Any] | None:
        """Store this person's draft, unless it does not replace the one before, which is then returned."""
        name = actor or self._catalog.actor.name
        with writing_errors(f"what was typed about {address}"), self._catalog.writing() as db:
            if replaces and (before := _stored(db, address, name)) and not replaces(before):
                return before
            db.execute(
                "INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?)",
                [address, json.dumps(dict(fields)), name, time.time()],
            )
        return None

    def discard(
        self, address: str, *, actor: str = "", replaces: Callable[[Mapping[str, Any]], bool] | None = None
    ) -> dict[str, Any] | None:
        """Delete this person's draft, unless `replaces` denies it for the stored one, which is then returned.

        Others' drafts stay.
        """
        name = actor or self._catalog.actor.name
        with self._catalog.writing() as db:
            if replaces and (before := _stored(db, address, name)) and not replaces(before):
                return before
            delete(db, address, actor=name)
        return None


def _stored(db: sqlite3.Connection, address: str, actor: str) -> dict[str, Any] | None:
    row = db.execute("SELECT fields FROM drafts WHERE address = ? AND who = ?", [address, actor]).fetchone()
    return dict(read_json(row["fields"], f"a draft of {address}")) if row else None


def delete(db: sqlite3.Connection, address: str, *, actor: str) -> None:
    """Delete a person's draft within the caller's transaction."""
    db.execute("DELETE FROM drafts WHERE address = ? AND who = ?", [address, actor])
