"""Evaluate golden queries: recall, reciprocal rank and gain, for each setting of the sliders.

The ranks of the relevant coins are stored, so that any k can be computed afterwards.

recall@k   the share of the relevant coins among the first k; of at most k, so that 1 can always be reached
MRR        the mean of 1 / rank of the first relevant coin (0 if none is among the results)
nDCG@k     Σ 1/log2(1 + rank) over the relevant coins among the first k, divided by its maximum
           (Järvelin and Kekäläinen 2002, with gains of 0 and 1)

Each with a 95 % interval by the bootstrap: a thousand samples of the queries with replacement.
"""

import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from store.errors import InvalidRecord, UnknownRecord
from store.progress import Progress
from store.records import Facet
from store.search import calibration
from store.search.calibration import Calibration
from store.search.golden_queries import Golden
from store.search.query import Query
from store.vectors.weights import ASKED, DEFAULT_PRESET

if TYPE_CHECKING:
    from store.reading.reader import Reader

_DRAWS = 1_000  # bootstrap samples of the queries for an interval


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over the queries with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EvaluationScores:
    """The measures of one setting over all queries."""

    recall: Figure
    mrr: Figure
    ndcg: Figure


def measures_of(places: Sequence[int], right: int, *, k: int) -> tuple[float, float, float]:
    """Recall@k, reciprocal rank and nDCG@k of a query by the ranks (from 1) of its `right` coins."""
    near = [place for place in places if place <= k]
    most = min(right, k)
    ideal = sum(1 / math.log2(1 + place) for place in range(1, most + 1))
    gain = sum(1 / math.log2(1 + place) for place in near)
    return len(near) / most, 1 / places[0] if places else 0.0, gain / ideal


