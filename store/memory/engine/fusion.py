"""Words and meaning together: the entries that fit a question best, each with both parts.

The score is the cosine plus `WEIGHT` times the words' part: an entry's BM25 as a share of the best entry's,
times the share of the question's telling words that it has, so between 0 and 1. Measured against reciprocal
ranks in `bench/retrieval.py`. Without a model the words' part alone decides.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from store.catalog.words import content_words, forms
from store.memory.engine import cjk_search
from store.memory.engine.kind import MemoryKind
from store.memory.engine.listing import conditions
from store.memory.engine.resident import Where

WEIGHT = 0.25
POOL = 50  # entries ranked by each part, at least


@dataclass(frozen=True, slots=True)
class PassageHit:
    """An entry, and what words and meaning each gave to its place."""

    row: dict[str, Any]
    score: float  # hits are ordered by it
    cosine: float | None  # None: the model is away, or the entry has no vector
    words: float  # the words' part, 0 to 1; 0: none of the question's words is in it
    found: tuple[str, ...]  # the question's telling words that are in it
    telling: int  # how many telling words the question has
    late_interaction: float | None = None  # −1 to 1, where it decided the place (`late_interaction.py`)

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
    found: Counter[str] = Counter()
    if terms := [
        f'"{form}"' for word in content_words(cjk_search.without_runs(question)) for form in forms(word)
    ]:
        rows = db.execute(
            "SELECT p.id, -bm25(words) AS score FROM words "
            f"CROSS JOIN {kind.table} p ON p.rowid = words.rowid "
            f"WHERE words MATCH ? AND {rowids} ORDER BY score DESC, p.id LIMIT ?",
            [" OR ".join(terms), *values, limit],
        )
        found.update({row["id"]: row["score"] for row in rows})
    texts = f"SELECT id, {kind.text} AS text FROM {kind.table} WHERE {filters}"
    found.update(cjk_search.scores(db, cjk_search.pairs(question), rows=texts, values=values))
    best = max(found.values(), default=0.0)
    ranked = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:limit]
    return {id: score / best if best > 0 else 1.0 for id, score in ranked}


def fused(
    rows: Sequence[dict[str, Any]],
    kind: MemoryKind,
    question: str,
    *,
    cosines: Mapping[str, float],
    words: Mapping[str, float],
) -> list[PassageHit]:
    """These entries by their score, best first; ties by id, so that answers are reproducible."""
    wanted = question_words(question)
    hits = []
    for row in rows:
        id, text = row["id"], " ".join(str(row[column]) for column in (kind.text, *kind.labels))
        found, cosine = words_in(text, wanted), cosines.get(row["id"])
        part = words.get(id, 0.0) * len(found) / max(1, len(wanted))
        hits.append(PassageHit(row, (cosine or 0.0) + WEIGHT * part, cosine, part, found, len(wanted)))
    return sorted(hits, key=lambda hit: (-hit.score, hit.row["id"]))


def question_words(question: str) -> tuple[str, ...]:
    """The telling words of a question; of Chinese, Japanese and Korean the pairs of neighbouring signs."""
    return (*content_words(cjk_search.without_runs(question)), *cjk_search.pairs(question))


def words_in(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """Those of these words that a text has, in the singular or the plural."""
    has = set(re.findall(r"\w+", text.lower()))
    return tuple(
        word for word in words if (word in text if cjk_search.runs(word) else not has.isdisjoint(forms(word)))
    )
