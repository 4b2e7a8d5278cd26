"""One question to one kind of memory, with near misses and what excluded them.

Transcripts are probed by message, as their search works: several chunks of one message are one hit.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from store.embedding.protocol import Vector
from store.memory.engine.entries import Entries
from store.memory.engine.fusion import POOL, WEIGHT, EntryHit
from store.memory.engine.inputs import checked_count, checked_text
from store.memory.engine.kind import Row
from store.memory.engine.resident import Where
from store.memory.engine.settings import MEASURED
from store.memory.kinds import MEMORIES, TRANSCRIPTS
from store.memory.opened import OpenedMemory
from store.memory.text.mmr import diverse_order
from store.memory.transcripts import search
from store.memory.transcripts.search import FoundMessages, MessageHit, Mode

KeptOut = Literal["", "filter", "threshold", "n", "budget", "never"]
_NEAR = 10
_POOL = 4  # times as many entries are compared for diversity
_STRONG = 0.35  # of meaning by MEASURED and words; so much answers a question to papers (docs/memory.md)
_STRONG_DEVIATIONS = 2.0  # for models whose cosines were not measured


@dataclass(frozen=True, slots=True)
class ProbeCandidate:
    """An entry, what meaning and words gave it, and why the model would not see it ("" if it would)."""

    row: Row
    score: float | None  # the cosine; None where words alone were compared
    calibrated: float | None  # deviations above the mean of all entries of this kind, for this question
    kept_out: KeptOut
    words: float = 0.0  # as in `EntryHit`
    late_interaction: float | None = None
    is_measured: bool = False  # whether one of MEASURED compared the meaning

    @property
    def is_strong(self) -> bool:
        """Whether it fits so well that it may answer the question."""
        return _is_strong(self)

    @property
    def fit(self) -> float:
        """Meaning and words together, as the score of `EntryHit`."""
        return (self.score or 0.0) + WEIGHT * self.words


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of a probe; hits and misses each best first."""

    question: str
    hits: list[ProbeCandidate]
    misses: list[ProbeCandidate]
    compared: int  # entries
    by_meaning: bool  # False: the model is away
    model_seconds: float
    search_seconds: float


@dataclass(frozen=True, slots=True)
class ProbeMessage:
    """A message that was found, and why the model would not see it ("" if it would)."""

    hit: MessageHit
    calibrated: float | None  # as for a candidate; None where nothing was compared by meaning
    kept_out: KeptOut
    is_measured: bool = False

    @property
    def is_strong(self) -> bool:
        """As of a candidate."""
        return _is_strong(self)

    @property
    def text(self) -> str:
        """The text that was compared, else the text of the message."""
        return str((self.hit.chunk or {}).get("source_text") or self.hit.message["text_content"] or "")

    @property
    def row(self) -> Row:
        """Its best chunk; without one the message, in the columns of a chunk."""
        message = self.hit.message
        return self.hit.chunk or {
            **message, "parent_id": message["id"], "content_type": message["role"], "total_chunks": 1,
            "source_text": self.text,
        }  # fmt: skip

    @property
    def score(self) -> float | None:
        """The cosine, as for a candidate."""
        return self.hit.cosine

    @property
    def fit(self) -> float:
        """As for a candidate, the words' part by its rank among messages with the question's words."""
        words = 1.0 / self.hit.words_rank if self.hit.words_rank else 0.0
        return (self.hit.cosine or 0.0) + WEIGHT * words


def _is_strong(found: ProbeCandidate | ProbeMessage) -> bool:
    if found.calibrated is None:  # words alone were compared
        return found.fit >= WEIGHT / 2
    return found.fit >= _STRONG if found.is_measured else found.calibrated >= _STRONG_DEVIATIONS


class _Limits:
    """The limits of a model's context, asked entry by entry, the best first."""

    def __init__(self, *, n: int, floor: float | None, budget: int | None) -> None:
        self.n, self.floor, self.budget = n, floor, budget
        self.hits = self.characters = 0

    def kept_out(
        self, *, passes: bool, score: float | None, length: Callable[[], int], answers: bool = True
    ) -> KeptOut:
        """Why the model would not see this entry; counts it if it would. `length` is in characters."""
        if not passes:
            return "filter"
        if not answers or self.is_below(score):
            return "threshold"
        if self.hits >= self.n:
            return "n"
        if self.budget is not None:
            characters = self.characters + length()
            if characters > self.budget:
                return "budget"
            self.characters = characters
        self.hits += 1
        return ""

    def is_below(self, score: float | None) -> bool:
        return self.floor is not None and (score is None or score < self.floor)


def _mean_and_deviation(cosines: Vector) -> tuple[float, float]:
    return (float(cosines.mean()), float(cosines.std()) or 1.0) if len(cosines) else (0.0, 1.0)