def figure(scores: NDArray[np.float64]) -> Figure:
    """The mean of the queries' scores, (queries,), with its interval."""
    random = np.random.default_rng(1)  # the same draws for every setting, so that they can be compared
    means = scores[random.integers(0, len(scores), (_DRAWS, len(scores)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Figure(float(scores.mean()), float(low), float(high))


TOP = 10  # default k
_SETTINGS = ((False, False), (True, False), (False, True))  # calibrated, fused
DEPTH = 200  # how far relevant coins are looked for, the largest k
FEWEST = 3  # queries of a tag, below which their mean says nothing of it


@dataclass(frozen=True, slots=True)
class TagScore:
    """nDCG over the queries that look for coins with a tag."""

    tag: str
    queries: int
    ndcg: Figure


@dataclass(frozen=True, slots=True)
class PresetResult:
    """One setting, with the ranks of each query's relevant coins, ascending from 1."""

    preset: str
    calibrated: bool
    places: tuple[tuple[int, ...], ...]
    fused: bool = False  # with the words of the query

    @property
    def scale(self) -> str:
        """The kind of score: raw, calibrated, or raw with words."""
        return "calibrated" if self.calibrated else "raw + words" if self.fused else "raw"

    @property
    def title(self) -> str:
        """What the setting is called: its weights and the kind of score."""
        return f"{self.preset} · {self.scale}"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One model's answers to all golden queries of a library."""

    model: str
    at: float  # UNIX seconds
    lines: tuple[str, ...]  # what was asked
    right: tuple[int, ...]  # how many relevant coins each has in this library
    left_out: tuple[str, ...]  # lines whose answers are not in the library
    rows: tuple[PresetResult, ...]

    @property
    def queries(self) -> int:
        """How many golden queries were run."""
        return len(self.lines)

    def scores(self, row: PresetResult, *, k: int = TOP) -> EvaluationScores:
        """Recall and nDCG among the first `k` (at most DEPTH), and MRR."""
        table = self._table(row, k=k)
        return EvaluationScores(*(figure(table[:, column]) for column in range(3)))

    def gains(self, row: PresetResult, *, k: int = TOP) -> NDArray[np.float64]:
        """The nDCG@k of each query with one setting, (queries,) in the order of `lines`."""
        return self._table(row, k=k)[:, 2]

    def worst(self, row: PresetResult, *, k: int = TOP, count: int = 10) -> list[tuple[str, float]]:
        """Lines and their nDCG@k with one setting, the worst first."""
        gains = self.gains(row, k=k)
        return [(self.lines[at], float(gains[at])) for at in np.argsort(gains, kind="stable")[:count]]

    def as_json(self, *, k: int = TOP) -> dict[str, Any]:
        """Everything that is stored, and each row's figures for this k."""
        rows = [asdict(row) | {"k": k, **asdict(self.scores(row, k=k))} for row in self.rows]
        return asdict(self) | {"queries": self.queries, "rows": rows}

    def _table(self, row: PresetResult, *, k: int) -> NDArray[np.float64]:
        pairs = zip(row.places, self.right, strict=True)
        return np.array([measures_of(places, right, k=k) for places, right in pairs])


def evaluate(
    reader: "Reader",
    *,
    goldens: Iterable[Golden] | None = None,
    presets: Mapping[str, Mapping[Facet, float]] | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Run every golden query with every preset, saved ones included: raw, calibrated, fused with words.

    A library that is not calibrated, or too small for it, is measured for this comparison alone.
    Raises InvalidRecord if no golden query has an answer in the library.
    """
    progress = progress or Progress()
    golden_queries = all_of(reader) if goldens is None else list(goldens)
    here = set(reader.snapshot().addresses)
    questions = [(one, found) for one in golden_queries if (found := [a for a in one.answers if a in here])]
    if not questions:
        raise InvalidRecord("no golden query has an answer in this library; save some first")
    presets = {**ASKED, **reader.presets.all()} if presets is None else presets
    settings = [(name, *setting) for name in presets for setting in _SETTINGS]
    progress.what, progress.total = "asking golden queries", len(questions) * len(settings)
    figures = reader.calibration.in_force() or calibration.passing(reader.snapshot(), reader.embedder)
    rows = []
    for name, calibrated, fused in settings:
        places = []
        for one, answers in questions:
            found = _found(reader, one, presets[name], figures if calibrated else None, fused=fused)
            right = set(answers)
            places.append(tuple(at for at, address in enumerate(found, start=1) if address in right))
            progress.done += 1
            if progress.cancelled:
                raise InvalidRecord("the evaluation was ended before it was complete")
        rows.append(PresetResult(name, calibrated, tuple(places), fused))
    return Evaluation(
        model=reader.model,
        at=time.time(),
        lines=tuple(one.line for one, _ in questions),
        right=tuple(len(set(answers)) for _, answers in questions),
        left_out=tuple(one.line for one in golden_queries if not here.intersection(one.answers)),
        rows=tuple(rows),
    )


def all_of(reader: "Reader") -> list[Golden]:
    """Golden queries, and queries with results that people judged, which override stored answers."""
    judgements = reader.golden.judgements()
    golden_queries = [_corrected(one, judgements.get(one.line, {})) for one in reader.golden.all()]
    lines = {one.line for one in golden_queries}
    return [*golden_queries, *(one for one in reader.golden.by_judgement() if one.line not in lines)]


def _corrected(golden: Golden, judgements: Mapping[str, bool]) -> Golden:
    good = [address for address, is_good in judgements.items() if is_good]
    answers = dict.fromkeys([*golden.answers, *good])
    return replace(golden, answers=tuple(one for one in answers if judgements.get(one) is not False))


def answers_outside_library(reader: "Reader", goldens: Iterable[Golden]) -> dict[str, str]:
    """Right answers that do not count because they are not in the library, each with its tier or "gone"."""
    answers = list(dict.fromkeys(chain.from_iterable(one.answers for one in goldens)))
    tiers = {record.address: record.tier for record in reader.records(answers)}
    return {one: tiers.get(one, "gone") for one in answers if tiers.get(one) != "library"}


def answers_of(reader: "Reader", one: Evaluation) -> list[tuple[str, ...]]:
    """The relevant coins of each of its queries; none of those that are no longer golden."""
    answers = {golden.line: golden.answers for golden in all_of(reader)}
    return [answers.get(line, ()) for line in one.lines]


def by_tag(reader: "Reader", one: Evaluation, row: PresetResult) -> list[TagScore]:
    """How well queries for coins of a tag are answered, worst first; tags of FEWEST queries or more."""
    answers = answers_of(reader, one)
    wanted = {address for own in answers for address in own}
    tags = reader.catalog.rows(
        "SELECT r.address, l.label FROM records r JOIN labels l ON l.record = r.id AND l.kind = 'tag' "
        "WHERE r.tier = 'library' AND r.address IN (SELECT value FROM json_each(?))",
        [json.dumps(sorted(wanted))],
    )
    tags_of: dict[str, set[str]] = {}
    for address, tag in tags:
        tags_of.setdefault(address, set()).add(tag)
    gains: dict[str, list[float]] = {}
    for own, gain in zip(answers, one.gains(row, k=TOP), strict=True):
        for tag in set().union(*(tags_of.get(answer, ()) for answer in own)):
            gains.setdefault(tag, []).append(float(gain))
    scores = [
        TagScore(tag, len(found), figure(np.array(found)))
        for tag, found in gains.items()
        if len(found) >= FEWEST
    ]
    return sorted(scores, key=lambda score: (score.ndcg.mean, score.tag))


def format_table(evaluations: Sequence[Evaluation], *, k: int = TOP) -> str:
    """The evaluations as a Markdown table."""
    head = f"| model | preset | | recall@{k} | MRR | nDCG@{k} |\n| --- | --- | --- | ---: | ---: | ---: |"
    lines = [
        f"| `{one.model}` | {row.preset} | {row.scale} | "
        + " | ".join(_format(figure) for figure in (scores.recall, scores.mrr, scores.ndcg))
        + " |"
        for one in evaluations
        for row in one.rows
        for scores in (one.scores(row, k=k),)
    ]
    return "\n".join([head, *lines])


def store(reader: "Reader", evaluation: Evaluation, *, actor: str) -> None:
    """Store an evaluation; the last one of each model is shown."""
    with reader.catalog.writing() as db:
        db.execute(
            "INSERT OR REPLACE INTO evaluations VALUES (?, ?, ?, ?)",
            [evaluation.model, evaluation.at, actor, json.dumps(asdict(evaluation))],
        )


def stored(reader: "Reader") -> list[Evaluation]:
    """The last evaluation of each model, newest first."""
    rows = reader.catalog.rows("SELECT report FROM evaluations ORDER BY at DESC")
    reports = [json.loads(row["report"]) for row in rows]
    # Else of an older version: evaluate again.
    return [_read(report) for report in reports if "lines" in report]


_RENAMED = {"Reference": DEFAULT_PRESET}  # as the page called it already


def _read(report: dict[str, Any]) -> Evaluation:
    rows = tuple(
        PresetResult(
            _RENAMED.get(row["preset"], row["preset"]),
            row["calibrated"],
            tuple(map(tuple, row["places"])),
            row.get("fused", False),
        )
        for row in report["rows"]
    )
    return Evaluation(
        report["model"],
        report["at"],
        tuple(report["lines"]),
        tuple(report["right"]),
        tuple(report["left_out"]),
        rows,
    )


def _found(
    reader: "Reader", one: Golden, weights: Mapping[Facet, float], figures: Calibration | None, *, fused: bool
) -> list[str]:
    query = Query(one.parts, weights=weights, top=DEPTH, calibrated=figures is not None, fused=fused)
    try:
        return [hit.address for hit in reader.search(query, calibration=figures).hits]
    except UnknownRecord:  # its example has left the library
        return []


def _format(figure: Figure) -> str:
    between = f" ({figure.low:.2f}–{figure.high:.2f})" if not math.isclose(figure.low, figure.high) else ""
    return f"{figure.mean:.2f}{between}"
