"""Rows about pictures, by their hash: the text that a program read in each, and its faults."""

import json
import sqlite3
from collections.abc import Iterable

from store.catalog.catalog import next_word_edit

# A person's text (`records.PICTURE_TEXT`), else what a program read.
_FOUND_BY = "coalesce(s.text ->> '$.picture_text', t.text || char(10) || t.words, '')"
_JOINED = (
    "FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash "
    "LEFT JOIN picture_texts t ON t.image_hash = r.image_hash"
)


def correction_and_reading(db: sqlite3.Connection, address: str) -> tuple[str | None, str | None]:
    """The text in this record's picture: a person's correction, and what a program read."""
    row = db.execute(
        f"SELECT s.text ->> '$.picture_text', t.text {_JOINED} WHERE r.address = ?", [address]
    ).fetchone()
    return (row[0], row[1]) if row else (None, None)


def found_by(db: sqlite3.Connection, number: int) -> str:
    """The words of its picture by which the record with this row number is found."""
    row = db.execute(f"SELECT {_FOUND_BY} {_JOINED} WHERE r.id = ?", [number]).fetchone()
    return row[0] if row else ""


def texts_at(db: sqlite3.Connection, addresses: Iterable[str]) -> dict[str, str]:
    """The texts in the pictures of those of these records whose pictures were read, by address."""
    rows = db.execute(
        f"SELECT r.address, coalesce(s.text ->> '$.picture_text', t.text) AS said {_JOINED} "
        "WHERE r.address IN (SELECT value FROM json_each(?)) AND said IS NOT NULL",
        [json.dumps([*addresses])],
    )
    return dict(rows.fetchall())


def store_text(db: sqlite3.Connection, image_hash: str, text: str, *, words: str, reader: str) -> list[int]:
    """Store what `reader` read, unless a person corrected it; returns the row numbers of its records."""
    db.execute("INSERT OR REPLACE INTO picture_texts VALUES (?, ?, ?, ?)", [image_hash, reader, text, words])
    rows = db.execute("SELECT id FROM records WHERE image_hash = ?", [image_hash]).fetchall()
    numbers = [row[0] for row in rows]
    for number in numbers:
        db.execute("UPDATE words SET picture = ? WHERE rowid = ?", [found_by(db, number), number])
    if numbers:
        next_word_edit(db)
    return numbers


def unread(db: sqlite3.Connection, *, reader: str, since: int) -> dict[str, str]:
    """The pictures of changed records that `reader` has not read, each with an address; newest first."""
    rows = db.execute(
        "SELECT image_hash, address FROM records r WHERE generation > ? AND NOT EXISTS (SELECT 1 FROM "
        "picture_texts t WHERE t.image_hash = r.image_hash AND t.reader = ?) ORDER BY +r.id DESC",
        [since, reader],
    )
    return dict(rows.fetchall())


def without_faults(db: sqlite3.Connection, *, since: int) -> dict[str, tuple[str, int | None]]:
    """The pictures not looked at for faults, as `unread`; with the original's longer side, if known."""
    rows = db.execute(
        "SELECT r.image_hash, r.address, max(s.text ->> '$.original_picture.width', "
        "s.text ->> '$.original_picture.height') FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash "
        "WHERE r.generation > ? AND NOT EXISTS (SELECT 1 FROM picture_faults f "
        "WHERE f.image_hash = r.image_hash) ORDER BY +r.id DESC",
        [since],
    )
    return {one: (address, side if isinstance(side, int) else None) for one, address, side in rows}


def store_faults(db: sqlite3.Connection, image_hash: str, faults: Iterable[str]) -> None:
    """Store what is wrong with a picture, and that it was looked at."""
    rows = [(image_hash, fault) for fault in ("", *faults)]
    db.executemany("INSERT OR IGNORE INTO picture_faults VALUES (?, ?)", rows)
