"""Words and meaning together: the entries that fit a question best, each with both parts.

The score is the cosine plus `WEIGHT` times the words' part: an entry's BM25 as a share of the best entry's,
times the share of the question's telling words that it has, so between 0 and 1. Measured against reciprocal
ranks in `bench/retrieval.py`. Without a model the words' part alone decides.

The first entries of an answer are then ordered by late interaction, where kind and model have it: each word
of the question, in its context, is compared with each word of the entry. An entry's closeness is the mean,
over the question's tokens, of the highest cosine to one of the entry's (source: Khattab and Zaharia 2020),
with the last layer's states of the same model that makes the vectors. States are stored at 4 bits a number
with the entries and computed for those that have none; triggers delete them with their text.

Whether an entry answers at all, in kinds with a floor, is its closeness and a quarter of how close the
question's strangest token comes to any entry, against what the best of so many unrelated entries reaches.
"""

import contextlib
import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from store.catalog.words import any_of, best_rows, cjk_pairs, question_words, telling_words, words_in
from store.disk.sqlite import marks
from store.embedding.protocol import ForeignReader, TokenEmbedder, Vector, unit
from store.errors import NotWritten
from store.memory.engine.database import Database
from store.memory.engine.entries import Entries
from store.memory.engine.inputs import InvalidInput
from store.memory.engine.kind import GIVEN, TEXT, MemoryKind, Row, Where
from store.memory.engine.retrievals import KeptEntry
from store.progress import batches

WEIGHT = 0.25
POOL = 50  # entries ranked by each part, at least
FIRST = 30  # entries that are ordered; the right one is among the first 20 as often
# The floor of late interaction, of n entries: the highest of n normal values is about their deviation times
# √(2 ln n) above their mean. Measured: docs/memory.md.
_STRANGEST, _MEAN, _DEVIATION, _FEW = 0.25, 0.283, 0.06, 5
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
    answers: bool = True  # whether it fits enough to answer; while the model is away, nothing tells
    is_alone: bool = False  # it has a word of the question that no other entry has; only for memories
    is_common: bool = (
        False  # of several telling words it has a single one, and that is a common word; as well
    )

    def parts(self) -> dict[str, Any]:
        """What gave the hit its place, for an answer in JSON."""
        late = {} if self.late_interaction is None else {"late_interaction": round(self.late_interaction, 4)}
        return {"meaning": self.cosine, "words": round(self.words, 4), "words_found": [*self.found], **late}


class Retrieved(Protocol):
    """An entry that was handed out, however it was found."""

    @property
    def row(self) -> Row:
        """The entry that was found."""

    @property
    def score(self) -> float:
        """How well it fits; a higher score comes first."""


def best(entries: Entries, question: str, *, n: int, where: Where | None = None) -> list[EntryHit]:
    """The n entries that fit best by words and meaning together; by words alone while the model is away."""
    return best_with(entries, question, entries.question_or_none(question), n=n, where=where)


def best_with(
    entries: Entries, question: str, vector: Vector | None, *, n: int, where: Where | None = None
) -> list[EntryHit]:
    """As `best`, for a question that is embedded already; by words alone without a vector."""
    where = where or {}
    never = {*entries.never_recalled()}
    pool = max(n, POOL) + len(never)
    with entries.database.reading() as db:
        words = word_shares(db, entries.kind, question, where, limit=pool)
    cosines: dict[str, float] = {}
    if vector is not None:
        cosines = entries.nearest(vector, n=pool, where=where)
        cosines |= entries.cosines(vector, words.keys() - cosines)
    rows = entries.rows([id for id in dict.fromkeys((*cosines, *words)) if id not in never])
    hits = fused(rows, entries.kind, question, cosines=cosines, words=words)
    if vector is not None:
        least = entries.least
        hits = [
            hit if hit.cosine is None or hit.score >= least else replace(hit, answers=False) for hit in hits
        ]
        hits = _compared_by_token(entries, question, hits, where)
    return hits[:n]