def probe(
    memory: OpenedMemory,
    question: str,
    *,
    kind: str = MEMORIES,
    n: int,
    where: Where | None = None,
    floor: float | None = None,
    budget: int | None = None,
    mmr: float | None = None,
    near: int = _NEAR,
) -> ProbeResult:
    """The n best entries of a kind that pass, as they are handed out, and the best of the others.

    `floor` is the lowest cosine, `budget` the maximum of characters in all, `mmr` λ of marginal relevance.
    While the model is away words alone are compared. Does not count as a question.
    """
    entries = memory.entries(kind)
    checked_text(question, what="the question")
    checked_count(n, what="n")
    begun = time.perf_counter()
    vector = entries.question_or_none(question)
    embedded = time.perf_counter()
    never = {*entries.never_recalled()}
    found = entries.best_with(question, vector, n=max(_POOL * n, POOL), where=where)
    hits = {hit.row["id"]: hit for hit in found}
    scores = None if vector is None else entries.scores(vector, where)
    cosines = {} if scores is None else dict(zip(scores.ids, map(float, scores.cosines), strict=True))
    passing = (
        set(hits) if scores is None else {scores.ids[at] for at in np.flatnonzero(scores.passing).tolist()}
    )
    order = [*hits, *(id for id in sorted(cosines, key=lambda id: -cosines[id]) if id not in hits)]
    if mmr is not None:
        order = _diverse(entries, found, order, n=n, floor=floor, mmr=mmr)
    mean, deviation = _mean_and_deviation(np.array([*cosines.values()]))
    limits = _Limits(n=n, floor=floor, budget=budget)

    def length(id: str) -> int:
        return sum(len(row[entries.kind.text]) for row in entries.rows([id]))

    chosen: list[tuple[str, KeptOut]] = []
    misses = 0
    for number, id in enumerate(order):
        score, is_last = cosines.get(id), number >= len(hits)
        if misses >= near and (limits.hits >= n or (is_last and limits.is_below(score))):  # no more hits
            break
        kept_out: KeptOut = "never"
        if id not in never:
            kept_out = limits.kept_out(
                passes=id in passing, score=score, length=partial(length, id),
                answers=hits[id].answers(entries.least) if id in hits else not entries.least,
            )  # fmt: skip
        misses += bool(kept_out)
        if not kept_out or misses <= near:
            chosen.append((id, kept_out))
    rows = {row["id"]: row for row in entries.rows([id for id, _ in chosen])}
    shown = [
        ProbeCandidate(
            rows[id], cosines.get(id), (cosines[id] - mean) / deviation if id in cosines else None, kept_out,
            hits[id].words if id in hits else 0.0, hits[id].late_interaction if id in hits else None,
            entries.model in MEASURED,
        )
        for id, kept_out in chosen
        if id in rows
    ]  # fmt: skip
    return ProbeResult(
        question=question,
        hits=[one for one in shown if not one.kept_out],
        misses=[one for one in shown if one.kept_out],
        compared=len(order),
        by_meaning=vector is not None,
        model_seconds=embedded - begun,
        search_seconds=time.perf_counter() - embedded,
    )


def _diverse(
    entries: Entries,
    found: Sequence[EntryHit],
    order: Sequence[str],
    *,
    n: int,
    floor: float | None,
    mmr: float,
) -> list[str]:
    """The n diverse ones of what was found first, then the others in their order."""
    lowest = -2.0 if floor is None else floor
    near = [hit for hit in found if (hit.cosine or 0.0) >= lowest][: _POOL * n]
    ids = [hit.row["id"] for hit in near]
    chosen = [ids[at] for at in diverse_order(entries, ids, [hit.score for hit in near], n=n, trade_off=mmr)]
    return [*chosen, *(id for id in order if id not in chosen)]


def probe_messages(
    memory: OpenedMemory,
    question: str,
    *,
    mode: Mode,
    n: int,
    where: Where | None = None,
    floor: float | None = None,
    budget: int | None = None,
    mmr: float | None = None,
    near: int = _NEAR,
) -> FoundMessages[ProbeMessage]:
    """The messages that pass, best first, then the nearest of those that do not.

    `floor` is the lowest cosine, `budget` the maximum of characters in all. While the model is away words
    alone are compared. Does not count as a question.
    """
    entries = memory.entries(TRANSCRIPTS)
    checked_text(question, what="the question")
    by_meaning = mode != "full_text" or floor is not None
    vector = entries.question_or_none(question) if by_meaning else None
    how: Mode = "full_text" if vector is None else mode
    mean, deviation = 0.0, 1.0
    if vector is not None:
        mean, deviation = _mean_and_deviation(entries.scores(vector).cosines)

    def found(where: Where) -> list[MessageHit]:
        return search.search(entries, question, mode=how, where=where, n=n + near, mmr=mmr, vector=vector)

    passing = found(where or {})
    known = {hit.message["id"] for hit in passing}
    others = [hit for hit in found({}) if hit.message["id"] not in known] if where else []
    limits = _Limits(n=n, floor=floor, budget=budget)
    hits: list[ProbeMessage] = []
    misses: list[ProbeMessage] = []
    for number, hit in enumerate([*passing, *others]):
        deviations = None if hit.cosine is None else (hit.cosine - mean) / deviation
        message = ProbeMessage(hit, deviations, "", entries.model in MEASURED)
        kept_out = limits.kept_out(
            passes=number < len(passing), score=hit.cosine, length=partial(len, message.text)
        )
        (misses if kept_out else hits).append(replace(message, kept_out=kept_out))
    misses.sort(key=lambda miss: -miss.hit.score)
    return FoundMessages(hits + misses[:near], by_words_alone=by_meaning and vector is None)
