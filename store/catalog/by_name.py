"""Records found by what they are called: address, ticker, name, words."""

import sqlite3
import unicodedata

from store.catalog.confusables import plain
from store.catalog.emoji import in_words
from store.catalog.filters import Filter, conditions, matching
from store.catalog.rows import SELECT_RECORD, record_of
from store.records import Record, is_evm


def exact(db: sqlite3.Connection, text: str, filter: Filter, *, limit: int) -> list[Record]:
    """The record with this address; else records with this ticker, then records with this name.

    Ignores case, accents and a leading $; in an address, case is ignored only if it is an EVM one.
    """
    where, values = conditions(filter)
    address = text.strip()
    spelt = address.lower() if is_evm(address) else address
    meant = db.execute(f"{SELECT_RECORD} WHERE r.address = ? AND {where}", [spelt, *values]).fetchone()
    if meant:
        return [record_of(meant)]
    phrase = _bare(text)
    if not phrase:
        return []
    if any(character.isalnum() for character in phrase):
        among, parameters = "r.id IN (SELECT rowid FROM words WHERE words MATCH ?)", [_phrase(phrase)]
    else:  # characters alone, which the words do not hold
        among, parameters = "(r.name LIKE ? OR r.ticker LIKE ?)", [f"%{phrase}%"] * 2
    rows = db.execute(
        f"SELECT r.id, r.name, r.ticker FROM records r WHERE {among} AND {where} ORDER BY r.address",
        [*parameters, *values],
    ).fetchall()
    found = [row["id"] for row in rows if _bare(row["ticker"]) == phrase]
    found += [row["id"] for row in rows if _bare(row["name"]) == phrase and row["id"] not in found]
    records = [db.execute(f"{SELECT_RECORD} WHERE r.id = ?", [number]).fetchone() for number in found[:limit]]
    return [record_of(row) for row in records]


def with_words(db: sqlite3.Connection, words: str, filter: Filter, *, limit: int) -> list[Record]:
    """Exact matches, then records that contain all of these words.

    Ordered by BM25, in which name and ticker weigh ten times as much as descriptions and captions. An address
    returns its record alone.
    """
    first = exact(db, words, filter, limit=limit)
    if [record.address for record in first] == [words.strip()]:
        return first
    where, values = conditions(filter)
    rows = db.execute(
        f"{SELECT_RECORD} JOIN words ON words.rowid = r.id WHERE words MATCH ? AND {where} "
        "ORDER BY bm25(words, 10, 10, 1, 1, 1, 1), r.address LIMIT ?",
        [matching(in_words(words.strip().removeprefix("$"))), *values, limit],
    )
    known = {record.address for record in first}
    return [*first, *(record for row in rows if (record := record_of(row)).address not in known)][:limit]


def _bare(text: str) -> str:
    """A name or ticker without case, accents and a leading $."""
    spread = unicodedata.normalize("NFKD", plain(text.strip().removeprefix("$")))
    return "".join(character for character in spread if not unicodedata.combining(character))


def _phrase(text: str) -> str:
    """An FTS5 query for names and tickers that begin with this text."""
    return '{name ticker} : ^ "' + text.replace('"', '""') + '"'