def _compared_by_token(entries: Entries, question: str, hits: list[EntryHit], where: Where) -> list[EntryHit]:
    """The first ordered by late interaction, where kind and model have it and it reads the language."""
    model = entries.embedder
    if (
        not entries.kind.has_token_states
        or not isinstance(model, TokenEmbedder)
        or entries.not_read(question)
    ):
        return hits
    if isinstance(model, ForeignReader) and model.is_foreign(question):
        return hits  # its words are read by the model that reads English alone
    texts = {hit.row["id"]: str(hit.row[entries.kind.text]) for hit in hits[:FIRST]}
    if entries.can_write:
        add_token_states(entries, [*texts])
    states = stored_states(entries.database, [*texts], model.name)
    lacking = [id for id in texts if id not in states]
    states |= zip(lacking, model.embed_tokens([texts[id] for id in lacking]), strict=True)
    asked = model.embed_tokens([question])[0]
    if not len(asked):
        return hits
    count = max(entries.count(where=where), _FEW)
    floor = _MEAN + _DEVIATION * math.sqrt(2 * math.log(count)) if entries.least else -1.0
    return ordered(hits, asked, states, floor=floor)


def add_token_states(entries: Entries, ids: Sequence[str]) -> None:
    """Compute and store what late interaction needs of these entries; a full disk prevents no answer."""
    database, kind, model = entries.database, entries.kind, entries.embedder
    database.check_writable()
    if not kind.has_token_states or not isinstance(model, TokenEmbedder):
        return
    with contextlib.suppress(NotWritten):
        for part in batches(ids, _BATCH):
            rows = database.rows(
                f"SELECT id, {kind.text} AS text FROM {kind.table} WHERE id IN ({marks(part)}) "
                "AND id NOT IN (SELECT id FROM token_states WHERE model = ?)",
                [*part, model.name],
            )
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


def for_context(entries: Entries, question: str, *, n: int, where: Where | None = None) -> list[EntryHit]:
    """The pinned entries that pass the filters, and then the n others that fit the question best."""
    vector = entries.question_or_none(question)
    found = best_with(entries, question, vector, n=n + len(entries.pinned(where)), where=where)
    return pinned_first(entries, question, vector, found, n=n, where=where)


def pinned_first(
    entries: Entries, question: str, vector: Vector | None, found: Sequence[EntryHit], *, n: int,
    where: Where | None = None,
) -> list[EntryHit]:  # fmt: skip
    """The pinned entries that pass the filters, and then the first n others of what was found."""
    pinned = entries.pinned(where)
    known = {hit.row["id"]: hit for hit in found}
    rows = entries.rows([id for id in pinned if id not in known])
    cosines = {} if vector is None else entries.cosines(vector, [row["id"] for row in rows])
    hits = fused(rows, entries.kind, question, cosines=cosines, words={})
    known |= {hit.row["id"]: hit for hit in hits}
    others = [hit for hit in found if hit.row["id"] not in pinned]
    return [*(known[id] for id in pinned if id in known), *others[:n]]


def log_retrieval(
    entries: Entries,
    question: str,
    hits: Sequence[Retrieved],
    *,
    scope: str,
    n: int = 0,
    where: Where | None = None,
    threshold: float | None = None,
) -> None:
    """Log what was handed out for this question, and keep it to be asked again, as the settings say."""
    entries.actor.check_login()
    if entries._retrievals.days:
        found = [(hit.row["id"], _likeness(hit)) for hit in hits]
        keep_context(entries, question, found, scope=scope, n=n, where=where or {}, threshold=threshold)
    if entries._retrievals.detail:
        said = [(hit.row["id"], hit.score, hit.row[entries.kind.text]) for hit in hits]
        entries._retrievals.record(
            question, said, scope=scope, actor=entries.actor.name, at=entries.clock()
        )  # fmt: skip


def keep_context(
    entries: Entries, question: str, found: Sequence[tuple[str, float]], *, scope: str, n: int, where: Where,
    threshold: float | None = None,
) -> None:  # fmt: skip
    """Keep these ids with their present versions and their scores."""
    query = f"SELECT id, version FROM changes WHERE tbl = ? AND id IN {GIVEN}"
    ids = json.dumps([id for id, _ in found])
    versions = dict(entries.database.rows(query, [entries.kind.table, ids]))
    entries._retrievals.keep(
        question, [KeptEntry(id, versions.get(id, 0), score) for id, score in found], scope=scope, n=n,
        where=where, threshold=threshold, actor=entries.actor, at=entries.clock(),
    )  # fmt: skip


def _likeness(hit: Retrieved) -> float:
    """The cosine, 0 for one that words alone found; of a context's entry its score."""
    return hit.cosine or 0.0 if isinstance(hit, EntryHit) else hit.score


