"""Figures of how similarities are spread."""

import numpy as np
import pytest

from components.insights import spread


def test_every_cosine_falls_into_a_class_including_the_last() -> None:
    shares = spread.shares(np.array([1.0, 0.96, 0.1], np.float32))
    assert sum(shares.values()) == pytest.approx(1)
    assert (min(shares), max(shares)) == (2, 19), "0.10 to 0.15, and 0.95 to 1"
    assert shares[19] == pytest.approx(2 / 3)
    assert shares[3] == 0


def test_opposite_vectors_have_a_class_too() -> None:
    assert min(spread.shares(np.array([-1.0, 0.12], np.float32))) == -20
