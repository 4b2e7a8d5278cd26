"""Bounds of cosines exclude most vectors and never one that is near enough."""

import numpy as np
import pytest

from store.embedding.arrays import Vector
from store.search.cosine_bounds import CosineBounds, floats, halves

DIMENSIONS = 768


def pictures(random: np.random.Generator, count: int, *, large: int) -> Vector:
    """(count, DIMENSIONS) unit vectors, some numbers of which are larger than the others in all."""
    scale = np.ones(DIMENSIONS, np.float32)
    scale[:: DIMENSIONS // large] = 6
    rows = random.standard_normal((count, DIMENSIONS), dtype=np.float32) * scale
    rows[1::10] = rows[::10][: len(rows[1::10])] + rows[1::10] * 0.3  # copies
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.mark.parametrize("large", [1, 64, 128, 768])
def test_no_near_vector_is_excluded(large: int) -> None:
    rows = halves(pictures(np.random.default_rng(large), 3000, large=large))
    bounds = CosineBounds()
    for least in (0.5, 0.9, 0.999):
        for own in (0, 1, 2999):
            vector = floats(rows[own])
            cosines = np.vecdot(floats(rows), vector)
            assert set(np.flatnonzero(cosines >= least)) <= set(bounds.possible(rows, vector, least=least))


def test_most_vectors_are_excluded_where_some_numbers_are_large() -> None:
    rows = halves(pictures(np.random.default_rng(3), 3000, large=128))
    assert len(CosineBounds().possible(rows, floats(rows[0]), least=0.9)) < 100


def test_rows_that_come_later_are_found() -> None:
    rows = halves(pictures(np.random.default_rng(4), 2500, large=128))
    bounds = CosineBounds()
    assert not len(bounds.possible(rows[:0], floats(rows[2]), least=0.9))
    for count in (1, 2, 1100, 2500):
        assert count - 1 in bounds.possible(rows[:count], floats(rows[count - 1]), least=0.99)


def test_vectors_shorter_than_the_largest_numbers_are_compared_whole() -> None:
    rows = halves(np.eye(4, dtype=np.float32))
    assert CosineBounds().possible(rows, floats(rows[2]), least=0.9).tolist() == [2]
