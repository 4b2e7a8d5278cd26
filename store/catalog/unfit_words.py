"""Words that make a coin unfit for the screen, matched as whole words in 21 languages; and who is unfit.

The list is `unfit_words.txt` (its licence is at its top), with the words that a library adds and
without those that it removes. Case, accents and look-alike letters are ignored. Chinese, Japanese, Korean and
Thai put no spaces between words, so theirs are matched anywhere.

A record is unfit by hand, by what was seen in its picture, or by its words (`refresh_unfit`).
"""

import json
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from store.catalog.confusables import read_as

_LIST = Path(__file__).with_name("unfit_words.txt")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")  # soft hyphens and the like, within a word
_NUMBER = "0123456789"  # at the end of a word, as in a ticker of which there are several


@dataclass(frozen=True, slots=True)
class UnfitWords:
    """A list, ready to be looked for."""

    phrases: Mapping[str, tuple[tuple[str, ...], ...]]  # by their first word
    unspaced: tuple[str, ...]

    def first_in(self, text: str) -> str:
        """The first word or phrase of the list that a text has; "" if it has none."""
        text = _UNSEEN.sub("", text)
        plain = tuple(_folded(word) for word in _WORD.findall(_CAMEL.sub(" ", text)))
        without_digits = tuple(word.rstrip(_NUMBER) or word for word in plain)
        for words in dict.fromkeys((plain, without_digits, _read(plain, one="i"), _read(plain, one="l"))):
            for place, word in enumerate(words):
                for phrase in self.phrases.get(word, ()):
                    if words[place : place + len(phrase)] == phrase:
                        return " ".join(phrase)
        if _UNSPACED.search(text):
            folded = _folded(text)
            return next((word for word in self.unspaced if word in folded), "")
        return ""


@lru_cache(maxsize=4)
def unfit_words(added: tuple[str, ...] = (), removed: tuple[str, ...] = ()) -> UnfitWords:
    """The shipped list with these words and without those."""
    gone = {_key(word) for word in removed}
    keys = dict.fromkeys(key for key in map(_key, [*shipped(), *added]) if key and key not in gone)
    phrases: dict[str, tuple[tuple[str, ...], ...]] = {}
    for key in keys:
        words = tuple(key.split())
        phrases[words[0]] = (*phrases.get(words[0], ()), words)
    return UnfitWords(phrases, tuple(key for key in keys if _UNSPACED.search(key)))


def shipped() -> list[str]:
    """The words of the list that comes with the program."""
    lines = _LIST.read_text("utf-8").splitlines()
    return [line.partition("\t")[2] for line in lines if line and not line.startswith("#")]


def cleaned(words: Iterable[str]) -> tuple[str, ...]:
    """Words as they are compared, each once."""
    return tuple(dict.fromkeys(key for word in words if (key := _key(word))))


def _read(words: Iterable[str], *, one: str) -> tuple[str, ...]:
    """Words as people read their look-alike characters; a 1 may mean two letters."""
    return tuple(
        word
        if word.isascii() and word.isalpha()
        else "".join(one if character == "1" else read_as(character) for character in word)
        for word in words
    )


def _key(word: str) -> str:
    return " ".join(_WORD.findall(_folded(word)))


def _folded(text: str) -> str:
    spread = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in spread if not unicodedata.combining(character))


UnfitKind = Literal["hand", "nudity", "word"]

NUDITY = 0.5  # score from which a picture is flagged (docs/models.md)
LIST_EDITS = "unfit words"  # in `meta`: what the library adds and removes, as JSON
SCHEME = "unfit v2"
_FIELDS = {"name": "name", "ticker": "ticker", "description": "description", "text": "text in the picture"}


def list_edits(db: sqlite3.Connection) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words that the library adds to the shipped list, and those that it removes."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", [LIST_EDITS]).fetchone()
    found = json.loads(row[0]) if row else {}
    return tuple(found.get("added", ())), tuple(found.get("removed", ()))


def refresh_unfit(db: sqlite3.Connection, number: int, *, words: UnfitWords | None = None) -> bool:
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
    words = words or unfit_words(*list_edits(db))
    for field, name in _FIELDS.items():
        if word := words.first_in(row[field] or ""):
            reasons["word"] = f"“{word}” in the {name}"
            break
    db.executemany("INSERT INTO unfit VALUES (?, ?, ?)", [(number, *each) for each in reasons.items()])
    return bool(reasons)


def unfit_reasons(db: sqlite3.Connection, address: str) -> dict[UnfitKind, str]:
    """Why the record at this address is unfit; empty if it is not."""
    rows = db.execute(
        "SELECT kind, reason FROM unfit WHERE record = (SELECT id FROM records WHERE address = ?)", [address]
    )
    return dict(rows.fetchall())


def unfit_pictures(db: sqlite3.Connection) -> frozenset[str]:
    """The hashes of the pictures of all records that are unfit."""
    rows = db.execute("SELECT image_hash FROM records WHERE id IN (SELECT record FROM unfit)")
    return frozenset(row[0] for row in rows)
