"""Figures of how similarities are spread."""

import numpy as np
import pytest

from components.insights import spread


def test_every_cosine_falls_into_a_bin_including_the_last() -> None:
    cosines = {
        "Nearest coin": np.array([1.0, 0.96, 0.1], np.float32),
        "Any two coins": np.array([-1.0, 0.12], np.float32),
    }
    classes = spread.cosines(cosines)
    assert list(classes.groupby("kind")["value"].sum()) == pytest.approx([1, 1])
    last = classes[classes["kind"] == "Nearest coin"].iloc[-1]
    assert (last["start"], last["value"]) == (pytest.approx(0.95), pytest.approx(2 / 3))
