"""How similar coins are: a caption that belongs to another picture is found, and twins are nearest."""

from collections.abc import Mapping

import numpy as np
import pytest

from store.embedding.protocol import Vector
from store.evaluation import similarity
from store.evaluation.similarity import AT_ODDS, disagreements, similarities
from store.records import Facet
from store.vectors.matrices import Vectors, load

_RANDOM = np.random.default_rng(5)
_SUBJECTS = _RANDOM.normal(0, 1, (60, 32))


def near(subject: int, *, sign: int = 1) -> Vector:
    vector = sign * _SUBJECTS[subject] + _RANDOM.normal(0, 1, 32)
    unit: Vector = (vector / np.linalg.norm(vector)).astype(np.float32)
    return unit


def coins(swapped: Mapping[int, int]) -> list[tuple[str, dict[Facet, Vector]]]:
    """Sixty coins, with the captions of `swapped` ones exchanged."""
    facets: tuple[Facet, ...] = ("entity", "context")
    return [
        (f"local-{n:02}", {"image": near(n), **{facet: near(swapped.get(n, n)) for facet in facets}})
        for n in range(60)
    ]


def test_swapped_captions_come_first() -> None:
    found = disagreements(load(coins({7: 30, 30: 7}), dimensions=32).snapshot(), scale=1)
    assert {one.address for one in found[:2]} == {"local-07", "local-30"}
    assert found[0].fit < 1 < np.median([one.fit for one in found])


def test_of_right_captions_none_is_at_odds_with_its_picture() -> None:
    assert all(one.fit > AT_ODDS for one in disagreements(load(coins({}), dimensions=32).snapshot(), scale=1))


def test_a_coin_outside_the_library_is_compared_with_those_in_it() -> None:
    waiting: dict[str, dict[Facet, Vector]] = {
        "local-right": {"image": near(3), "entity": near(3)},
        "local-wrong": {"image": near(3), "entity": near(3, sign=-1), "visual": near(3, sign=-1)},
        "local-bare": {"image": near(3)},
    }
    found = disagreements(load(coins({}), dimensions=32).snapshot(), scale=1, waiting=waiting)
    assert found[0].address == "local-wrong"
    assert found[0].fit < AT_ODDS
    fits = {one.address: one.fit for one in found}
    assert fits["local-right"] > 1
    assert "local-bare" not in fits


def test_a_very_small_library_has_no_disagreements() -> None:
    one = np.eye(1, 8, dtype=np.float32)[0]
    rows: list[tuple[str, Vectors]] = [("local-a", {"image": one, "entity": one})]
    assert disagreements(load(rows, dimensions=8).snapshot(), scale=1) == []


def rows(vectors: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> list[tuple[str, Vectors]]:
    return [(f"local-{number:03}", {"entity": vector}) for number, vector in enumerate(vectors)]


def test_each_record_is_compared_with_every_other_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "_AT_ONCE", 7)
    vectors = np.random.default_rng(2).normal(0, 1, (30, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[4] = vectors[20]
    found = similarities(load(rows(vectors), dimensions=16).snapshot(), "entity")
    assert found is not None
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    assert found.nearest == pytest.approx(cosines.max(axis=1), abs=1e-5)
    assert found.nearest[4] == pytest.approx(1, abs=1e-5)
    assert len(found.by_chance) == 30 * 29 / 2


@pytest.mark.parametrize("facet", ["entity", "image"])
def test_too_few_records_give_no_result(facet: Facet) -> None:
    assert similarities(load(rows(np.eye(2, 8, dtype=np.float32)), dimensions=8).snapshot(), facet) is None
