"""Damaged texts and rows of the catalog: found by hashes and checksums, and restored."""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from store.catalog import checksums, snapshots
from store.catalog import rows as catalog_rows
from store.catalog.catalog import Catalog, next_generation, next_word_edit
from store.catalog.checksums import WrongChecksum
from store.catalog.snapshots import CatalogSnapshot
from store.disk.files import content_hash, read_regular
from store.disk.layout import Layout
from store.records import MAX_SIDECAR_BYTES, Record

_COLUMNS = ("address", "folded", "name", "ticker", "created_at", "captioned")


@dataclass(frozen=True, slots=True)
class Damage:
    """A text or row of the catalog that changed on disk."""

    what: str
    address: str = ""


def damaged_texts(catalog: Catalog) -> list[Damage]:
    """Damaged texts of the catalog, and damaged rows that have a checksum; changes nothing."""
    with catalog.reading() as db:
        texts = [Damage(f"the text of a sidecar ({digest[:12]})", at) for digest, at in _bad_texts(db)]
        return [*texts, *(Damage(_named(one)) for one in checksums.wrong(db))]


def damaged_rows(catalog: Catalog, first: int, last: int) -> list[Damage]:
    """The records with these numbers whose row for lists differs from their text; changes nothing."""
    with catalog.reading() as db:
        return [Damage("what the lists say of it", row["address"]) for row, _ in _bad_rows(db, first, last)]


def mend(catalog: Catalog, layout: Layout, *, tell: Callable[[str], None]) -> None:
    """Restore texts from sidecars and snapshots, rows from snapshots, list rows from sidecars.

    `tell` receives a sentence for each row that cannot be restored; it stays as it is.
    """
    copies = snapshots.kept(catalog.path)
    with catalog.writing() as db:
        for digest, address in _bad_texts(db):
            if text := _text(digest, address, db, layout, copies):
                db.execute("UPDATE sidecars SET text = ? WHERE hash = ?", [text, digest])
        for one in checksums.wrong(db):
            _mend_row(db, one, copies, tell)
        generation = next_generation(db)
        for row, record in _bad_rows(db, *_all_numbers(db)):
            _list_again(db, row["id"], record, generation)
        if not _is_indexed(db):
            db.execute("INSERT INTO words (words) VALUES ('rebuild')")  # as its texts say, so that it can …
            db.execute("DELETE FROM words")  # … let go of them
            _index_again(db)
            next_word_edit(db)


def sidecar_text(layout: Layout, row: sqlite3.Row) -> str:
    """The text of the record's own file, if it is what the catalog expects; else ""."""
    try:
        content = read_regular(layout.sidecar(row["tier"], row["address"]), limit=MAX_SIDECAR_BYTES)
    except OSError:
        return ""
    return content.decode() if content_hash(content) == row["sidecar_hash"] else ""


