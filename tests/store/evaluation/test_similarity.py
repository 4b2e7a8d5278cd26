"""How similar coins are: twins are nearest to each other, and no coin is compared with itself."""

import numpy as np
import pytest

from store.evaluation import similarity
from store.evaluation.similarity import similarities
from store.records import Facet
from store.vectors.matrices import Vectors, load


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
