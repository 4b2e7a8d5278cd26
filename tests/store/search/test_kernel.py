"""A kernel that follows changes is the one that would be computed from nothing."""

import numpy as np
import pytest

from store.search import kernel
from store.search.kernel import Floats, Kernel


def unit(random: np.random.Generator, count: int) -> Floats:
    rows = random.normal(size=(count, 12))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def is_as_from_nothing(found: Kernel) -> bool:
    plain = Kernel.of(found.vectors)
    return np.allclose(found.similarities, plain.similarities) and np.allclose(found.inverse, plain.inverse)


def test_after_any_changes_it_is_as_if_computed_from_nothing() -> None:
    random = np.random.default_rng(0)
    found = Kernel.of(unit(random, 0))
    for most in (30, *[3] * 40, 0, 60, 1):
        there = len(found.vectors)
        kept = np.sort(random.permutation(there)[random.integers(0, most + 1) :])
        others = unit(random, int(random.integers(0, most + 2)))
        expected = np.concatenate([found.vectors[kept], others])
        found = found.renewed(kept, others)
        assert np.array_equal(found.vectors, expected)
        assert is_as_from_nothing(found)


def test_few_changes_invert_few_rows_and_many_begin_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random, inverted = np.random.default_rng(0), []
    invert = kernel._inverted
    found = Kernel.of(unit(random, 50))
    monkeypatch.setattr(kernel, "_inverted", lambda rows: inverted.append(len(rows)) or invert(rows))
    for _ in range(26):
        found = found.renewed(np.arange(1, 50), unit(random, 1))
    assert inverted == [*[1] * 24, 50, 1]
