"""Samples by pictures: what comes first of each kind, and that equal seeds give equal samples."""

import numpy as np
import pytest

from store.search.samples import SAMPLES, sampled

LARGE, SMALL, FAR = range(60), range(60, 90), 90  # two groups, and one picture unlike both


@pytest.fixture
def vectors() -> np.ndarray:
    random = np.random.default_rng(0)
    middles = np.eye(3, 16, dtype=np.float32)
    groups = np.array([0] * 60 + [1] * 30 + [2])
    rows = middles[groups] + 0.1 * random.standard_normal((91, 16)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def order(vectors: np.ndarray, kind: str, seed: int = 1) -> list[int]:
    return list(sampled(len(vectors), lambda rows: vectors[rows], kind, seed=seed))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_sample_orders_all_and_equal_seeds_give_equal_ones(vectors: np.ndarray, kind: str) -> None:
    assert sorted(order(vectors, kind)) == list(range(91))
    assert order(vectors, kind) == order(vectors, kind)
    for few in (0, 1, 2):
        assert sorted(order(vectors[:few], kind)) == list(range(few))


def test_a_diverse_sample_has_all_three_kinds_among_its_first(vectors: np.ndarray) -> None:
    for seed in range(1, 6):
        first = order(vectors, "diverse", seed)[:3]
        assert FAR in first
        assert any(one in LARGE for one in first)
        assert any(one in SMALL for one in first)
    assert order(vectors, "diverse", 1) != order(vectors, "diverse", 2)


def test_the_picture_unlike_all_others_is_the_first_outlier(vectors: np.ndarray) -> None:
    for seed in range(1, 21):
        assert order(vectors, "outliers", seed)[0] == FAR


def test_a_balanced_sample_has_small_groups_as_often_as_large_ones() -> None:
    two = np.eye(2, 4, dtype=np.float32)[np.array([0] * 95 + [1] * 5)]
    first = order(two, "balanced")[:4]
    assert sum(one >= 95 for one in first) == 2


def test_a_typical_sample_begins_in_the_middle_of_the_largest_group(vectors: np.ndarray) -> None:
    spread = vectors[: len(LARGE)]
    first = order(spread, "typical")[0]
    closeness = spread @ spread.mean(axis=0)
    assert closeness[first] > np.median(closeness)
