"""Words and meaning together: the entries that fit a question best, each with both parts.

The score is the cosine plus `WEIGHT` times the words' part: an entry's BM25 as a share of the best entry's,
times the share of the question's telling words that it has, so between 0 and 1. Measured against reciprocal
ranks in `bench/retrieval.py`. Without a model the words' part alone decides.
"""

import json
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from store.catalog.words import content_words, forms
from store.memory.engine import cjk_search
from store.memory.engine.kind import MemoryKind
from store.memory.engine.listing import conditions
from store.memory.engine.resident import Where

WEIGHT = 0.25
POOL = 50  # entries ranked by each part, at least
_MOST_WORDS = 16  # of a question without a telling one


@dataclass(frozen=True, slots=True)
class EntryHit:
    """An entry, and what words and meaning each gave to its place."""

    row: dict[str, Any]
    score: float  # hits are ordered by it
    cosine: float | None  # None: the model is away, or the entry has no vector
    words: float  # the words' part, 0 to 1; 0: none of the question's words is in it
    found: tuple[str, ...]  # the question's telling words that are in it
    telling: int  # how many telling words the question has
    late_interaction: float | None = None  # −1 to 1, where it decided the place (`late_interaction.py`)
    is_alone: bool = False  # it has a word of the question that no other entry has; only for memories
    is_common: bool = (
        False  # of several telling words it has a single one, and that is a common word; as well
    )

    def answers(self, least: float) -> bool:
        """Whether it may answer the question at all; while the model is away, nothing tells."""
        return self.cosine is None or self.score >= least

    def parts(self) -> dict[str, Any]:
        """What gave the hit its place, for an answer in JSON."""
        late = {} if self.late_interaction is None else {"late_interaction": round(self.late_interaction, 4)}
        return {"meaning": self.cosine, "words": round(self.words, 4), "words_found": [*self.found], **late}


def word_shares(
    db: sqlite3.Connection, kind: MemoryKind, question: str, where: Where, *, limit: int
) -> dict[str, float]:
    """BM25 of the entries that have any telling word of the question, as a share of the best, by id."""
    filters, values = conditions(kind, "", where, None)
    rowids = f"p.rowid IN (SELECT rowid FROM {kind.table} WHERE {filters})" if where else "TRUE"
    found = dict[str, float]()
    words = _words(question)
    if terms := [f'"{form}"' for word in words for form in forms(word)]:
        rows = db.execute(
            f"SELECT p.id, -bm25({kind.words}) AS score FROM {kind.words} "
            f"CROSS JOIN {kind.table} p ON p.rowid = {kind.words}.rowid "
            f"WHERE {kind.words} MATCH ? AND {rowids} ORDER BY score DESC, p.id LIMIT ?",
            [" OR ".join(terms), *values, limit],
        )
        found.update({row["id"]: row["score"] for row in rows})
    texts = f"SELECT id, {kind.text} AS text FROM {kind.table} WHERE {filters}"
    for id, score in cjk_search.scores(db, cjk_search.pairs(question), rows=texts, values=values).items():
        found[id] = found.get(id, 0.0) + score
    best = max(found.values(), default=0.0)
    ranked = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:limit]
    labelled = sorted(_labelled(db, kind, words, filters, values))[:limit]
    return {id: score / best if best > 0 else 1.0 for id, score in ranked} | dict.fromkeys(labelled, 1.0)


def _labelled(
    db: sqlite3.Connection, kind: MemoryKind, words: Sequence[str], filters: str, values: Sequence[Any]
) -> set[str]:
    """The entries that have one of these words in a label, which full text does not know."""
    found = set[str]()
    for label in kind.labels if words else ():
        alike = f"SELECT {label}, json_group_array(id) FROM {kind.table} WHERE {filters} GROUP BY {label}"
        for labels, ids in db.execute(alike, values):  # most entries share theirs with others
            if words_in(" ".join(json.loads(labels)), words):
                found |= {*json.loads(ids)}
    return found


def fused(
    rows: Sequence[dict[str, Any]],
    kind: MemoryKind,
    question: str,
    *,
    cosines: Mapping[str, float],
    words: Mapping[str, float],
) -> list[EntryHit]:
    """These entries by their score, best first; ties by id, so that answers are reproducible."""
    wanted = question_words(question)
    hits = []
    for row in rows:
        id, text = row["id"], searched_text(row, kind)
        found, cosine = words_in(text, wanted), cosines.get(row["id"])
        part = words.get(id, 0.0) * len(found) / max(1, len(wanted))
        hits.append(EntryHit(row, (cosine or 0.0) + WEIGHT * part, cosine, part, found, len(wanted)))
    return sorted(hits, key=lambda hit: (-hit.score, hit.row["id"]))


def searched_text(row: Mapping[str, Any], kind: MemoryKind) -> str:
    """The text of an entry and the words of its labels."""
    return " ".join([row[kind.text], *(one for label in kind.labels for one in json.loads(row[label]))])


def question_words(question: str) -> tuple[str, ...]:
    """The telling words of a question; of Chinese, Japanese and Korean the pairs of neighbouring signs."""
    return (*_words(question), *cjk_search.pairs(question))


def words_in(
    text: str, words: Sequence[str], *, variants: Callable[[str], Iterable[str]] = forms
) -> tuple[str, ...]:
    """Those of these words that a text has, with or without accents, in the singular or the plural.

    `variants` gives another choice of what counts as the same word.
    """
    has = set(re.findall(r"\w+", _plain(text)))
    return tuple(
        word
        for word in words
        if (word in text if cjk_search.runs(word) else not has.isdisjoint(_as_compared(word, variants)))
    )


@lru_cache(maxsize=256)  # a question's words are looked for in hundreds of texts
def _as_compared(word: str, variants: Callable[[str], Iterable[str]]) -> frozenset[str]:
    return frozenset(map(_plain, variants(word)))


def _words(question: str) -> tuple[str, ...]:
    """The telling words; all words if none tells more than the others, as in "Who" or "May I"."""
    rest = cjk_search.without_runs(question)
    every = dict.fromkeys(re.findall(r"\w+", rest.lower()))
    return content_words(rest) or (() if cjk_search.runs(question) else tuple(every)[:_MOST_WORDS])


def _plain(text: str) -> str:
    """A text in lower case without accents, as full text compares it."""
    whole = unicodedata.normalize("NFKD", text.lower())
    return whole if whole.isascii() else "".join(sign for sign in whole if not unicodedata.combining(sign))
