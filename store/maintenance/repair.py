"""Damaged texts and rows of the catalog: found by hashes and checksums, and restored."""

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from store.catalog import checksums, confusables, snapshots
from store.catalog import rows as catalog_rows
from store.catalog.catalog import Catalog, next_generation, next_word_edit
from store.catalog.checksums import WrongChecksum
from store.catalog.snapshots import CatalogSnapshot
from store.disk.files import content_hash, file_hash, read_regular
from store.disk.layout import Layout
from store.operations import Operation, State, state_from
from store.records import MAX_SIDECAR_BYTES, TIERS, Record

_DERIVED = ("labels", "embeddings", "unfit", "spellings", "suspicions", "unexamined")
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


def damaged_rows(catalog: Catalog, layout: Layout, first: int, last: int) -> list[Damage]:
    """The records with these numbers whose row differs from their text or their history; changes nothing."""
    copies = snapshots.kept(catalog.path)
    with catalog.reading() as db:
        states = _bad_states(db, layout, copies, first, last)
        return [
            *(Damage("its state", row["address"]) for row, _ in states),
            *(Damage("what the lists say of it", row["address"]) for row, _ in _bad_rows(db, first, last)),
        ]


def mend(catalog: Catalog, layout: Layout, *, tell: Callable[[str], None]) -> None:
    """Restore texts from sidecars and snapshots, rows from snapshots, list rows from sidecars.

    A record's state is restored from its history, or a snapshot. What one source restored is checked again
    before the next is asked. `tell` receives a sentence for each row that cannot be restored; it stays as it
    is.
    """
    copies = snapshots.kept(catalog.path)
    with catalog.writing() as db:
        _restore_keys(db)
        snapshots.restore_rows(db, copies)
        for one in checksums.wrong(db):
            _keep_row(db, one, tell)
        generation = next_generation(db)
        for row, state in _bad_states(db, layout, copies, *_all_numbers(db)):
            columns = ("tier", "came_from", "sidecar_hash", "image_hash")
            given = ", ".join(f"{column} = ?" for column in columns)
            db.execute(
                f"UPDATE records SET {given}, generation = ? WHERE id = ?",
                [*(getattr(state, column) for column in columns), generation, row["id"]],
            )
        for digest, address in _bad_texts(db):
            if text := _text(digest, address, db, layout, copies):
                db.execute("UPDATE sidecars SET text = ? WHERE hash = ?", [text, digest])
            else:
                _restore_name(db, digest)
        for row, record in _bad_rows(db, *_all_numbers(db)):
            _list_again(db, row["id"], record, generation)
        _remove_strays(db)
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


def _restore_name(db: sqlite3.Connection, digest: str) -> None:
    """Give a text whose hash was damaged its own hash again, if nothing expects a text under this one."""
    if digest in _expected_texts(db):
        return
    (text,) = db.execute("SELECT text FROM sidecars WHERE hash = ?", [digest]).fetchone()
    db.execute("INSERT OR IGNORE INTO sidecars VALUES (?, ?)", [content_hash(text.encode()), text])
    db.execute("DELETE FROM sidecars WHERE hash = ?", [digest])


def _expected_texts(db: sqlite3.Connection) -> set[str]:
    """The hashes of sidecars that records, history and unfinished operations name."""
    found = {row[0] for row in db.execute("SELECT sidecar_hash FROM records")}
    for side in ("before", "after"):
        name = f"CASE WHEN json_valid({side}) THEN {side} ->> '$.sidecar_hash' END"
        found |= {row[0] for row in db.execute(f"SELECT DISTINCT {name} FROM history")}
    for (operation,) in db.execute("SELECT operation FROM journal"):
        for change in Operation.from_json(operation).changes:
            found |= {state.sidecar_hash for state in (change.before, change.after) if state}
    return found


def _restore_keys(db: sqlite3.Connection) -> None:
    """Restore rows, and checksums, that are there under a damaged key: under their own, both agree again."""
    wrong = checksums.wrong(db)
    strange = [one for one in wrong if one.expected is None]
    for lost in wrong:
        if lost.expected is not None and not checksums.row(db, lost.table, lost.key):
            for other in strange:
                if other.table == lost.table and _is_same(db, lost, other):
                    strange.remove(other)
                    break


