"""Words and meaning together: the entries that fit a question best, each with both parts.

The score is the cosine plus `WEIGHT` times the words' part: an entry's BM25 as a share of the best entry's,
times the share of the question's telling words that it has, so between 0 and 1. Measured against reciprocal
ranks in `bench/retrieval.py`. Without a model the words' part alone decides.

The first entries of an answer are then ordered by late interaction, where kind and model have it: each word
of the question, in its context, is compared with each word of the entry. An entry's closeness is the mean,
over the question's tokens, of the highest cosine to one of the entry's (source: Khattab and Zaharia 2020),
with the last layer's states of the same model that makes the vectors. States are stored at 4 bits a number
with the entries and computed for those that have none; triggers delete them with their text.
"""

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.catalog.words import cjk_pairs, forms, question_words, telling_words, words_in
from store.disk.sqlite_values import marks
from store.embedding.protocol import TokenEmbedder, unit
from store.memory.engine.database import Database
from store.memory.engine.kind import MemoryKind
from store.memory.engine.listing import conditions
from store.memory.engine.resident import Where

WEIGHT = 0.25
POOL = 50  # entries ranked by each part, at least
FIRST = 30  # entries that are ordered; the right one is among the first 20 as often
_BATCH = 64  # entries whose states are computed and stored together
_STEPS = 7  # on either side of 0: a number has 4 bits

States = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EntryHit:
    """An entry, and what words and meaning each gave to its place."""

    row: dict[str, Any]
    score: float  # hits are ordered by it
    cosine: float | None  # None: the model is away, or the entry has no vector
    words: float  # the words' part, 0 to 1; 0: none of the question's words is in it
    found: tuple[str, ...]  # the question's telling words that are in it
    telling: int  # how many telling words the question has
    late_interaction: float | None = None  # −1 to 1, where it decided the place
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
    words = telling_words(question)
    if terms := [f'"{form}"' for word in words for form in forms(word)]:
        rows = db.execute(
            f"SELECT p.id, -bm25({kind.words}) AS score FROM {kind.words} "
            f"CROSS JOIN {kind.table} p ON p.rowid = {kind.words}.rowid "
            f"WHERE {kind.words} MATCH ? AND {rowids} ORDER BY score DESC, p.id LIMIT ?",
            [" OR ".join(terms), *values, limit],
        )
        found.update({row["id"]: row["score"] for row in rows})
    texts = f"SELECT id, {kind.text} AS text FROM {kind.table} WHERE {filters}"
    for id, score in pair_scores(db, cjk_pairs(question), rows=texts, values=values).items():
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
        rows = db.execute(  # most entries share theirs with others
            f"SELECT {label}, json_group_array(id) FROM {kind.table} WHERE {filters} AND {label} != '[]' "
            f"GROUP BY {label}",
            values,
        )
        for labels, ids in rows:
            if words_in(" ".join(json.loads(labels)), words):
                found |= {*json.loads(ids)}
    return found


def pair_scores(
    db: sqlite3.Connection, wanted: Sequence[str], *, rows: str, values: Sequence[Any]
) -> dict[str, float]:
    """For each id the sum of the weights of the pairs in its text; rare pairs weigh more.

    Full text knows Chinese, Japanese and Korean only as whole runs without a space, so the texts themselves
    are read: `rows` is SQL that selects `id` and `text` of the entries, with these values.
    """
    if not wanted:
        return {}
    any_of = " OR ".join("instr(text, ?)" for _ in wanted)
    found = db.execute(f"SELECT id, text FROM ({rows}) WHERE {any_of}", [*values, *wanted]).fetchall()
    having = {row["id"]: [pair for pair in wanted if pair in row["text"]] for row in found}
    count = {pair: sum(pair in has for has in having.values()) for pair in wanted}
    weight = {pair: math.log(1 + len(found) / count[pair]) for pair in wanted if count[pair]}
    return {id: sum(weight[pair] for pair in has) for id, has in having.items()}


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


def packed(states: States) -> bytes:
    """Unit rows of an even length as bytes, each number as a share of its row's largest."""
    largest = np.abs(states).max(axis=1, keepdims=True, initial=1e-12)
    steps = (np.rint(states / largest * _STEPS) + _STEPS + 1).astype(np.uint8)
    pairs: NDArray[np.uint8] = steps[:, 0::2] << 4 | steps[:, 1::2]
    return pairs.tobytes()


def unpacked(stored: bytes, dimensions: int) -> States:
    """The unit rows of `packed`, within 4 bits."""
    pairs = np.frombuffer(stored, np.uint8).reshape(-1, dimensions // 2)
    steps = np.empty((len(pairs), dimensions), np.float32)
    steps[:, 0::2], steps[:, 1::2] = pairs >> 4, pairs & 15
    return unit(steps - (_STEPS + 1))


def closeness(question: States, entry: States) -> float:
    """The mean of the best cosines: from -1 to 1, 0 if one of them has no tokens."""
    if not len(question) or not len(entry):
        return 0.0
    return float((question @ entry.T).max(axis=1).mean())


def add_states(database: Database, kind: MemoryKind, ids: Sequence[str], model: TokenEmbedder) -> None:
    """Compute and store the states of those of these entries that have none of this model."""
    for start in range(0, len(ids), _BATCH):
        part = ids[start : start + _BATCH]
        with database.reading() as db:
            rows = db.execute(
                f"SELECT id, {kind.text} AS text FROM {kind.table} WHERE id IN ({marks(part)}) "
                "AND id NOT IN (SELECT id FROM token_states WHERE model = ?)",
                [*part, model.name],
            ).fetchall()
        if not rows:
            continue
        states = model.embed_tokens([row["text"] for row in rows])
        with database.recording() as db:
            for row, own in zip(rows, states, strict=True):
                db.execute(  # unless it was changed or removed meanwhile
                    "INSERT OR REPLACE INTO token_states SELECT id, ?, ?, ? "
                    f"FROM {kind.table} WHERE id = ? AND {kind.text} = ?",
                    [model.name, own.shape[1], packed(own), row["id"], row["text"]],
                )


def stored_states(database: Database, ids: Sequence[str], model: str) -> dict[str, States]:
    """The stored states of these entries by this model, by id."""
    with database.reading() as db:
        rows = db.execute(
            f"SELECT * FROM token_states WHERE model = ? AND id IN ({marks(ids)})", [model, *ids]
        ).fetchall()
    return {row["id"]: unpacked(row["states"], row["dimensions"]) for row in rows}


def ordered(hits: Sequence[EntryHit], question: States, states: Mapping[str, States]) -> list[EntryHit]:
    """The first hits by their closeness, then the others, none with a higher score than the last of them."""
    first = []
    for hit in hits[:FIRST]:
        close = closeness(question, states[hit.row["id"]])
        first.append(replace(hit, score=close, late_interaction=close))
    first.sort(key=lambda hit: (-hit.score, hit.row["id"]))
    least = first[-1].score if first else 0.0
    return first + [replace(hit, score=min(hit.score, least)) for hit in hits[FIRST:]]
