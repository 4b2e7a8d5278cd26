"""Search transcripts by words, by meaning, or by both; by content type; one hit for each message."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args

from store.catalog.filters import matching
from store.catalog.words import any_of, best_rows, cjk_runs, content_words, question_words
from store.disk.sqlite import marks
from store.embedding.protocol import Vector
from store.memory.engine.entries import Entries
from store.memory.engine.fusion import diverse_order, pair_scores
from store.memory.engine.inputs import InvalidInput, checked_count
from store.memory.engine.kind import MOMENTS, Where
from store.memory.text.extraction import CONTENT_TYPES
from store.memory.transcripts.tables import KIND

_T = TypeVar("_T")
Mode = Literal["full_text", "semantic", "hybrid"]
BY_WORDS = "the model is away: words alone were compared"
RESULTS = 10
EXACT = 20_000  # rows with any of the words that are all ranked; of more …
NEWEST = 5_000  # … the last imported ones are: such words distinguish no message from another
_RANK = 60  # reciprocal rank fusion: 1 / (60 + rank), as it was published
_LEAST = 50  # messages that are ranked, at least
_INDEXED = {  # by full-text index: its table, that table's row number, and what is read of a row
    "transcript_vectors_words": ("transcript_vectors v", "v.rowid", "v.id, v.parent_id"),
    "transcripts_words": ("transcripts t", "t.rowid", "t.id"),
}


@dataclass(slots=True)
class MessageHit:
    """A message, its best chunk, and why it was found."""

    message: dict[str, Any]  # the row of `transcripts`
    score: float  # semantic: cosine; full_text: 1 / rank; hybrid: both ranks fused, 1 for first in both
    chunk: dict[str, Any] | None = None  # the row of `transcript_vectors` that fits best
    cosine: float | None = None  # None: nothing of it has a vector, or only words were asked for
    words_rank: int | None = None  # from 1
    other_chunks: list[str] = field(default_factory=list)  # ids of further chunks that were found


class FoundMessages(list[_T]):
    """The messages that a search found, best first, and whether it had to do without the model."""

    def __init__(self, found: Iterable[_T] = (), *, by_words_alone: bool) -> None:
        super().__init__(found)
        self.by_words_alone = by_words_alone  # although meaning was asked for


@dataclass(slots=True)
class _Candidate:
    parent: str
    chunks: list[str] = field(default_factory=list)  # best first
    cosine: float | None = None
    words_rank: int | None = None
    score: float = 0.0


def search(
    entries: Entries,
    question: str,
    *,
    mode: Mode,
    where: Where,
    n: int,
    mmr: float | None,
    vector: Vector | None = None,
    floor: float | None = None,
) -> FoundMessages[MessageHit]:
    """The n best messages, none with a cosine below `floor`; by words alone while the model is away."""
    if mode not in get_args(Mode):
        raise InvalidInput(f"there is no search {mode!r}; choose one of {', '.join(get_args(Mode))}")
    types = where.get("content_type", ())
    given = [types] if isinstance(types, str | int | float) else types
    if unknown := [kind for kind in given if kind not in CONTENT_TYPES]:
        raise InvalidInput(f"there is no type of content {unknown[0]!r}; they are {', '.join(CONTENT_TYPES)}")
    checked_count(n, what="n")
    ranked = n if mmr is None else 4 * n
    pool = max(_LEAST, ranked)
    found: dict[str, _Candidate] = {}
    if mode != "full_text" and vector is None:
        vector = entries.question_or_none(question)
    is_away = mode != "full_text" and vector is None
    if is_away and mode == "semantic":
        mode = "full_text"
    if mode != "full_text" and vector is not None:
        _by_meaning(entries, vector, where, pool, found)
    if mode in ("full_text", "hybrid"):
        with entries.database.reading() as db:
            if cjk_runs(question):
                _by_signs(entries, db, question, where, pool, found)
            else:
                any(_by_words(db, words, where, pool, found) for words in _queries(db, question))
    _leave_out_never_recalled(entries, found)
    _score(found, mode)
    if floor is not None:
        if vector is None:
            vector = entries.question(question)
        _complete(entries, vector, [*found.values()])
        found = {id: one for id, one in found.items() if one.cosine is not None and one.cosine >= floor}
    candidates = sorted(found.values(), key=lambda one: (-one.score, one.parent))
    if mmr is not None:
        candidates = _diverse(entries, candidates[:pool], n, mmr)
    if vector is not None:
        _complete(entries, vector, candidates[:n])
    return FoundMessages(_hits(entries, candidates[:n]), by_words_alone=is_away)


def _leave_out_never_recalled(entries: Entries, found: dict[str, _Candidate]) -> None:
    """Drop chunks that are never recalled, and messages of which nothing else was found."""
    never = entries.never_recalled()
    for row in entries.rows(never):
        one = found.get(row["parent_id"])
        if one is not None:
            one.chunks = [id for id in one.chunks if id not in never]
            if not one.chunks:
                del found[row["parent_id"]]


def _by_meaning(
    entries: Entries, vector: Vector, where: Where, pool: int, found: dict[str, _Candidate]
) -> None:
    """Chunks by cosine, grouped by message, until there are enough messages."""
    scores = entries.scores(vector, where)
    count = 2 * pool
    while True:
        best = scores.best(count)
        rows = {row["id"]: row["parent_id"] for row in entries.rows([*best])}
        if len(set(rows.values())) >= pool or len(best) < count:
            break
        count *= 4
    for id, cosine in best.items():
        if (parent := rows.get(id)) is None:  # removed a moment ago
            continue
        if parent not in found and len(found) == pool:
            continue
        one = found.setdefault(parent, _Candidate(parent, cosine=cosine))
        one.chunks.append(id)


def _queries(db: sqlite3.Connection, question: str) -> list[str]:
    """FTS5 queries for a question, tried until one finds something: its telling words, then beginnings.

    BM25 puts a message with more of the words, and with rarer ones, first. Quoted text is looked for
    exactly. Of words that are in many rows only the rarest are looked for, as long as others are left.
    """
    beginnings = matching(question)  # they cost a hundred times as much in a large index
    if '"' in question:
        return [beginnings.replace('"*', '"'), beginnings]
    rows = {
        either: _nth_newest(db, KIND.words, "TRUE", [either], EXACT) is None
        for word in content_words(question)
        if (either := any_of([word]))
    }
    telling = [either for either, is_rare in rows.items() if is_rare] or [*rows]
    return [" OR ".join(telling) or beginnings.replace('"*', '"'), beginnings]


def _by_words(
    db: sqlite3.Connection, words: str, where: Where, pool: int, found: dict[str, _Candidate]
) -> int:
    """Chunks and, without a content type, messages by BM25, grouped; returns how many messages."""
    best: dict[str, tuple[float, str | None]] = {}
    for row in _ranked(db, words, _conditions(where, "v"), index="transcript_vectors_words", limit=4 * pool):
        if row["parent_id"] not in best:
            best[row["parent_id"]] = (row["score"], row["id"])
        if row["parent_id"] in found and row["id"] not in found[row["parent_id"]].chunks:
            found[row["parent_id"]].chunks.append(row["id"])
    if "content_type" not in where:
        for row in _ranked(db, words, _conditions(where, "t"), index="transcripts_words", limit=pool):
            score, chunk = best.get(row["id"], (row["score"], None))
            best[row["id"]] = (max(score, row["score"]), chunk)
    return _note_ranks(best, pool, found)


def _by_signs(
    entries: Entries,
    db: sqlite3.Connection,
    question: str,
    where: Where,
    pool: int,
    found: dict[str, _Candidate],
) -> None:
    """Chunks and, without a content type, messages that have parts of a Chinese, Japanese or Korean run."""
    wanted, best = question_words(question), dict[str, tuple[float, str | None]]()
    conditions, values = _conditions(where, "v")
    texts = f"SELECT v.id, v.source_text AS text FROM transcript_vectors v WHERE {conditions}"
    chunks = pair_scores(db, wanted, rows=texts, values=values)
    for row in entries.rows(sorted(chunks, key=lambda id: (-chunks[id], id))[: 4 * pool]):
        best.setdefault(row["parent_id"], (chunks[row["id"]], row["id"]))
    if "content_type" not in where:
        conditions, values = _conditions(where, "t")
        texts = f"SELECT t.id, coalesce(t.text_content, '') AS text FROM transcripts t WHERE {conditions}"
        for id, score in pair_scores(db, wanted, rows=texts, values=values).items():
            most, chunk = best.get(id, (score, None))
            best[id] = (max(most, score), chunk)
    _note_ranks(best, pool, found)


def _note_ranks(best: dict[str, tuple[float, str | None]], pool: int, found: dict[str, _Candidate]) -> int:
    """Give the best messages by words their ranks; `best` has BM25 and the chunk."""
    order = sorted(best, key=lambda parent: (-best[parent][0], parent))[:pool]
    for number, parent in enumerate(order, start=1):
        one = found.setdefault(parent, _Candidate(parent))
        one.words_rank = number
        if not one.chunks and (chunk := best[parent][1]):
            one.chunks.append(chunk)
    return len(order)


def _ranked(
    db: sqlite3.Connection, words: str, conditions: tuple[str, list[Any]], *, index: str, limit: int
) -> list[sqlite3.Row]:
    """The best rows for these words, with BM25 as `score`; of more than `EXACT` only the `NEWEST`."""
    table, number, columns = _INDEXED[index]
    passing, values = conditions
    among, after = "TRUE", -1
    is_common = _nth_newest(db, index, among, [words], EXACT) is not None
    if values:
        # Of a common word the rows that pass are looked up once, of another one each row that has it.
        among = (
            f"+rowid IN (SELECT {number} FROM {table} WHERE {passing})"
            if is_common
            else f"EXISTS (SELECT 1 FROM {table} WHERE {number} = {index}.rowid AND {passing})"
        )
    if is_common and _nth_newest(db, index, among, [words, *values], EXACT) is not None:
        after = _nth_newest(db, index, among, [words, *values], NEWEST) or after
    best = best_rows(index, among=f"{among} AND rowid > ?")
    query = f"SELECT {columns}, w.score FROM ({best}) w CROSS JOIN {table} ON {number} = w.rowid"
    return db.execute(f"{query} ORDER BY w.score DESC", [words, *values, after, limit]).fetchall()


def _nth_newest(
    db: sqlite3.Connection, index: str, among: str, values: Sequence[Any], place: int
) -> int | None:
    """The number of the row at this place, from 0, from the last imported one back; None beyond the first."""
    numbers = (
        f"SELECT rowid FROM {index} WHERE {index} MATCH ? AND {among} ORDER BY rowid DESC LIMIT 1 OFFSET ?"
    )
    row = db.execute(numbers, [*values, place]).fetchone()
    return int(row[0]) if row else None


def _score(found: dict[str, _Candidate], mode: Mode) -> None:
    by_meaning = sorted(
        (one for one in found.values() if one.cosine is not None), key=lambda one: -(one.cosine or 0)
    )
    place = {one.parent: number for number, one in enumerate(by_meaning, start=1)}
    for one in found.values():
        if mode == "semantic":
            one.score = one.cosine or 0.0
        elif mode == "full_text":
            one.score = 1 / (one.words_rank or 1)
        else:
            ranks = [rank for rank in (place.get(one.parent), one.words_rank) if rank]
            one.score = sum((_RANK + 1) / (_RANK + rank) for rank in ranks) / 2


def _diverse(
    entries: Entries, candidates: Sequence[_Candidate], n: int, trade_off: float
) -> list[_Candidate]:
    """By marginal relevance; a message found by words alone counts as unlike every other."""
    ids = [one.chunks[0] if one.chunks else None for one in candidates]
    order = diverse_order(entries, ids, [one.score for one in candidates], n=n, trade_off=trade_off)
    return [candidates[place] for place in order]


def _complete(entries: Entries, vector: Vector, candidates: Sequence[_Candidate]) -> None:
    """Add the cosines of those found by words alone; their ranks stay."""
    unscored = {one.chunks[0]: one for one in candidates if one.cosine is None and one.chunks}
    for id, cosine in entries.cosines(vector, unscored).items():
        unscored[id].cosine = cosine


def _hits(entries: Entries, candidates: Sequence[_Candidate]) -> list[MessageHit]:
    chunks = {row["id"]: row for row in entries.rows([one.chunks[0] for one in candidates if one.chunks])}
    rows = entries.database.rows(
        f"SELECT * FROM transcripts WHERE id IN ({marks(candidates)})", [one.parent for one in candidates]
    )
    messages = {row["id"]: dict(row) for row in rows}
    return [
        MessageHit(
            message=messages[one.parent],
            score=one.score,
            chunk=chunks.get(one.chunks[0]) if one.chunks else None,
            cosine=one.cosine,
            words_rank=one.words_rank,
            other_chunks=one.chunks[1:],
        )
        for one in candidates
        if one.parent in messages
    ]


def _conditions(where: Where, table: str) -> tuple[str, list[Any]]:
    parts, values = ["TRUE"], list[Any]()
    for column, wanted in where.items():
        some = [wanted] if isinstance(wanted, str | int | float) else [*wanted]
        if sign := MOMENTS.get(column):
            owner = "t.id" if table == "t" else f"{table}.parent_id"
            parts.append(
                f"{owner} IN (SELECT id FROM transcripts WHERE unixepoch(coalesce(ts, synced_at)) {sign} ?)"
            )
            values.append(some[0])
            continue
        parts.append(f"{table}.{column} IN ({', '.join('?' * len(some))})")
        values += some
    return " AND ".join(parts), values
