"""The rows behind lists and filters: derived from sidecars, rebuilt if missing or outdated."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from store.catalog import confusables, picture_rows, unfit_words
from store.catalog.catalog import REMOVALS, count_up, read_json
from store.disk.files import content_hash
from store.operations import State
from store.records import Facet, Record, Tier

DAMAGED = "Its text in the catalog is damaged; doctor --repair gives it back."

SELECT_RECORD = "SELECT r.*, s.text AS sidecar FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash"


def changed_since(db: sqlite3.Connection, generation: int) -> list[str]:
    """Addresses of the records in the catalog that changed after this generation."""
    rows = db.execute("SELECT address FROM records WHERE generation > ?", [generation])
    return [row[0] for row in rows]


def counts(db: sqlite3.Connection) -> dict[Tier, int]:
    """How many records each tier has, empty tiers included."""
    found = dict(db.execute("SELECT tier, count(*) FROM records GROUP BY tier").fetchall())
    return {tier: found.get(tier, 0) for tier in ("pending", "approved", "library", "trash")}


def without_vectors(db: sqlite3.Connection) -> int:
    """How many library records have no vector at all."""
    row = db.execute(
        "SELECT count(*) FROM records r WHERE tier = 'library' "
        "AND NOT EXISTS (SELECT 1 FROM embeddings WHERE record = r.id)"
    ).fetchone()
    return int(row[0])


def get(db: sqlite3.Connection, address: str) -> Record | None:
    """The record at this address; None if there is none."""
    row = db.execute(f"{SELECT_RECORD} WHERE r.address = ?", [address]).fetchone()
    return record_of(row) if row else None


def upsert(
    db: sqlite3.Connection,
    address: str,
    state: State,
    *,
    stats: tuple[str, str],
    now: float,
    generation: int,
    embeddings: Mapping[Facet, str],
) -> None:
    """Write all rows of one record and increment its revision."""
    record = _sidecar_record(db, state.sidecar_hash, state.tier)
    old = db.execute(
        "SELECT id, tier, revision, moved_at FROM records WHERE address = ?", [address]
    ).fetchone()
    number, revision, moved_at = (old["id"], old["revision"] + 1, old["moved_at"]) if old else (None, 1, now)
    if old and old["tier"] != state.tier:
        moved_at = now
    if number is not None:
        _delete(db, number)
    number = db.execute(
        "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        [
            number, address, address.lower(), state.tier, state.came_from, revision, state.sidecar_hash,
            state.image_hash, *stats, record.name, record.ticker, record.created_at, record.is_captioned,
            moved_at, generation,
        ],
    ).fetchone()[0]  # fmt: skip
    labels = [("tag", tag) for tag in record.tags] + [
        ("category", category) for category in record.categories
    ]
    db.executemany("INSERT OR IGNORE INTO labels VALUES (?, ?, ?)", [(number, *label) for label in labels])
    _write_words(db, number, record)
    db.executemany(
        "INSERT INTO embeddings VALUES (?, ?, ?)", [(number, *pair) for pair in embeddings.items()]
    )
    confusables.store_spelling(
        db, number, name=record.name, ticker=record.ticker, image_hash=state.image_hash
    )
    unfit_words.refresh_unfit(db, number)


def index(db: sqlite3.Connection, number: int, sidecar_hash: str) -> None:
    """Add the words of one record to the full-text index, which must not have any of it."""
    _write_words(db, number, _sidecar_record(db, sidecar_hash, "pending"))


def _write_words(db: sqlite3.Connection, number: int, record: Record) -> None:
    db.execute(
        "INSERT INTO words (rowid, name, ticker, description, caption, tags, picture) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            number, record.name, record.ticker, record.description, "\n".join(record.caption.values()),
            "\n".join(record.tags), picture_rows.found_by(db, number),
        ],
    )  # fmt: skip


def _sidecar_record(db: sqlite3.Connection, sidecar_hash: str, tier: Tier) -> Record:
    (text,) = db.execute("SELECT text FROM sidecars WHERE hash = ?", [sidecar_hash]).fetchone()
    return Record(read_json(text, "the text of a sidecar"), tier)


def is_sound(db: sqlite3.Connection, sidecar_hash: str) -> bool:
    """Whether the catalog has this sidecar unchanged."""
    row = db.execute("SELECT text FROM sidecars WHERE hash = ?", [sidecar_hash]).fetchone()
    return row is not None and content_hash(row[0].encode()) == sidecar_hash


def remove(db: sqlite3.Connection, number: int) -> None:
    """Remove the record with this row number for good."""
    _delete(db, number)
    confusables.delete_spelling(db, number)
    count_up(db, REMOVALS)


def _delete(db: sqlite3.Connection, number: int) -> None:
    db.execute("DELETE FROM records WHERE id = ?", [number])
    db.execute("DELETE FROM words WHERE rowid = ?", [number])
    db.execute("DELETE FROM labels WHERE record = ?", [number])
    db.execute("DELETE FROM embeddings WHERE record = ?", [number])
    db.execute("DELETE FROM unfit WHERE record = ?", [number])


def state_of(row: Mapping[str, Any] | sqlite3.Row) -> State:
    """The state that a row describes."""
    return State(row["tier"], row["sidecar_hash"], row["image_hash"], row["came_from"])


def record_of(row: sqlite3.Row) -> Record:
    """The record of one row of SELECT_RECORD."""
    if content_hash(row["sidecar"].encode()) == row["sidecar_hash"]:
        sidecar = json.loads(row["sidecar"])
    else:  # by a disk: what the row itself says has to do until it is given back
        names = {
            "token_address": "address",
            "token_name": "name",
            "ticker": "ticker",
            "created_at": "created_at",
        }
        sidecar = {**{key: row[name] for key, name in names.items()}, "description": DAMAGED}
    return Record(sidecar, row["tier"], row["revision"], row["image_hash"], row["came_from"])
