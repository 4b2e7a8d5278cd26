"""One question to one kind of memory, with near misses and what excluded them.

Transcripts are probed by message, as their search works: several chunks of one message are one hit.
"""

import time
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from store.memory.engine.entries import Row
from store.memory.engine.inputs import checked_count, checked_text
from store.memory.engine.passages import Passages
from store.memory.engine.resident import Where
from store.memory.transcripts import search
from store.memory.transcripts.search import MessageHit, Mode

KeptOut = Literal["", "filter", "threshold", "n", "budget"]
_NEAR = 10


@dataclass(frozen=True, slots=True)
class ProbeCandidate:
    """An entry, its cosine, and why the model would not see it ("" if it would)."""

    row: Row
    score: float
    calibrated: float  # deviations above the mean of all entries of this kind, for this question
    kept_out: KeptOut


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of a probe; hits and misses each best first."""

    question: str
    hits: list[ProbeCandidate]
    misses: list[ProbeCandidate]
    compared: int  # entries
    model_seconds: float
    search_seconds: float


@dataclass(frozen=True, slots=True)
class ProbeMessage:
    """A message that was found, and why the model would not see it ("" if it would)."""

    hit: MessageHit
    calibrated: float | None  # as for a candidate; None where nothing was compared by meaning
    kept_out: KeptOut

    @property
    def text(self) -> str:
        return str((self.hit.chunk or {}).get("source_text") or self.hit.message["text_content"] or "")


def probe(
    passages: Passages,
    question: str,
    *,
    n: int,
    where: Where | None = None,
    floor: float | None = None,
    budget: int | None = None,
    near: int = _NEAR,
) -> ProbeResult:
    """The n best entries that pass, and the best of those that do not.

    `floor` is the lowest cosine, `budget` the maximum of characters in all. Does not count as a question.
    """
    checked_text(question, what="the question")
    checked_count(n, what="n")
    begun = time.perf_counter()
    vector = passages.question(question)
    embedded = time.perf_counter()
    scores = passages.resident().scores(vector, where or {})
    passing = set(np.flatnonzero(scores.passing).tolist())
    order = np.argsort(-scores.cosines, kind="stable")
    mean, deviation = 0.0, 1.0
    if len(order):
        mean, deviation = float(scores.cosines.mean()), float(scores.cosines.std()) or 1.0
    chosen: list[tuple[str, float, KeptOut]] = []
    hits = misses = characters = 0
    for place in order.tolist():
        if hits >= n and misses >= near:
            break
        id, score = scores.ids[place], float(scores.cosines[place])
        kept_out: KeptOut = ""
        if place not in passing:
            kept_out = "filter"
        elif floor is not None and score < floor:
            kept_out = "threshold"
        elif hits >= n:
            kept_out = "n"
        elif budget is not None:
            length = sum(len(row[passages.kind.text]) for row in passages.rows([id]))
            kept_out = "budget" if characters + length > budget else ""
            characters += 0 if kept_out else length
        if kept_out and misses >= near:
            continue
        hits, misses = (hits, misses + 1) if kept_out else (hits + 1, misses)
        chosen.append((id, score, kept_out))
        if floor is not None and score < floor and misses >= near:
            break
    rows = {row["id"]: row for row in passages.rows([id for id, _, _ in chosen])}
    found = [
        ProbeCandidate(rows[id], score, (score - mean) / deviation, kept_out)
        for id, score, kept_out in chosen
        if id in rows
    ]
    return ProbeResult(
        question=question,
        hits=[one for one in found if not one.kept_out],
        misses=[one for one in found if one.kept_out],
        compared=len(order),
        model_seconds=embedded - begun,
        search_seconds=time.perf_counter() - embedded,
    )


def probe_messages(
    passages: Passages,
    question: str,
    *,
    mode: Mode,
    n: int,
    where: Where | None = None,
    floor: float | None = None,
    budget: int | None = None,
    mmr: float | None = None,
    near: int = _NEAR,
) -> list[ProbeMessage]:
    """The messages that pass, best first, then the nearest of those that do not.

    `floor` is the lowest cosine, `budget` the maximum of characters in all. Does not count as a question.
    """
    checked_text(question, what="the question")
    by_meaning = mode != "full_text" or floor is not None
    vector = passages.question(question) if by_meaning else None
    mean, deviation = 0.0, 1.0
    if vector is not None and len(cosines := passages.resident().scores(vector, {}).cosines):
        mean, deviation = float(cosines.mean()), float(cosines.std()) or 1.0

    def found(where: Where) -> list[MessageHit]:
        return search.search(passages, question, mode=mode, where=where, n=n + near, mmr=mmr, vector=vector)

    passing = found(where or {})
    known = {hit.message["id"] for hit in passing}
    others = [hit for hit in found({}) if hit.message["id"] not in known] if where else []
    hits: list[ProbeMessage] = []
    misses: list[ProbeMessage] = []
    characters = 0
    for number, hit in enumerate([*passing, *others]):
        told = ProbeMessage(hit, None if hit.cosine is None else (hit.cosine - mean) / deviation, "")
        kept_out: KeptOut = ""
        if number >= len(passing):
            kept_out = "filter"
        elif floor is not None and (hit.cosine is None or hit.cosine < floor):
            kept_out = "threshold"
        elif len(hits) >= n:
            kept_out = "n"
        elif budget is not None and characters + len(told.text) > budget:
            kept_out = "budget"
        if kept_out:
            misses.append(replace(told, kept_out=kept_out))
        else:
            hits.append(told)
            characters += len(told.text)
    misses.sort(key=lambda told: -told.hit.score)
    return hits + misses[:near]