def _is_same(db: sqlite3.Connection, lost: WrongChecksum, other: WrongChecksum) -> bool:
    """Whether a row without a checksum is the one of a checksum without a row; gives it that key if so."""
    own = checksums.row(db, other.table, other.key)
    if own and own[1] == lost.expected:  # the key of the checksum is damaged, not the row's
        given = "UPDATE checksums SET key = ? WHERE name = ? AND key = ?"
        db.execute(given, [other.key, lost.table, lost.key])
        return True
    names = checksums.TABLES[lost.table].removeprefix("json_array(").removesuffix(")").split(", ")
    db.execute("SAVEPOINT key")
    try:
        key = json.loads(str(lost.key)) if len(names) > 1 else [lost.key]
        given = f"UPDATE {lost.table} SET {', '.join(f'{name} = ?' for name in names)}"
        db.execute(f"{given} WHERE {checksums.TABLES[lost.table]} = ?", [*key, other.key])
        found = checksums.row(db, lost.table, lost.key)
        is_same = found is not None and found[1] == lost.expected
    except (sqlite3.Error, ValueError, TypeError):  # there is such a row, or the key is none
        is_same = False
    if not is_same:
        db.execute("ROLLBACK TO key")
    db.execute("RELEASE key")
    return is_same


def _keep_row(db: sqlite3.Connection, one: WrongChecksum, tell: Callable[[str], None]) -> None:
    there = checksums.row(db, one.table, one.key)
    db.execute("DELETE FROM checksums WHERE name = ? AND key = ?", [one.table, one.key])
    if there:
        snapshots.put_row(db, one, there[0])
        tell(f"{_named(one)} could not be given back and stays as it reads now; a backup may say more")
    else:
        tell(f"{_named(one)} is gone; a backup may have it")


def _bad_states(
    db: sqlite3.Connection, layout: Layout, copies: list[CatalogSnapshot], first: int, last: int
) -> list[tuple[sqlite3.Row, State]]:
    """These rows whose state is damaged, each with the one of its files, by the history or a copy."""
    rows = db.execute(
        "SELECT r.*, (SELECT h.after FROM history h WHERE h.address = r.address ORDER BY h.id DESC LIMIT 1) "
        "AS last FROM records r WHERE r.id BETWEEN ? AND ?",
        [first, last],
    ).fetchall()
    busy = {
        change.address
        for (operation,) in db.execute("SELECT operation FROM journal")
        for change in Operation.from_json(operation).changes
    }
    found = []
    for row in rows:
        known, said = catalog_rows.state_of(row), _state(row["last"])
        # That the history says the same spares a look at the files.
        if row["address"] in busy or said == known or _has_files(layout, row["address"], known):
            continue
        for state in _states(said, row["address"], copies):
            if state != known and _has_files(layout, row["address"], state):
                found.append((row, state))
                break
    return found


def _state(text: str | None) -> State | None:
    with contextlib.suppress(ValueError, TypeError):  # damaged
        return state_from(json.loads(text)) if text else None
    return None


def _states(said: State | None, address: str, copies: list[CatalogSnapshot]) -> Iterator[State]:
    """What history and copies say of a record's state."""
    if said:
        yield said
    for copy in copies:
        for old in _asked(copy, "SELECT * FROM records WHERE address = ?", address):
            yield catalog_rows.state_of(old)


def _has_files(layout: Layout, address: str, state: State) -> bool:
    """Whether the record's files are where and what this state says."""
    if state.tier not in TIERS:
        return False
    hashes = file_hash(layout.sidecar(state.tier, address)), file_hash(layout.image(state.tier, address))
    return hashes == (state.sidecar_hash, state.image_hash)


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


def _remove_strays(db: sqlite3.Connection) -> None:
    """Remove derived rows of records that there are not, and spell those that lack it."""
    for table in _DERIVED:
        db.execute(f"DELETE FROM {table} WHERE record NOT IN (SELECT id FROM records)")
    for row in db.execute("SELECT * FROM records WHERE id NOT IN (SELECT record FROM spellings)").fetchall():
        confusables.store_spelling(
            db, row["id"], name=row["name"], ticker=row["ticker"], image_hash=row["image_hash"]
        )


def _is_indexed(db: sqlite3.Connection) -> bool:
    """Whether the full-text index matches its texts, and has those of all records."""
    try:
        db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        numbers = db.execute(
            "SELECT EXISTS (SELECT rowid FROM words EXCEPT SELECT id FROM records) "
            "OR EXISTS (SELECT id FROM records EXCEPT SELECT rowid FROM words)"
        ).fetchone()
    except sqlite3.DatabaseError:
        return False
    return not numbers[0]


def _index_again(db: sqlite3.Connection) -> None:
    for row in db.execute("SELECT id, sidecar_hash FROM records").fetchall():
        if catalog_rows.is_sound(db, row["sidecar_hash"]):
            catalog_rows.index(db, row["id"], row["sidecar_hash"])
