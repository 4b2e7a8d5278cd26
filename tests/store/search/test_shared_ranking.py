"""Python ranks as the page does: both pass the cases of tests/shared/ranking.json (rank.test.js)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store.embedding.protocol import Vector
from store.records import FACETS, Facet
from store.search.ranking import RAW, Scale, Words, folded, hits, rank
from store.search.similarities import Similarities
from store.search.stand_in import StandIn, stand_in
from store.vectors.matrices import load

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "shared" / "ranking.json").read_text("utf-8")
)


def address(row: int) -> str:
    return f"local-{row:04}"


def similarities_with(columns: list[list[float | None]]) -> Similarities:
    """Records with these cosines to the question, by facet and row."""
    rows = []
    for row in range(len(columns[0])):
        own = {facet: cosines[row] for facet, cosines in zip(FACETS, columns, strict=True)}
        rows.append(
            (address(row), {facet: vector_with_cosine(c) for facet, c in own.items() if c is not None})
        )
    directions: dict[Facet, Vector] = dict.fromkeys(FACETS, vector_with_cosine(1.0))
    return Similarities(load(rows, dimensions=8).snapshot(), directions)


def vector_with_cosine(cosine: float) -> Vector:
    """A unit vector with this cosine to the question."""
    vector: Vector = np.zeros(8, np.float32)
    vector[0], vector[1] = cosine, (1 - cosine**2) ** 0.5
    return vector


def pictures_of(case: dict[str, Any], similarities: Similarities) -> StandIn | None:
    """The pictures that stand in with the weights of the case."""
    if not case["silent"]:
        return None
    found = stand_in(similarities, {address(row) for row, silent in enumerate(case["silent"]) if silent})
    assert found.rows.tolist() == [row for row, silent in enumerate(case["silent"]) if silent]
    assert found.means.tolist() == pytest.approx(case["pictures"]["means"])
    assert found.deviations.tolist() == pytest.approx(case["pictures"]["deviations"])
    return found if case["weights"] == case["pictures"]["usual"] else None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_ranking(case: dict[str, Any]) -> None:
    similarities = similarities_with(case["columns"])
    rows = len(similarities.addresses)
    scale = Scale(tuple(case["scale"]["centre"]), tuple(case["scale"]["spread"])) if case["scale"] else RAW
    shares = np.array(case["words"] or [], np.float64)
    words = Words(np.flatnonzero(shares), shares[shares > 0]) if case["words"] else None
    pictures = pictures_of(case, similarities)
    ranking = rank(similarities, case["weights"], top=rows, scale=scale, words=words, stand_in=pictures)
    groups = {address(row): group for row, group in enumerate(case["groups"] or []) if group >= 0}
    found = folded(hits(similarities, ranking, case["weights"], scale=scale, words=words), groups)

    means = [None if np.isnan(mean) else mean for mean in similarities.means.tolist()]
    assert [mean is None for mean in means] == [mean is None for mean in case["means"]]
    assert [m for m in means if m is not None] == pytest.approx([m for m in case["means"] if m is not None])
    assert similarities.deviations.tolist() == pytest.approx(case["deviations"])
    assert len(found) == case["hits"]
    best, expected = found[: case["top"]], case["expected"]
    assert [hit.row for hit in best] == [each["row"] for each in expected]
    assert [hit.score for hit in best] == pytest.approx([each["score"] for each in expected], rel=1e-12)
    for hit, each in zip(best, expected, strict=True):
        assert [facet.contribution for facet in hit.facets.values()] == pytest.approx(
            each["facets"], rel=1e-12
        )


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case["groups"]], ids=lambda case: case["name"]
)
def test_the_top_results_are_the_first_of_the_full_ranking(case: dict[str, Any]) -> None:
    similarities = similarities_with(case["columns"])
    scale = Scale(tuple(case["scale"]["centre"]), tuple(case["scale"]["spread"])) if case["scale"] else RAW
    shares = np.array(case["words"] or [], np.float64)
    words = Words(np.flatnonzero(shares), shares[shares > 0]) if case["words"] else None
    ranking = rank(
        similarities, case["weights"], top=case["top"], scale=scale, words=words,
        stand_in=pictures_of(case, similarities),
    )  # fmt: skip
    assert ranking.rows == [each["row"] for each in case["expected"]]
