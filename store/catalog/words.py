"""Relevance of records to a query's words: BM25 over name, ticker, description, captions, tags and the
text in the picture.

A record's share is its BM25 divided by that of the library's best record, so between 0 and 1; a word also
counts in its singular and plural. Only the best `MOST` records have a share, all others 0. Words of nearly
every record distinguish none and would be slow to rank, so they are left out.
"""

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from store.catalog.emoji import in_words

MOST = 1_000  # records with a share: few enough to be among the candidates with any weights
_WEIGHTS = (
    "10, 10, 1, 1, 5, 1"  # name, ticker, description, captions, tags, picture; measured on the golden queries
)
_WORDS = 16  # of a question that are looked for
_FEW = 2_000  # records that may always have a word …
_MANY = 20_000  # … and that may never: ranking them takes 50 ms
_FUNCTION_WORDS = """
    a about above all also am an and any are as at be because been being below between both but by can could
    did do does doing down during each few for from further had has have having he her here hers him his how
    i if in into is it its just me more most my no nor not of off on once only or other our out over own same
    she should so some such than that the their them then there these they this those through to too under
    until up very was we were what when where which while who whom why will with would you your
"""
_SAY_NOTHING = frozenset(_FUNCTION_WORDS.split())


@dataclass(frozen=True, slots=True, eq=False)
class WordShares:
    """The word shares of the library's records for one query."""

    shares: Mapping[str, float]  # by address, 0 to 1, best first
    words: tuple[str, ...] = ()  # the words that were looked for


NO_WORDS = WordShares({})


def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that carry its meaning, lower-cased, each once."""
    found = dict.fromkeys(re.findall(r"\w+", in_words(text).lower()))
    return tuple(word for word in found if word not in _SAY_NOTHING)[:_WORDS]


def forms(word: str) -> list[str]:
    """Singular and plural of an English word (Harman 1991, S-stemmer, and its inverse)."""
    base = word
    if len(word) > 4 and word.endswith("ies"):
        base = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us")):
        base = word[:-1]
    plurals = [base + "s", base + "es"] + ([base[:-1] + "ies"] if base.endswith("y") else [])
    return list(dict.fromkeys([word, base, *plurals]))


def word_shares(db: sqlite3.Connection, text: str) -> WordShares:
    """The shares of the library's records for the words of a text."""
    words = content_words(text)
    (total,) = db.execute("SELECT count(*) FROM records").fetchone()
    most = min(max(_FEW, total // 10), _MANY)
    telling = {word: number for word in words if (number := records_with(db, forms(word))) <= most}
    if not telling:
        return WordShares({}, words)
    either = " OR ".join(f'"{form}"' for word in telling for form in forms(word))
    rows = _best(db, either, ranked=2 * MOST)
    if len(rows) < MOST and sum(telling.values()) > 2 * MOST:
        rows = _best(db, either, ranked=-1)  # what is not in the library had the better places
    best = rows[0][1] if rows else 0.0
    return WordShares({address: score / best for address, score in rows}, words)


def _best(db: sqlite3.Connection, either: str, *, ranked: int) -> list[tuple[str, float]]:
    """The best library records with their BM25, among the first `ranked` of any tier; -1 ranks all."""
    first = (
        f"SELECT rowid AS id, -bm25(words, {_WEIGHTS}) AS score FROM words WHERE words MATCH ? "
        "ORDER BY score DESC, id LIMIT ?"
    )
    rows = db.execute(  # looking up each record would take longer than ranking all
        f"SELECT r.address, w.score FROM ({first}) w CROSS JOIN records r ON r.id = w.id "
        "WHERE r.tier = 'library' ORDER BY w.score DESC, r.address LIMIT ?",
        [either, ranked, MOST],
    )
    return [(row[0], row[1]) for row in rows]


def records_with(db: sqlite3.Connection, terms: Iterable[str]) -> int:
    """An upper bound of the number of records, in any tier, that have one of these words."""
    found = (db.execute("SELECT doc FROM vocabulary WHERE term = ?", [term]).fetchone() for term in terms)
    return sum(row[0] for row in found if row)
