"""The catalog's rows for listing and filtering: derived from sidecars, rebuilt when missing or changed."""

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from store import troubles
from store.duplicates import derived
from store.errors import InvalidRecord
from store.operations import State
from store.records import Facet, Record, Tier

SORTS = {
    "newest": "r.created_at DESC, r.address",
    "oldest": "r.created_at, r.address",
    "name": "r.name COLLATE NOCASE, r.address",
    "moved": "r.moved_at DESC, r.address",
    "suspicious": "(SELECT sure FROM suspicions WHERE record = r.id) DESC NULLS LAST, r.created_at DESC, "
    "r.address",
}

_RECORD = "SELECT r.*, s.text AS sidecar FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash"
_FACET_TEXT = "(SELECT trim(coalesce(text ->> ?, '')) FROM sidecars WHERE hash = r.sidecar_hash)"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which records; every part given must hold. Times are UNIX seconds of `created_at`."""

    tier: Tier | None = None
    words: str = ""
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    without_categories: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    captioned: bool | None = None
    unchanged_since: int | None = None  # a generation: what was added or changed after it does not pass
    having: tuple[Facet, ...] = ()  # facets that must be written
    lacking: tuple[Facet, ...] = ()
    longer: int | None = None  # characters of the whole caption, at least …
    shorter: int | None = None  # … and at most
    troubled: bool | None = None  # approved, and could not go on (store/troubles.py)
    suspicious: bool | None = None  # looks like another record, and nobody has said yet what it is to it
    source: str = ""  # what it was imported from
    decided_by: str = ""  # somebody who did anything to it but import it, and did not take it back …
    decided_since: int | None = None  # … at this UNIX second or later

    @property
    def is_open(self) -> bool:
        """Whether everything passes, but for the tier."""
        return self == Filter(tier=self.tier)


def find(
    db: sqlite3.Connection, filter: Filter, *, sort: str = "newest", offset: int = 0, limit: int | None = None
) -> list[Record]:
    """The records that pass, in order."""
    if sort not in SORTS:
        raise InvalidRecord(f"there is no order {sort!r}; there are {', '.join(SORTS)}")
    if sort == "suspicious" and filter.suspicious is None:
        return _suspicious_first(db, filter, offset=offset, limit=limit)
    where, values = _conditions(filter)
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


def labels(db: sqlite3.Connection, kind: str) -> dict[str, list[str]]:
    """The tags or categories of every library record that has some, by address."""
    rows = db.execute(
        "SELECT r.address, l.label FROM labels l JOIN records r ON r.id = l.record "
        "WHERE l.kind = ? AND r.tier = 'library'",
        [kind],
    )
    found: dict[str, list[str]] = {}
    for address, label in rows:
        found.setdefault(address, []).append(label)
    return found


def created(db: sqlite3.Connection) -> dict[str, int]:
    """When every library record was created (UNIX seconds), by address."""
    return dict(db.execute("SELECT address, created_at FROM records WHERE tier = 'library'").fetchall())


def addresses(db: sqlite3.Connection, filter: Filter) -> list[str]:
    """Only the keys of the records that pass, newest first."""
    where, values = _conditions(filter)
    return [
        row[0]
        for row in db.execute(
            f"SELECT r.address FROM records r WHERE {where} ORDER BY {SORTS['newest']}", values
        )
    ]


def count(db: sqlite3.Connection, filter: Filter) -> int:
    where, values = _conditions(filter)
    return int(db.execute(f"SELECT count(*) FROM records r WHERE {where}", values).fetchone()[0])


def counts(db: sqlite3.Connection) -> dict[Tier, int]:
    found = dict(db.execute("SELECT tier, count(*) FROM records GROUP BY tier").fetchall())
    return {tier: found.get(tier, 0) for tier in ("pending", "approved", "library", "trash")}


def label_counts(db: sqlite3.Connection, kind: str, filter: Filter) -> dict[str, int]:
    """How many of the records that pass carry each tag (or category), most frequent first."""
    where, values = _conditions(filter)
    rows = db.execute(
        "SELECT l.label, count(*) FROM labels l JOIN records r ON r.id = l.record "
        f"WHERE l.kind = ? AND {where} GROUP BY l.label ORDER BY count(*) DESC, l.label",
        [kind, *values],
    )
    return dict(rows.fetchall())


def source_counts(db: sqlite3.Connection, filter: Filter) -> dict[str, int]:
    """How many of the records that pass were imported from where, most frequent first."""
    where, values = _conditions(filter)
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
        "SELECT count(*) FROM records WHERE address IN (SELECT value FROM json_each(?)) AND moved_at > ?",
        [json.dumps(addresses), moment],
    ).fetchone()
    return int(row[0])


def named(db: sqlite3.Connection, words: str, filter: Filter, *, limit: int) -> list[Record]:
    """The records that have all of these words: the exact ticker first, then the exact name, then by bm25,
    where a word in name or ticker counts ten times one in a description or caption."""
    said = words.strip().removeprefix("$").strip()
    where, values = _conditions(filter)
    rows = db.execute(
        f"{_RECORD} JOIN words ON words.rowid = r.id WHERE words MATCH ? AND {where} "
        "ORDER BY (r.ticker = ? COLLATE NOCASE) DESC, (r.name = ? COLLATE NOCASE) DESC, "
        "bm25(words, 10, 10, 1, 1), r.address LIMIT ?",
        [_match(said), *values, said, said, limit],
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


def _conditions(filter: Filter) -> tuple[str, list[Any]]:
    parts: list[str] = ["TRUE"]
    values: list[Any] = []
    if filter.tier:
        parts.append("r.tier = ?")
        values.append(filter.tier)
    for kind, having, labels in (
        ("tag", "IN", filter.tags),
        ("category", "IN", filter.categories),
        ("tag", "NOT IN", filter.without_tags),
        ("category", "NOT IN", filter.without_categories),
    ):
        for label in labels:
            parts.append(f"r.id {having} (SELECT record FROM labels WHERE kind = ? AND label = ?)")
            values += [kind, label]
    if filter.since is not None:
        parts.append("r.created_at >= ?")
        values.append(filter.since)
    if filter.until is not None:
        parts.append("r.created_at <= ?")
        values.append(filter.until)
    for word, facets in (("<>", filter.having), ("=", filter.lacking)):
        for facet in facets:
            parts.append(f"{_FACET_TEXT} {word} ''")
            values.append(f"$.caption.{facet}")
    for sign, length in ((">=", filter.longer), ("<=", filter.shorter)):
        if length is not None:
            parts.append(f"(SELECT length(caption) FROM words WHERE rowid = r.id) {sign} ?")
            values.append(length)
    if filter.captioned is not None:
        parts.append("r.captioned = ?")
        values.append(int(filter.captioned))
    if filter.unchanged_since is not None:
        parts.append("r.generation <= ?")
        values.append(filter.unchanged_since)
    if filter.troubled is not None:
        parts.append(troubles.STANDING if filter.troubled else f"NOT {troubles.STANDING}")
    if filter.suspicious is not None:
        parts.append(f"r.id {'IN' if filter.suspicious else 'NOT IN'} (SELECT record FROM suspicions)")
    if filter.source:
        parts.append("r.address IN (SELECT address FROM history WHERE verb = 'import' AND reason = ?)")
        values.append(filter.source)
    if filter.decided_by or filter.decided_since is not None:
        whose = "h.who = ? AND " if filter.decided_by else ""
        parts.append(
            "r.address IN (SELECT h.address FROM history h LEFT JOIN decisions d ON d.id = h.decision "
            f"WHERE {whose}h.at >= ? AND h.verb NOT IN ('import', 'undo') AND NOT coalesce(d.reversed, 0))"
        )
        values += [filter.decided_by] if filter.decided_by else []
        values.append(filter.decided_since or 0)
    if filter.words.strip():
        parts.append("r.id IN (SELECT rowid FROM words WHERE words MATCH ?)")
        values.append(_match(filter.words))
    return " AND ".join(parts), values


def _match(words: str) -> str:
    """Every word as the beginning of one, what is quoted as it stands; nothing typed is an FTS5 operator."""
    asked = []
    for quoted, loose in re.findall(r'"([^"]*)"|([^"]+)', words):
        found = re.findall(r"\w+", quoted or loose)
        asked += [f'"{" ".join(found)}"'] if quoted and found else [f'"{word}"*' for word in found]
    return " ".join(asked) or '""'
