"""A stored vector counts if it is float32 numbers of unit length."""

import numpy as np

from store.embedding.validation import are_usable

UNIT = np.array([0.6, 0.8, 0.0], "<f4").tobytes()


def test_each_of_many_vectors_is_judged_by_itself() -> None:
    longer = np.array([0.0, 1.0, 0.0, 0.0], "<f4").tobytes()
    broken = np.array([np.nan, 1.0, 0.0], "<f4").tobytes()
    stored = [UNIT, UNIT[:-1], longer, b"", broken, bytes(12), UNIT]
    assert are_usable(stored).tolist() == [True, False, True, False, False, False, True]


def test_none_are_none() -> None:
    assert are_usable([]).tolist() == []
