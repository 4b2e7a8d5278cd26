"""What the co-pilot looks at: everything that is computed of a coin anyway, as it was at a moment.

Words of its name, ticker, texts, tags and picture; letters in disguise; the numbers of its sidecar; faults of
the picture; and earlier coins like it: how alike, in what, and what had become of them by then.
"""

import json
import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from math import log1p
from typing import Any, NamedTuple

import numpy as np

from store.catalog import confusables
from store.errors import MemedexError
from store.reading.reader import Reader
from store.records import PICTURE_TEXT
from store.rules import matching
from store.rules.learning import Coin, Floats
from store.rules.matching import NOW

_WORD = re.compile(r"\w+")
_MOST_WORDS = 60  # of one text
_MOST_ALIKE = 24  # earlier coins, the most alike
_FAMILY = 0.8  # how sure they are one coin or a copy, from which they are family
_NO_MEASURE = ("createdat", "decimals", "chainid")


class Moment(NamedTuple):
    """A coin at one time: before an event of the history, or now."""

    address: str
    sidecar_hash: str
    image_hash: str
    before: int = NOW


def of(reader: Reader, moments: Sequence[Moment]) -> list[Coin]:
    """The signals of these coins."""
    with reader.catalog.one_moment() as db:
        sidecars = _texts(
            db, "SELECT hash, text FROM sidecars", "hash", {one.sidecar_hash for one in moments}
        )
        pictures = {one.image_hash for one in moments}
        read = _texts(db, "SELECT image_hash, text FROM picture_texts", "image_hash", pictures)
        faults = dict[str, list[str]]()
        for row in _rows(db, "SELECT image_hash, fault FROM picture_faults", "image_hash", pictures):
            faults.setdefault(row[0], []).append(row[1])
        alike = matching.with_likenesses(db, [one.address for one in moments])
        found = []
        for one in moments:
            sidecar = json.loads(sidecars.get(one.sidecar_hash, "{}"))
            holds = {f"{fault} picture": 1.0 for fault in faults.get(one.image_hash, ()) if fault}
            name, ticker = str(sidecar.get("token_name", "")), str(sidecar.get("ticker", ""))
            if has_disguise(name) or has_disguise(ticker):
                holds["letters in disguise"] = 1.0
            if one.address in alike:
                holds |= _copies(db, one)
            numbers = {key: value for key, value in matching.numbers(sidecar) if key not in _NO_MEASURE}
            found.append(Coin(tuple(_words(sidecar, read.get(one.image_hash, ""))), numbers, holds))
    return found


def vectors(reader: Reader, addresses: Sequence[str]) -> tuple[Floats, str]:
    """The vectors (n, d) of these coins' pictures, zeros where there is none yet; and whose they are.

    Without a usable model that sees pictures d is 1, and the name is empty.
    """
    try:
        index = reader.picture_index()
    except MemedexError:
        return np.zeros((len(addresses), 1), np.float32), ""
    found = np.zeros((len(addresses), index.embedder.dimensions), np.float32)
    for at, address in enumerate(addresses):
        if (vector := index.vector(address)) is not None:
            found[at] = vector
    return found, index.embedder.fingerprint


def has_disguise(text: str) -> bool:
    """Whether a sign of another script stands for a Latin letter or a digit; accents do not count."""
    return not text.isascii() and any(
        not sign.isascii()
        and not unicodedata.normalize("NFD", sign)[0].isascii()
        and confusables.read_as(sign).isascii()
        and confusables.read_as(sign).isalnum()
        for sign in text
    )


def _words(sidecar: Mapping[str, Any], read: str) -> Iterator[str]:
    caption = sidecar.get("caption")
    texts = {
        "name": sidecar.get("token_name"),
        "ticker": sidecar.get("ticker"),
        "text": sidecar.get("description"),
        "picture": sidecar.get(PICTURE_TEXT) or read,
        "caption": " ".join(map(str, caption.values())) if isinstance(caption, dict) else "",
    }
    for place, text in texts.items():
        for word in _WORD.findall(confusables.plain(str(text or "")))[:_MOST_WORDS]:
            yield f"{place} {word}"
    for tag in sidecar.get("tags") or ():
        yield f"tag {tag}"


def _copies(db: sqlite3.Connection, one: Moment) -> dict[str, float]:
    """How alike earlier coins are, by what, and what they were then."""
    own = db.execute("SELECT id FROM records WHERE address = ?", [one.address]).fetchone()
    found: dict[str, float] = {}
    family = Counter[str]()
    for suspect, tier in islice(matching.in_any_tier(db, one.address, before=one.before), _MOST_ALIKE):
        other = db.execute("SELECT id FROM records WHERE address = ?", [suspect.other]).fetchone()
        if own is None or other is None or other[0] > own[0]:
            continue  # it came later
        then = {"trash": "rejected", "pending": "in review"}.get(tier, "approved")
        family[then] += suspect.confidence >= _FAMILY
        signals = [(f"like a coin {then}", suspect.confidence)]
        signals += [(f"copy: {finding.kind}", finding.confidence) for finding in suspect.findings]
        for name, sure in signals:
            found[name] = max(found.get(name, 0.0), sure)
    return found | {f"family {then}": log1p(count) for then, count in family.items() if count}


def _rows(db: sqlite3.Connection, select: str, key: str, among: Collection[str]) -> list[sqlite3.Row]:
    return db.execute(
        f"{select} WHERE {key} IN (SELECT value FROM json_each(?))", [json.dumps([*among])]
    ).fetchall()


def _texts(db: sqlite3.Connection, select: str, key: str, among: Collection[str]) -> dict[str, str]:
    return {row[0]: row[1] for row in _rows(db, select, key, among)}
