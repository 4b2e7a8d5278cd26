"""Writes ranking.json: hard cases for ranking search results, in Python and in the page.

    python -m tests.shared.make_ranking

The expected values are computed here, record by record, from the formula in the docstring of
store/search/ranking.py, independently of both implementations.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

PLACE = Path(__file__).with_name("ranking.json")
FACETS = ("image", "entity", "context", "visual", "emotions")
FUSION, PICTURES, DOUBT = 3.0, 0.5, 2.0
ENOUGH = 20  # captions
GRID = 1024  # cosines are multiples of 1/1024: their sums are exact, even in float32

Column = list[float | None]


def main() -> None:
    cases = ",\n".join(json.dumps(_solved(case)) for case in _cases())
    PLACE.write_text(f"[\n{cases}\n]\n", encoding="utf-8")


def _cases() -> list[dict[str, Any]]:
    usual = dict(zip(FACETS, (3.0, 4.0, 3.0, 2.0, 1.0), strict=True))
    text = dict(zip(FACETS, (0.0, 4.0, 3.0, 2.0, 1.0), strict=True))
    full = _table(30)
    ones = dict.fromkeys(FACETS, 1.0)
    return [
        _case("one record", _table(1), usual, top=5),
        _case("no record", [[] for _ in FACETS], usual, top=5),
        _case("no weight", full, dict.fromkeys(FACETS, 0.0), top=5),
        _case("weights that are missing", full, {"entity": 2.0}, top=5),
        _case("all weights", full, usual, top=10),
        _case("more asked for than there are", full, usual, top=1_000),
        _case("none asked for", full, usual, top=0),
        _case("equal records stand in the order of the rows", _repeated(40, of=3), usual, top=7),
        _case("many equal records, few asked for", _repeated(400, of=2), usual, top=3),
        _case(
            "other cosines, equal scores", [[0.5, 0.25, 0.5], [0.25, 0.5, 0.25], *_none(3, 3)], ones, top=3
        ),
        _case("missing facets count as the mean", _table(30, lacking=0.4), usual, top=12),
        _case("none of the weighted facets is no hit", _table(30, lacking=0.7), {"emotions": 1.0}, top=30),
        _case("few of many are hits", _table(300, lacking=0.97), {"visual": 1.0, "context": 0.5}, top=4),
        _case("a weighted facet that nobody has", [*_table(20)[:4], [None] * 20], usual, top=20),
        _case("only facets that nobody has", [*_table(6)[:4], [None] * 6], {"emotions": 1.0}, top=6),
        _case("nothing but opposites", [[-abs(c or 0) for c in column] for column in full], usual, top=6),
        _case("a weight beside which others vanish", full, {**usual, "image": 1e30}, top=8),
        _case("weights too small to add up", full, {"image": 1e-323, "entity": 5e-324}, top=8),
        _case("weights too large to add up", full, dict.fromkeys(FACETS, 1.7e308), top=8),
        _case("calibrated", _table(60, lacking=0.3), usual, top=15, calibrated=True),
        _case("words count", _table(60, lacking=0.2), usual, top=15, words=0.2),
        _case("words count, calibrated", _table(60, lacking=0.2), usual, top=15, words=0.2, calibrated=True),
        _case(
            "words of records that are no hits", _table(40, lacking=0.8), {"image": 1.0}, top=40, words=0.9
        ),
        _case("the best of each group", _table(60, lacking=0.2), usual, top=20, groups=9),
        _case("equal records of one group", _repeated(40, of=4), usual, top=10, groups=6),
        _case("groups and words", _table(120, lacking=0.3), usual, top=9, groups=30, words=0.3),
        _case("pictures stand in for captions", _table(60, lacking=0.2), text, top=30, silent=0.5),
        _case("pictures and words", _table(60), text, top=30, silent=0.5, words=0.3),
        _case("pictures, calibrated", _table(60, lacking=0.1), text, top=30, silent=0.5, calibrated=True),
        _case("pictures, other weights", _table(60), ones, top=30, silent=0.5),
        _case("no captions but pictures", [_table(25)[0], *_none(4, 25)], text, top=9, silent=1.0),
        _case(
            "pictures, calibrated alone",
            [_table(25)[0], *_none(4, 25)],
            text,
            top=9,
            silent=1.0,
            calibrated=True,
        ),
    ]


def _case(
    name: str,
    columns: Sequence[Column],
    weights: dict[str, float],
    *,
    top: int,
    calibrated: bool = False,
    words: float = 0.0,
    groups: int = 0,
    silent: float = 0.0,
) -> dict[str, Any]:
    """`words`: how many records have some; `groups`: how many groups of copies there are; `silent`: whose
    captions say nothing."""
    random, rows = Random(name), len(columns[0])
    centre, spread = [0.18, 0.31, 0.27, 0.22, 0.125], [0.04, 0.11, 0.09, 0.07, 0.0625]
    return {
        "name": name,
        "columns": list(columns),
        "weights": weights,
        "top": top,
        "scale": {"centre": centre, "spread": spread} if calibrated else None,
        "words": [_share(random, words) for _ in range(rows)] if words else None,
        "silent": _silent(random, columns, silent) if silent else None,
        "groups": [random.randrange(-groups, groups) for _ in range(rows)] if groups else None,
    }


def _silent(random: Random, columns: Sequence[Column], often: float) -> list[bool]:
    """Whose captions say nothing, or who has none, and has a picture."""
    rows = [[column[row] for column in columns] for row in range(len(columns[0]))]
    return [
        own[0] is not None and (random.random() < often or all(c is None for c in own[1:])) for own in rows
    ]


def _share(random: Random, often: float) -> float:
    return random.choice((1.0, 0.5, random.random())) if random.random() < often else 0.0


def _table(rows: int, *, lacking: float = 0.0) -> list[Column]:
    random = Random(f"{rows} {lacking}")
    return [
        [
            None if random.random() < lacking else random.randrange(-GRID // 4, GRID) / GRID
            for _ in range(rows)
        ]
        for _ in FACETS
    ]


def _repeated(rows: int, *, of: int) -> list[Column]:
    return [[column[row % of] for row in range(rows)] for column in _table(of)]


def _none(columns: int, rows: int) -> list[Column]:
    return [[None] * rows for _ in range(columns)]


def _solved(case: dict[str, Any]) -> dict[str, Any]:
    columns, scale = case["columns"], case["scale"] or {"centre": [0.0] * 5, "spread": [1.0] * 5}
    means, deviations = [], []
    for column in columns:
        own = [cosine for cosine in column if cosine is not None]
        mean = sum(own) / len(own) if own else None
        means.append(mean)
        deviations.append((sum((c - (mean or 0)) ** 2 for c in own) / len(own)) ** 0.5 if own else 0.0)
    known = [
        case["weights"].get(f, 0.0) if mean is not None else 0.0
        for f, mean in zip(FACETS, means, strict=True)
    ]
    largest = max(known)
    part = [weight / largest if largest else 0.0 for weight in known]
    shares = [each / sum(part) if largest else 0.0 for each in part]
    pictures = _pictures(case, means, deviations) if case["silent"] else {}
    speaks = bool(pictures) and case["weights"] == pictures["usual"]
    unit = sum(s * d / w for s, d, w in zip(shares, deviations, scale["spread"], strict=True))
    if speaks:
        every = shares if any(shares) else [weight / 10 for weight in case["weights"].values()]
        terms = list(zip(every, pictures["means"], pictures["deviations"], *scale.values(), strict=True))
        unit = sum(share * deviation / spread for share, _, deviation, _, spread in terms)
        base = sum(share * (mean - centre) / spread for share, mean, _, centre, spread in terms)
    gain = FUSION * unit
    found = []
    for row in range(len(columns[0])):
        stands_in = speaks and case["silent"][row]
        if not stands_in and not any(
            share and column[row] is not None for share, column in zip(shares, columns, strict=True)
        ):
            continue
        filled = [mean if c[row] is None else c[row] for c, mean in zip(columns, means, strict=True)]
        given = [
            share * ((cosine - centre) / spread) if share else 0.0
            for share, cosine, centre, spread in zip(
                shares, filled, scale["centre"], scale["spread"], strict=True
            )
        ]
        if stands_in:
            mean, deviation = pictures["picture"]
            own = base + PICTURES * unit * (columns[0][row] - mean) / deviation
            if own >= sum(given) - DOUBT * unit:
                given = [own, 0.0, 0.0, 0.0, 0.0]
            else:
                given = [-DOUBT * unit, *given[1:]]
        score = sum(given)
        if case["words"]:
            score += gain * case["words"][row]
        found.append((-score, row, given))
    found.sort(key=lambda each: each[:2])
    gaps = [second[0] - first[0] for first, second in pairwise(found)]
    assert all(not gap or gap > 1e-9 for gap in gaps), "too close: rounding would decide the order"
    best: list[tuple[float, int, list[float]]] = []
    seen: set[int] = set()
    for each in found:
        group = case["groups"][each[1]] if case["groups"] else -1
        if group < 0 or group not in seen:
            best.append(each)
        seen.add(group)
    first = best[: case["top"]]
    return case | {
        "means": means,
        "deviations": deviations,
        "pictures": pictures or None,
        "hits": len(best),
        "expected": [{"row": row, "score": -score, "facets": given} for score, row, given in first],
    }


def _pictures(case: dict[str, Any], means: Column, deviations: list[float]) -> dict[str, Any]:
    """The figures of the captions that say something, or of those that do not, or of the pictures."""
    captioned = [
        any(column[row] is not None for column in case["columns"][1:]) for row in range(len(case["silent"]))
    ]
    speaking = [row for row, silent in enumerate(case["silent"]) if captioned[row] and not silent]
    others = [row for row, silent in enumerate(case["silent"]) if silent]
    found = [_figures(case["columns"], speaking), _figures(case["columns"], others)]
    best = found[0] if any(found[0]) else found[1]
    picture = (means[0], deviations[0])
    own = [each or picture for each in best]
    return {
        "strength": PICTURES,
        "doubt": DOUBT,
        "means": [mean for mean, _ in own],
        "deviations": [deviation for _, deviation in own],
        "picture": picture,
        "usual": dict(zip(FACETS, (0.0, 4.0, 3.0, 2.0, 1.0), strict=True)),
    }


def _figures(columns: Sequence[Column], rows: Sequence[int]) -> list[tuple[float, float] | None]:
    """Mean and deviation of each facet over these rows; None if fewer than twenty have it."""
    found: list[tuple[float, float] | None] = []
    for column in columns:
        own = [cosine for row in rows if (cosine := column[row]) is not None]
        mean = sum(own) / len(own) if own else 0.0
        enough = len(own) >= ENOUGH
        found.append((mean, (sum((c - mean) ** 2 for c in own) / len(own)) ** 0.5) if enough else None)
    return found


if __name__ == "__main__":
    main()
