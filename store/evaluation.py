"""How well golden queries are answered: recall, reciprocal rank and gain, for each setting of the sliders.

recall@k   the share of the right answers among the first k; of at most k, so that 1 can always be reached
MRR        the mean of 1 / place of the first right answer (0 where none is among the results)
nDCG@k     Σ 1/log2(1 + place) over the right answers among the first k, of the largest there could be
           (Järvelin and Kekäläinen 2002, with gains of 0 and 1)

Each with a 95 % interval: the queries are drawn again, with replacement, a thousand times (the bootstrap).
"""

import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from store import calibration, golden
from store.calibration import Calibration
from store.errors import InvalidRecord, UnknownRecord
from store.golden import Golden
from store.progress import Progress
from store.query import Query
from store.records import Facet

if TYPE_CHECKING:
    from store.reading import Reader

TOP = 10
_DEPTH = 200  # how far the first right answer is looked for
_DRAWS = 1_000

PRESETS: Mapping[str, Mapping[Facet, float]] = MappingProxyType(
    {
        "reference 4/3/2/1": {"entity": 4, "context": 3, "visual": 2, "emotions": 1},
        "with the picture": {"image": 4, "entity": 4, "context": 3, "visual": 2, "emotions": 1},
        "looks": {"image": 3, "visual": 4},
        "meaning": {"entity": 3, "context": 4},
        "mood": {"context": 1, "emotions": 4},
        "picture only": {"image": 1},
    }
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over the queries, and where it lies with 95 % certainty."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Row:
    """One setting of the sliders."""

    preset: str
    calibrated: bool
    recall: Figure
    mrr: Figure
    ndcg: Figure


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One model's answers to all golden queries of a library."""

    model: str
    at: float  # UNIX seconds
    queries: int
    left_out: tuple[str, ...]  # lines whose answers are not in the library
    rows: tuple[Row, ...]
    worst: tuple[tuple[str, float], ...]  # lines and their nDCG with the first preset, the worst first

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def evaluate(
    reader: "Reader",
    *,
    goldens: Iterable[Golden] | None = None,
    presets: Mapping[str, Mapping[Facet, float]] = PRESETS,
    progress: Progress | None = None,
) -> Evaluation:
    """Ask every golden query with every preset, raw and calibrated.

    A library that is not calibrated, or too small to be, is measured for this comparison alone.
    """
    progress = progress or Progress()
    given = all_of(reader) if goldens is None else list(goldens)
    here = set(reader.snapshot().addresses)
    asked = [(one, found) for one in given if (found := [a for a in one.answers if a in here])]
    if not asked:
        raise InvalidRecord("no golden query has an answer in this library; save some first")
    settings = [(name, calibrated) for name in presets for calibrated in (False, True)]
    progress.what, progress.total = "asking golden queries", len(asked) * len(settings)
    figures = reader.calibration() or calibration.passing(reader.snapshot(), reader.embedder)
    rows, first = [], np.empty(0)
    for name, calibrated in settings:
        scored = []
        for one, answers in asked:
            scored.append(
                _scores(_found(reader, one, presets[name], figures if calibrated else None), answers)
            )
            progress.done += 1
            if progress.cancelled:
                raise InvalidRecord("the evaluation was ended before it was complete")
        table = np.array(scored)
        rows.append(Row(name, calibrated, *(_figure(table[:, column]) for column in range(3))))
        first = table[:, 2] if not first.size else first
    order = np.argsort(first, kind="stable")[:10]
    return Evaluation(
        model=reader.model,
        at=time.time(),
        queries=len(asked),
        left_out=tuple(one.line for one in given if not here.intersection(one.answers)),
        rows=tuple(rows),
        worst=tuple((asked[place][0].line, float(first[place])) for place in order),
    )


def all_of(reader: "Reader") -> list[Golden]:
    """Golden queries, and questions of whose results some were called good."""
    with reader.catalog.reading() as db:
        kept, judged = golden.listed(db), golden.by_judgement(db)
    lines = {one.line for one in kept}
    return [*kept, *(one for one in judged if one.line not in lines)]


def told(evaluations: Sequence[Evaluation]) -> str:
    """The evaluations as a Markdown table."""
    head = f"| model | preset | | recall@{TOP} | MRR | nDCG@{TOP} |\n| --- | --- | --- | ---: | ---: | ---: |"
    lines = [
        f"| `{one.model}` | {row.preset} | {'calibrated' if row.calibrated else 'raw'} | "
        + " | ".join(_told(figure) for figure in (row.recall, row.mrr, row.ndcg))
        + " |"
        for one in evaluations
        for row in one.rows
    ]
    return "\n".join([head, *lines])


def keep(reader: "Reader", evaluation: Evaluation, *, who: str) -> None:
    """The last one of each model is shown beside the others'."""
    with reader.catalog.writing() as db:
        db.execute(
            "INSERT OR REPLACE INTO evaluations VALUES (?, ?, ?, ?)",
            [evaluation.model, evaluation.at, who, json.dumps(evaluation.as_json())],
        )


def kept(reader: "Reader") -> list[Evaluation]:
    """The last evaluation of each model, newest first."""
    with reader.catalog.reading() as db:
        rows = db.execute("SELECT report FROM evaluations ORDER BY at DESC").fetchall()
    return [_read(json.loads(row["report"])) for row in rows]


def _read(report: dict[str, Any]) -> Evaluation:
    rows = tuple(
        Row(row["preset"], row["calibrated"], *(Figure(**row[name]) for name in ("recall", "mrr", "ndcg")))
        for row in report["rows"]
    )
    worst = tuple((line, score) for line, score in report["worst"])
    return Evaluation(
        report["model"], report["at"], report["queries"], tuple(report["left_out"]), rows, worst
    )


def _found(
    reader: "Reader", one: Golden, weights: Mapping[Facet, float], figures: Calibration | None
) -> list[str]:
    query = Query(one.parts, weights=weights, top=_DEPTH, calibrated=figures is not None)
    try:
        return [hit.address for hit in reader.search(query, calibration=figures).hits]
    except UnknownRecord:  # its example has left the library
        return []


def _scores(found: Sequence[str], answers: Sequence[str]) -> tuple[float, float, float]:
    right = set(answers)
    places = [place for place, address in enumerate(found, start=1) if address in right]
    near = [place for place in places if place <= TOP]
    most = min(len(right), TOP)
    ideal = sum(1 / math.log2(1 + place) for place in range(1, most + 1))
    gain = sum(1 / math.log2(1 + place) for place in near)
    return len(near) / most, 1 / places[0] if places else 0.0, gain / ideal


def _figure(scores: Any) -> Figure:
    random = np.random.default_rng(1)  # the same draws for every setting, so that they can be compared
    means = scores[random.integers(0, len(scores), (_DRAWS, len(scores)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Figure(float(scores.mean()), float(low), float(high))


def _told(figure: Figure) -> str:
    return f"{figure.mean:.2f} ({figure.low:.2f}–{figure.high:.2f})"
