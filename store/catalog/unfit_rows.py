"""Which records are unfit for the screen, and why: by hand, by what was seen, by their words."""

import json
import sqlite3
from typing import Literal

from store.catalog.unfit_words import UnfitWords, unfit_words

UnfitKind = Literal["hand", "nudity", "word"]

NUDITY = 0.5  # score from which a picture is flagged (docs/models.md)
WORDS = "unfit words"  # in `meta`: what the library adds and removes, as JSON
SCHEME = "unfit v2"
_FIELDS = {"name": "name", "ticker": "ticker", "description": "description", "text": "text in the picture"}


def edits(db: sqlite3.Connection) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words that the library adds to the shipped list, and those that it removes."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", [WORDS]).fetchone()
    found = json.loads(row[0]) if row else {}
    return tuple(found.get("added", ())), tuple(found.get("removed", ()))


def refresh(db: sqlite3.Connection, number: int, *, words: UnfitWords | None = None) -> bool:
    """Flag the record with this row number, or take its flag away; whether it is unfit."""
    db.execute("DELETE FROM unfit WHERE record = ?", [number])
    row = db.execute(
        "SELECT r.name, r.ticker, s.text ->> '$.description' AS description, "
        "json_type(s.text, '$.unfit') AS hand, "
        "coalesce(s.text ->> '$.picture_text', t.text || char(10) || t.words) AS text, n.score "
        "FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash "
        "LEFT JOIN picture_texts t ON t.image_hash = r.image_hash "
        "LEFT JOIN picture_nudity n ON n.image_hash = r.image_hash WHERE r.id = ?",
        [number],
    ).fetchone()
    if row is None or row["hand"] == "false":
        return False
    reasons: dict[UnfitKind, str] = {}
    if row["hand"] == "true":
        reasons["hand"] = "flagged by a person"
    if row["score"] is not None and row["score"] >= NUDITY:
        reasons["nudity"] = f"nudity, {row['score']:.0%}"
    words = words or unfit_words(*edits(db))
    for field, name in _FIELDS.items():
        if word := words.first_in(row[field] or ""):
            reasons["word"] = f"“{word}” in the {name}"
            break
    db.executemany("INSERT INTO unfit VALUES (?, ?, ?)", [(number, *each) for each in reasons.items()])
    return bool(reasons)


def of(db: sqlite3.Connection, address: str) -> dict[UnfitKind, str]:
    """Why the record at this address is unfit; empty if it is not."""
    rows = db.execute(
        "SELECT kind, reason FROM unfit WHERE record = (SELECT id FROM records WHERE address = ?)", [address]
    )
    return dict(rows.fetchall())


def pictures(db: sqlite3.Connection) -> frozenset[str]:
    """The hashes of the pictures of all records that are unfit."""
    rows = db.execute("SELECT image_hash FROM records WHERE id IN (SELECT record FROM unfit)")
    return frozenset(row[0] for row in rows)
