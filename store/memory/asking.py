"""One question to one kind of memory, with what was nearly found and what kept it out."""

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np

from store.memory.passages import Passages, Row, checked_count, checked_text
from store.memory.resident import Where

KeptOut = Literal["", "filter", "threshold", "n", "budget"]
_NEAR = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry, its cosine, and why the model would not see it ("" where it would)."""

    row: Row
    score: float
    calibrated: float  # deviations above the mean of all entries of this kind, for this question
    kept_out: KeptOut


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer to a probe; hits and misses each best first."""

    question: str
    hits: list[Candidate]
    misses: list[Candidate]
    compared: int  # entries
    model_seconds: float
    search_seconds: float


def ask(
    passages: Passages,
    question: str,
    *,
    n: int,
    where: Where | None = None,
    floor: float | None = None,
    budget: int | None = None,
    near: int = _NEAR,
) -> Asked:
    """The n best entries that pass, and the best of those that do not.

    `floor` is the lowest cosine, `budget` the most characters in all. Nothing is counted as asked.
    """
    checked_text(question, what="the question")
    checked_count(n, what="n")
    begun = time.perf_counter()
    vector = passages.question(question)
    embedded = time.perf_counter()
    scores = passages.resident().scores(vector, where or {})
    passing = set(np.flatnonzero(scores.passing).tolist())
    order = np.argsort(-scores.cosines, kind="stable")
    mean = float(scores.cosines.mean()) if len(order) else 0.0
    deviation = float(scores.cosines.std()) or 1.0
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
        Candidate(rows[id], score, (score - mean) / deviation, kept_out)
        for id, score, kept_out in chosen
        if id in rows
    ]
    return Asked(
        question=question,
        hits=[one for one in found if not one.kept_out],
        misses=[one for one in found if one.kept_out],
        compared=len(order),
        model_seconds=embedded - begun,
        search_seconds=time.perf_counter() - embedded,
    )
