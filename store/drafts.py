"""Text being typed and not yet saved: one draft for each coin and person, in the catalog alone."""

import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Draft:
    """What one person has typed about one coin; what its fields mean is for the editor to say."""

    address: str
    fields: dict[str, Any]
    who: str
    at: float  # UNIX seconds of the last letter kept


def put(db: sqlite3.Connection, address: str, fields: Mapping[str, Any], *, who: str) -> None:
    """Keep this instead of what the person had typed before."""
    db.execute(
        "INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?)",
        [address, json.dumps(dict(fields)), who, time.time()],
    )


def drop(db: sqlite3.Connection, address: str, *, who: str) -> None:
    """Forget what this person had typed."""
    db.execute("DELETE FROM drafts WHERE address = ? AND who = ?", [address, who])


def of(db: sqlite3.Connection, address: str) -> list[Draft]:
    """Everybody's drafts of one coin, the latest first."""
    rows = db.execute("SELECT * FROM drafts WHERE address = ? ORDER BY at DESC", [address])
    return [Draft(row["address"], json.loads(row["fields"]), row["who"], row["at"]) for row in rows]
