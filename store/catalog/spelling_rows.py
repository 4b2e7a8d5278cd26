"""Keep the rows by which records are compared in step with the records."""

import sqlite3

from store.catalog.confusables import spelling

_SHARING = (  # records compared with one's former spelling
    "SELECT s.record FROM spellings s WHERE s.image_hash = :image_hash",
    "SELECT s.record FROM lookalikes l JOIN spellings s ON s.image_hash = l.other "
    "WHERE l.picture = :image_hash",
    "SELECT s.record FROM spellings s WHERE s.name_skeleton = :name_skeleton AND :name <> ''",
    "SELECT s.record FROM spellings s WHERE s.ticker_skeleton = :ticker_skeleton AND :ticker <> ''",
)


def upsert(db: sqlite3.Connection, number: int, *, name: str, ticker: str, image_hash: str) -> None:
    """Store what the record with this row number is compared by; a changed one is examined later."""
    spelt = spelling(name, ticker)
    new = (number, image_hash, spelt.name, spelt.name_skeleton, spelt.ticker, spelt.ticker_skeleton)
    old = db.execute("SELECT * FROM spellings WHERE record = ?", [number]).fetchone()
    if old and tuple(old) == new:
        return
    if old:
        delete(db, number)
    db.execute("INSERT INTO spellings VALUES (?, ?, ?, ?, ?, ?)", new)
    db.execute("INSERT OR IGNORE INTO unexamined VALUES (?)", [number])


def delete(db: sqlite3.Connection, number: int) -> None:
    """Remove the record's rows; records that looked like it are examined again."""
    old = db.execute("SELECT * FROM spellings WHERE record = ?", [number]).fetchone()
    if old is None:
        return
    for sharing in _SHARING:
        db.execute(f"INSERT OR IGNORE INTO unexamined {sharing}", dict(old))
    for table in ("spellings", "suspicions", "unexamined"):
        db.execute(f"DELETE FROM {table} WHERE record = ?", [number])