def _bad_texts(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """The hashes of texts that no longer match, each with a record that has it now, or ""."""
    bad = [
        str(row[0])
        for row in db.execute("SELECT hash, CAST(text AS BLOB) FROM sidecars")
        if content_hash(row[1]) != row[0]
    ]
    found = {
        row[0]: str(row[1])
        for row in db.execute(
            "SELECT sidecar_hash, address FROM records "
            "WHERE sidecar_hash IN (SELECT value FROM json_each(?))",
            [json.dumps(bad)],
        )
    }
    return [(digest, found.get(digest, "")) for digest in bad]


def _text(
    digest: str, address: str, db: sqlite3.Connection, layout: Layout, copies: list[CatalogSnapshot]
) -> str:
    row = db.execute("SELECT * FROM records WHERE address = ?", [address]).fetchone()
    if row and (text := sidecar_text(layout, row)):
        return text
    for copy in copies:
        for (content,) in _asked(copy, "SELECT CAST(text AS BLOB) FROM sidecars WHERE hash = ?", digest):
            if content_hash(content) == digest:
                return str(content.decode())
    return ""


def _mend_row(
    db: sqlite3.Connection, one: WrongChecksum, copies: list[CatalogSnapshot], tell: Callable[[str], None]
) -> None:
    there = checksums.row(db, one.table, one.key)
    for copy in copies:
        with snapshots.reading(copy) as old:
            checksums.install(old)
            try:
                row = checksums.row(old, one.table, one.key)
                noted = checksums.recorded(old, one.table, one.key)
            except sqlite3.Error:  # damaged itself, or of an earlier version
                continue
        if row is None or row[1] != noted:  # it was copied when it was damaged
            continue
        if row[1] == one.expected:
            _put(db, one, row[0])
            return
        if there and row[1] == there[1]:  # the row is sound, its checksum is not
            _put(db, one, there[0])
            return
    db.execute("DELETE FROM checksums WHERE name = ? AND key = ?", [one.table, one.key])
    if there:
        _put(db, one, there[0])
        tell(f"{_named(one)} could not be given back and stays as it reads now; a backup may say more")
    else:
        tell(f"{_named(one)} is gone; a backup may have it")


def _put(db: sqlite3.Connection, one: WrongChecksum, row: sqlite3.Row) -> None:
    """Write a row and its checksum, replacing the one with its key."""
    names, marks = ", ".join(row.keys()), ", ".join("?" * len(row))
    db.execute(f"DELETE FROM {one.table} WHERE {checksums.TABLES[one.table]} = ?", [one.key])
    db.execute(f"INSERT OR IGNORE INTO {one.table} ({names}) VALUES ({marks})", tuple(row))


def _asked(copy: CatalogSnapshot, sql: str, *values: str) -> list[sqlite3.Row]:
    try:
        with snapshots.reading(copy) as db:
            return db.execute(sql, values).fetchall()
    except sqlite3.Error:
        return []


def _named(one: WrongChecksum) -> str:
    return f"row {one.key} of {one.table}"


def _bad_rows(db: sqlite3.Connection, first: int, last: int) -> list[tuple[sqlite3.Row, Record]]:
    """The list rows with these numbers that differ from their sidecar, each with its record."""
    labels: dict[int, set[tuple[str, str]]] = {}
    for number, kind, label in db.execute(
        "SELECT record, kind, label FROM labels WHERE record BETWEEN ? AND ?", [first, last]
    ):
        labels.setdefault(number, set()).add((kind, label))
    rows = db.execute(
        "SELECT r.*, s.hash AS digest, CAST(s.text AS BLOB) AS text FROM records r "
        "JOIN sidecars s ON s.hash = r.sidecar_hash WHERE r.id BETWEEN ? AND ?",
        [first, last],
    )
    return [
        (row, record)
        for row in rows
        if content_hash(row["text"]) == row["digest"]
        and (record := Record(json.loads(row["text"]), row["tier"]))
        and (
            _columns(record) != tuple(row[name] for name in _COLUMNS)
            or labels.get(row["id"], set()) != _labels(record)
        )
    ]


def _all_numbers(db: sqlite3.Connection) -> tuple[int, int]:
    first, last = db.execute("SELECT coalesce(min(id), 0), coalesce(max(id), 0) FROM records").fetchone()
    return first, last


def _columns(record: Record) -> tuple[str | int, ...]:
    return (
        record.address,
        record.address.lower(),
        record.name,
        record.ticker,
        record.created_at,
        int(record.is_captioned),
    )


def _labels(record: Record) -> set[tuple[str, str]]:
    return {("tag", tag) for tag in record.tags} | {("category", one) for one in record.categories}


def _list_again(db: sqlite3.Connection, number: int, record: Record, generation: int) -> None:
    names = ", ".join(f"{name} = ?" for name in (*_COLUMNS, "generation"))
    db.execute(f"UPDATE records SET {names} WHERE id = ?", [*_columns(record), generation, number])
    db.execute("DELETE FROM labels WHERE record = ?", [number])
    db.executemany("INSERT INTO labels VALUES (?, ?, ?)", [(number, *one) for one in _labels(record)])


def _is_indexed(db: sqlite3.Connection) -> bool:
    """Whether the full-text index matches its texts."""
    try:
        db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    except sqlite3.DatabaseError:
        return False
    return True


def _index_again(db: sqlite3.Connection) -> None:
    for row in db.execute("SELECT id, sidecar_hash FROM records").fetchall():
        if catalog_rows.is_sound(db, row["sidecar_hash"]):
            catalog_rows.index(db, row["id"], row["sidecar_hash"])
