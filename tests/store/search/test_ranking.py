"""Order and score: what weights, ties and missing facets do to them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from store.embedding.protocol import Vector
from store.records import FACETS
from store.search.query import Part, Query
from store.search.search import NO_COMMON_FACET, NO_WEIGHT, NONE_ASKED_FOR, NOTHING_THERE, Search
from store.vectors.matrices import load
from tests.store.search.plain_search import (
    DIMENSIONS,
    WORDS,
    FiveWordEmbedder,
    Library,
    pairs_of,
    search,
    unit,
)

pytestmark = pytest.mark.usefixtures("without_chroma", "way")


def test_the_smallest_positive_weight_makes_a_hit() -> None:
    library: Library = {"local-a": {"entity": unit(1)}, "local-b": {"visual": unit(1)}}
    query = Query((Part(text="frog"),), weights={"entity": 4, "visual": 5e-324})
    assert pairs_of(search(library, query)) == [("local-a", 1.0), ("local-b", 1.0)]
    assert pairs_of(search(library, replace(query, weights={"visual": 5e-324}))) == [("local-b", 1.0)]


def test_ties_at_the_last_place_are_broken_by_address() -> None:
    library: Library = {f"local-{number}": {"entity": WORDS["frog"]} for number in (4, 2, 9, 1, 7)}
    hits = search(library, Query((Part(text="frog"),), top=3)).hits
    assert [hit.address for hit in hits] == ["local-1", "local-2", "local-4"]


def test_nothing_is_searched_when_every_weight_is_zero() -> None:
    five_words = FiveWordEmbedder()
    results = Search(load([], dimensions=DIMENSIONS), embedder=five_words).search(
        Query((Part(text="frog"),), weights={})
    )
    assert results.why_empty == NO_WEIGHT
    assert results.hits == []
    assert five_words.requests == []


def test_an_empty_result_says_why_it_is_empty() -> None:
    library: Library = {"local-a": {"entity": unit(1)}}
    frog = Part(text="frog")
    assert search({}, Query((frog,))).why_empty == NOTHING_THERE
    assert search(library, Query((frog,)), among=[]).why_empty == NONE_ASKED_FOR
    assert search(library, Query((frog,), weights={"image": 1})).why_empty == NO_COMMON_FACET
    assert search(library, Query((replace(frog, facets=("image",)),))).why_empty == NO_COMMON_FACET


# A missing facet neither helps nor hurts on average.


class NumberEmbedder(FiveWordEmbedder):
    """An embedder for the numbers 0 to 39, each with its own direction."""

    directions: Vector = np.random.default_rng(6).standard_normal((40, 32), dtype=np.float32)

    def embed_texts(self, texts: Sequence[str]) -> Vector:
        found: Vector = self.directions[[int(text) for text in texts]]
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return found


def test_a_missing_facet_neither_helps_nor_hurts_on_average() -> None:
    random = np.random.default_rng(5)
    made = random.standard_normal((1_000, 5, 32), dtype=np.float32)
    made += 0.5  # as with real models, the mean of the cosines is not 0
    made /= np.linalg.norm(made, axis=2, keepdims=True)
    library: Library = {
        f"local-{row}": {
            facet: made[row, number]
            for number, facet in enumerate(FACETS)
            if number < 3 or random.random() > 1 / 3
        }
        for row in range(1_000)
    }
    lacking = {address for address, own in library.items() if len(own) < 5}
    asking = Search(load(library.items(), dimensions=32), embedder=NumberEmbedder(dimensions=32))
    differences, at_the_top, in_upper_half = [], [], []
    for number in range(40):
        hits = asking.search(Query((Part(text=str(number)),), top=1_000)).hits
        scores = {hit.address: hit.score for hit in hits}
        spread = np.std(list(scores.values()))
        mean_of = [np.mean([s for a, s in scores.items() if (a in lacking) == way]) for way in (True, False)]
        differences.append((mean_of[0] - mean_of[1]) / spread)
        at_the_top.append(np.mean([hit.address in lacking for hit in hits[:50]]))
        in_upper_half.append(np.mean([hit.address in lacking for hit in hits[:500]]))
    share = len(lacking) / 1_000
    assert abs(np.mean(differences)) < 0.05  # of a standard deviation of the scores
    assert np.mean(in_upper_half) == pytest.approx(share, abs=0.02)
    # A filled-in value varies less than a measured one, so the very top holds slightly fewer. Leaving the
    # facet out of the weighted mean instead would put about 0.8 there.
    assert np.mean(at_the_top) == pytest.approx(share, abs=0.05)
