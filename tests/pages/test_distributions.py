"""Charts of the content of the library, drawn once somebody opens them."""

import numpy as np
import pytest

from components.overview import distributions
from store.catalog.filters import Filter
from store.library import Library
from store.reading import statistics
from tests.browser.coins import COINS
from tests.pages.conftest import opened, rerun


def test_distributions_are_drawn_only_when_opened(library: Library) -> None:
    app = opened()
    assert len(app.get("plotly_chart")) == 1, "this week alone"
    app.session_state["distributions"] = True
    assert len(rerun(app).get("plotly_chart")) == 1 + 4


def test_labels_and_lengths_match_the_library(library: Library) -> None:
    counts = library.tag_counts(Filter(tier="library"))
    shown = distributions.ranking(counts)
    assert dict(zip(shown["name"], shown["count"], strict=True)) == dict(list(counts.items())[:15])
    lengths = distributions.lengths(statistics.caption_lengths(library))
    assert lengths[lengths["kind"] == "Entity"]["value"].sum() == len(COINS)
    assert sorted(lengths[lengths["kind"] == "Entity"]["start"]) == list(
        range(0, lengths["start"].max() + 1, statistics.LENGTH)
    ), "lengths that no caption has are drawn as 0"


def test_every_cosine_falls_into_a_bin_including_the_last() -> None:
    cosines = {
        "Nearest coin": np.array([1.0, 0.96, 0.1], np.float32),
        "Any two coins": np.array([-1.0, 0.12], np.float32),
    }
    classes = distributions.cosines(cosines)
    assert list(classes.groupby("kind")["value"].sum()) == pytest.approx([1, 1])
    last = classes[classes["kind"] == "Nearest coin"].iloc[-1]
    assert (last["start"], last["value"]) == (pytest.approx(0.95), pytest.approx(2 / 3))