def word_shares(
    db: sqlite3.Connection, kind: MemoryKind, question: str, where: Where, *, limit: int
) -> dict[str, float]:
    """BM25 of the entries that have any telling word of the question, as a share of the best, by id."""
    filters, values = kind.conditions(where=where)
    table = kind.table
    among = f"rowid IN (SELECT rowid FROM {table} WHERE {filters})" if where else "TRUE"
    found = dict[str, float]()
    words = telling_words(question)
    if words:
        best = best_rows(kind.words, among=among)
        query = f"SELECT p.id, w.score FROM ({best}) w CROSS JOIN {table} p ON p.rowid = w.rowid"
        found.update(db.execute(query, [any_of(words), *values, limit]).fetchall())
    texts = f"SELECT id, {kind.text} AS text FROM {table} WHERE {filters}"
    for id, score in pair_scores(db, cjk_pairs(question), rows=texts, values=values).items():
        found[id] = found.get(id, 0.0) + score
    most = max(found.values(), default=0.0)
    ranked = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:limit]
    labelled = sorted(_labelled(db, kind, words, filters, values))[:limit]
    return {id: score / most if most > 0 else 1.0 for id, score in ranked} | dict.fromkeys(labelled, 1.0)


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


def closest(question: States, entry: States) -> Vector:
    """(tokens,): each of the question's tokens' highest cosine to one of the entry's; 0 if it has none."""
    if not len(entry):
        return np.zeros(len(question), np.float32)
    return np.asarray((question @ entry.T).max(axis=1), np.float32)


def stored_states(database: Database, ids: Sequence[str], model: str) -> dict[str, States]:
    """The stored states of these entries by this model, by id."""
    rows = database.rows(
        f"SELECT * FROM token_states WHERE model = ? AND id IN ({marks(ids)})", [model, *ids]
    )
    return {row["id"]: unpacked(row["states"], row["dimensions"]) for row in rows}


def ordered(
    hits: Sequence[EntryHit], question: States, states: Mapping[str, States], *, floor: float
) -> list[EntryHit]:
    """The first hits by their closeness, then the others, none with a higher score than the last of them."""
    near = [closest(question, states[hit.row["id"]]) for hit in hits[:FIRST]]
    if near:
        floor -= _STRANGEST * float(np.max(near, axis=0).min())
    closeness = [float(own.mean()) for own in near]
    first = [
        replace(hit, score=close, late_interaction=close)
        for hit, close in zip(hits[:FIRST], closeness, strict=True)
    ]
    first.sort(key=lambda hit: (-hit.score, hit.row["id"]))
    least = first[-1].score if first else 0.0
    others = [replace(hit, score=min(hit.score, least)) for hit in hits[FIRST:]]
    return [replace(hit, answers=hit.score >= floor) for hit in first + others]


def diverse_order(
    entries: Entries, ids: Sequence[str | None], relevance: Sequence[float], *, n: int, trade_off: float
) -> list[int]:
    """The positions of n of these entries by `mmr_ranking`; one without a vector is unlike every other."""
    known = entries.resident().of((id for id in ids if id), TEXT)
    size = len(next(iter(known.values()))) if known else 1
    vectors = np.zeros((len(ids), size), np.float32)
    for row, id in zip(vectors, ids, strict=True):
        if id in known:
            row[:] = known[id]
    return mmr_ranking(relevance, vectors, k=n, trade_off=trade_off)


def mmr_ranking(
    relevance: Sequence[float], vectors: NDArray[np.float32], *, k: int, trade_off: float
) -> list[int]:
    """The positions of the k best, in order.

    Each has the largest λ·relevance − (1 − λ)·(highest cosine to those before it). λ is `trade_off`: 1 ranks
    by relevance alone, 0 by novelty alone; the first is the most relevant in either case. Expects unit rows;
    ties go to the earlier position.

    Raises InvalidInput if λ is not from 0 to 1.
    """
    if not 0 <= trade_off <= 1:
        raise InvalidInput(f"λ has to be from 0 to 1, not {trade_off!r}")
    if not relevance:
        return []
    worth = np.asarray(relevance, dtype=np.float64)
    likest = np.full(len(worth), -np.inf)  # cosine to what was chosen so far
    left = np.ones(len(worth), np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(k, len(worth)):
        values = trade_off * worth - (1 - trade_off) * likest if chosen else worth
        best = int(np.argmax(np.where(left, values, -np.inf)))
        chosen.append(best)
        left[best] = False
        likest = np.maximum(likest, vectors @ vectors[best])
    return chosen
