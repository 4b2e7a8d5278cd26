"""The catalog's rows for listing and filtering: derived from sidecars, rebuilt when missing or changed."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from store.duplicates import derived
from store.errors import InvalidRecord
from store.filter import Filter, conditions, matching
from store.records import Facet, Record, Tier
from store.writing.operations import State

SORTS = {
    "newest": "r.created_at DESC, r.address",
    "oldest": "r.created_at, r.address",
    "name": "r.name COLLATE NOCASE, r.address",
    "moved": "r.moved_at DESC, r.address",
    "suspicious": "(SELECT sure FROM suspicions WHERE record = r.id) DESC NULLS LAST, r.created_at DESC, "
    "r.address",
}

_RECORD = "SELECT r.*, s.text AS sidecar FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash"


def find(
    db: sqlite3.Connection, filter: Filter, *, sort: str = "newest", offset: int = 0, limit: int | None = None
) -> list[Record]:
    """The records that pass, in order."""
    if sort not in SORTS:
        raise InvalidRecord(f"there is no order {sort!r}; there are {', '.join(SORTS)}")
    if sort == "suspicious" and filter.suspicious is None:
        return _suspicious_first(db, filter, offset=offset, limit=limit)
    where, values = conditions(filter)
    rows = db.execute(  # the inner part needs no more than an index, also for the last page of 50,000
        f"{_RECORD} WHERE r.id IN (SELECT r.id FROM records r WHERE {where} ORDER BY {SORTS[sort]} "
        f"LIMIT ? OFFSET ?) ORDER BY {SORTS[sort]}",
        [*values, -1 if limit is None else limit, offset],
    )
    return [_record(row) for row in rows]


def _suspicious_first(
    db: sqlite3.Connection, filter: Filter, *, offset: int, limit: int | None
) -> list[Record]:
    """Those that look like others, the surest first, then all others: so that only the few are sorted."""
    alike, others = replace(filter, suspicious=True), replace(filter, suspicious=False)
    found = find(db, alike, sort="suspicious", offset=offset, limit=limit)
    left = None if limit is None else limit - len(found)
    if left == 0:
        return found
    return found + find(db, others, offset=max(0, offset - count(db, alike)), limit=left)


def labels(db: sqlite3.Connection, kind: str) -> list[tuple[str, str]]:
    """The address of every library record with each of its tags or categories."""
    return db.execute(
        "SELECT r.address, l.label FROM records r CROSS JOIN labels l ON l.record = r.id AND l.kind = ? "
        "WHERE r.tier = 'library'",
        [kind],
    ).fetchall()


def changed_since(db: sqlite3.Connection, generation: int) -> list[str]:
    """The records that a change after this one left here."""
    rows = db.execute("SELECT address FROM records WHERE generation > ?", [generation])
    return [row[0] for row in rows]


def created(db: sqlite3.Connection) -> dict[str, int]:
    """When every library record was created (UNIX seconds), by address."""
    return dict(db.execute("SELECT address, created_at FROM records WHERE tier = 'library'").fetchall())


def addresses(db: sqlite3.Connection, filter: Filter) -> list[str]:
    """Only the keys of the records that pass, newest first."""
    where, values = conditions(filter)
    return [
        row[0]
        for row in db.execute(
            f"SELECT r.address FROM records r WHERE {where} ORDER BY {SORTS['newest']}", values
        )
    ]


def count(db: sqlite3.Connection, filter: Filter) -> int:
    where, values = conditions(filter)
    return int(db.execute(f"SELECT count(*) FROM records r WHERE {where}", values).fetchone()[0])


def counts(db: sqlite3.Connection) -> dict[Tier, int]:
    found = dict(db.execute("SELECT tier, count(*) FROM records GROUP BY tier").fetchall())
    return {tier: found.get(tier, 0) for tier in ("pending", "approved", "library", "trash")}


def label_counts(db: sqlite3.Connection, kind: str, filter: Filter) -> dict[str, int]:
    """How many of the records that pass carry each tag (or category), most frequent first."""
    where, values = conditions(filter)
    rows = db.execute(
        # Not a join: it would look up a record for each of its labels, which takes six times as long.
        f"SELECT label, count(*) FROM labels WHERE kind = ? AND record IN "
        f"(SELECT r.id FROM records r WHERE {where}) GROUP BY label ORDER BY count(*) DESC, label",
        [kind, *values],
    )
    return dict(rows.fetchall())


def source_counts(db: sqlite3.Connection, filter: Filter) -> dict[str, int]:
    """How many of the records that pass were imported from where, most frequent first."""
    where, values = conditions(filter)
    rows = db.execute(
        "SELECT h.reason, count(*) FROM history h JOIN records r ON r.address = h.address "
        f"WHERE h.verb = 'import' AND h.reason <> '' AND {where} "
        "GROUP BY h.reason ORDER BY count(*) DESC, h.reason",
        values,
    )
    return dict(rows.fetchall())


def get(db: sqlite3.Connection, address: str) -> Record | None:
    row = db.execute(f"{_RECORD} WHERE r.address = ?", [address]).fetchone()
    return _record(row) if row else None


def records(db: sqlite3.Connection, addresses: Sequence[str]) -> dict[str, Record]:
    """These records by address, in one question."""
    rows = db.execute(
        f"{_RECORD} WHERE r.address IN (SELECT value FROM json_each(?))", [json.dumps(addresses)]
    )
    return {row["address"]: _record(row) for row in rows}


def came_since(db: sqlite3.Connection, addresses: Sequence[str], moment: float) -> int:
    row = db.execute(
        "SELECT count(*) FROM records r WHERE r.address IN (SELECT value FROM json_each(?)) "
        "AND r.moved_at > ? AND r.tier IS NOT (SELECT h.after ->> '$.tier' FROM history h "
        "WHERE h.address = r.address AND h.at <= ? ORDER BY h.id DESC LIMIT 1)",
        [json.dumps(addresses), moment, moment],
    ).fetchone()
    return int(row[0])


def named(db: sqlite3.Connection, words: str, filter: Filter, *, limit: int) -> list[Record]:
    """The records that have all of these words: the exact ticker first, then the exact name, then by bm25,
    where a word in name or ticker counts ten times one in a description or caption. An address names its
    record."""
    said = words.strip().removeprefix("$").strip()
    where, values = conditions(filter)
    meant = db.execute(f"{_RECORD} WHERE r.folded = ? AND {where}", [said.lower(), *values]).fetchone()
    if meant:
        return [_record(meant)]
    rows = db.execute(
        f"{_RECORD} JOIN words ON words.rowid = r.id WHERE words MATCH ? AND {where} "
        "ORDER BY (r.ticker = ? COLLATE NOCASE) DESC, (r.name = ? COLLATE NOCASE) DESC, "
        "bm25(words, 10, 10, 1, 1), r.address LIMIT ?",
        [matching(said), *values, said, said, limit],
    )
    return [_record(row) for row in rows]


def put(
    db: sqlite3.Connection,
    address: str,
    state: State,
    *,
    stats: tuple[str, str],
    now: float,
    generation: int,
    embeddings: Mapping[Facet, str],
) -> None:
    """Write every row of one record anew, its revision one higher."""
    text = db.execute("SELECT text FROM sidecars WHERE hash = ?", [state.sidecar_hash]).fetchone()[0]
    record = Record(json.loads(text), state.tier)
    old = db.execute(
        "SELECT id, tier, revision, moved_at FROM records WHERE address = ?", [address]
    ).fetchone()
    number, revision, moved_at = (old["id"], old["revision"] + 1, old["moved_at"]) if old else (None, 1, now)
    if old and old["tier"] != state.tier:
        moved_at = now
    if number is not None:
        forget(db, number)
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
    db.execute(
        "INSERT INTO words (rowid, name, ticker, description, caption) VALUES (?, ?, ?, ?, ?)",
        [number, record.name, record.ticker, record.description, "\n".join(record.caption.values())],
    )
    db.executemany(
        "INSERT INTO embeddings VALUES (?, ?, ?)", [(number, *pair) for pair in embeddings.items()]
    )
    derived.put(db, number, name=record.name, ticker=record.ticker, image_hash=state.image_hash)


def forget(db: sqlite3.Connection, number: int) -> None:
    """Remove every row of the record with this row number."""
    db.execute("DELETE FROM records WHERE id = ?", [number])
    db.execute("DELETE FROM words WHERE rowid = ?", [number])
    db.execute("DELETE FROM labels WHERE record = ?", [number])
    db.execute("DELETE FROM embeddings WHERE record = ?", [number])


def state_of(row: Mapping[str, Any] | sqlite3.Row) -> State:
    return State(row["tier"], row["sidecar_hash"], row["image_hash"], row["came_from"])


def _record(row: sqlite3.Row) -> Record:
    return Record(
        json.loads(row["sidecar"]), row["tier"], row["revision"], row["image_hash"], row["came_from"]
    )
