"""Text being typed and not yet saved: one draft for each coin and person, in the catalog alone."""

import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from store.catalog import Catalog, keeping
from store.people import myself


@dataclass(frozen=True, slots=True)
class Draft:
    """What one person has typed about one coin; what its fields mean is for the editor to say."""

    address: str
    fields: dict[str, Any]
    who: str
    at: float  # UNIX seconds of the last letter kept


class Drafts:
    """`library.drafts`: what everybody is typing."""

    READING = frozenset({"of", "own"})

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def of(self, address: str) -> list[Draft]:
        """Everybody's drafts of one coin, the latest first."""
        with self._catalog.reading() as db:
            rows = db.execute("SELECT * FROM drafts WHERE address = ? ORDER BY at DESC", [address]).fetchall()
        return [Draft(row["address"], json.loads(row["fields"]), row["who"], row["at"]) for row in rows]

    def own(self, address: str, *, who: str = "") -> dict[str, Any] | None:
        """What this person is typing about a coin, by field; None for nothing."""
        return next((draft.fields for draft in self.of(address) if draft.who == (who or myself())), None)

    def save(self, address: str, fields: Mapping[str, Any], *, who: str = "") -> None:
        """Keep this instead of what the person had typed before; NotWritten when the disk refuses."""
        with keeping(f"what was typed about {address}"), self._catalog.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?)",
                [address, json.dumps(dict(fields)), who or myself(), time.time()],
            )

    def discard(self, address: str, *, who: str = "") -> None:
        """Forget what this person was typing; others' drafts stay."""
        with self._catalog.writing() as db:
            drop(db, address, who=who or myself())


def drop(db: sqlite3.Connection, address: str, *, who: str) -> None:
    """Forget what this person had typed, within the caller's transaction."""
    db.execute("DELETE FROM drafts WHERE address = ? AND who = ?", [address, who])
