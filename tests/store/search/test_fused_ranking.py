"""Meaning and words together: their scores, and the gain on golden queries."""

from hashlib import sha256

import numpy as np
import pytest

from store.embedding.protocol import Vector
from store.evaluation import evaluation
from store.evaluation.evaluation import PresetResult
from store.library import Library
from store.records import FACETS, Facet
from store.search.in_browser import skyline
from store.search.query import Part, Query
from store.search.ranking import FUSION, Words, hits, rank
from store.search.similarities import Similarities
from store.vectors.matrices import load
from store.vectors.weights import DEFAULT_WEIGHTS

# -- word scores --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_fused_scores_are_the_sum_of_facet_and_word_contributions(demo_library: Library) -> None:
    parts = (Part(text="a frog in the rain"),)
    plain, fused = demo_library.search(Query(parts)), demo_library.search(Query(parts, fused=True))
    by_meaning = {hit.address: hit.score for hit in demo_library.search(Query(parts, top=200)).hits}
    for hit in fused.hits:
        facets = sum(given.contribution for given in hit.facets.values())
        assert facets == pytest.approx(by_meaning[hit.address])
        assert hit.score == pytest.approx(facets + hit.words.contribution)
    assert max(hit.words.share for hit in fused.hits) == 1
    assert all(hit.words == (0, 0) for hit in plain.hits)
    assert sum(hit.words.share > 0 for hit in fused.hits) > sum(
        hit.words.share > 0 for hit in fused.hits[20:]
    )


@pytest.mark.slow
def test_negative_and_single_facet_parts_add_no_word_score(demo_library: Library) -> None:
    for parts in (
        (Part(text="dog"), Part(text="frog", weight=-1)),
        (Part(text="frog", facets=("visual",)), Part(text="dog")),
    ):
        fused = demo_library.search(Query(parts, fused=True))
        assert {
            one.name for one in demo_library.records(hit.address for hit in fused.hits if hit.words.share)
        }.isdisjoint({"Byte Frog"})


@pytest.mark.slow
def test_fused_ranking_improves_golden_queries(demo_library: Library) -> None:
    """The parameters were tuned on one half of the queries; the other half is held out."""
    found = evaluation.evaluate(demo_library, presets={"Reference": DEFAULT_WEIGHTS["text"]})
    raw, _, fused = found.rows

    def gain(row: PresetResult, half: int) -> float:
        gains = found._table(row, k=10)[:, 2]
        return float(
            np.mean([own for own, line in zip(gains, found.lines, strict=True) if half_of(line) == half])
        )

    assert found.scores(raw).ndcg.mean == pytest.approx(0.82, abs=0.02)
    assert found.scores(fused).ndcg.mean >= 0.93
    for half in (0, 1):
        assert gain(fused, half) >= 0.9 > gain(raw, half)


def half_of(line: str) -> int:
    return int(sha256(line.encode()).hexdigest(), 16) % 2


# -- exact results in large libraries -----------------------------------------------------------------------


ROWS, DIMENSIONS = 900, 32


def random_similarities(seed: int) -> tuple[Similarities, Words, np.random.Generator]:
    random = np.random.default_rng(seed)
    vectors: dict[Facet, Vector] = {}
    for facet in FACETS:
        drawn = random.normal(0, 1, (ROWS, DIMENSIONS))
        vectors[facet] = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    rows = (
        (f"local-{row:04}", {facet: own[row] for facet, own in vectors.items() if (row + len(facet)) % 4})
        for row in range(ROWS)
    )
    direction = random.normal(0, 1, DIMENSIONS)
    directions = dict.fromkeys(FACETS, (direction / np.linalg.norm(direction)).astype(np.float32))
    chosen = np.sort(random.choice(ROWS, 40, replace=False))
    shares = random.random(40).astype(np.float32).astype(np.float64)
    snapshot = load(rows, dimensions=DIMENSIONS).snapshot()
    return Similarities(snapshot, directions), Words(chosen, shares), random


@pytest.mark.parametrize("seed", range(6))
def test_the_best_fused_results_are_exact_and_sent_to_the_page(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.search.similarities.FEW", 100)
    directions, words, random = random_similarities(seed)
    mask = random.random(ROWS) < 0.8
    sent = skyline(directions, np.flatnonzero(mask), top=15, limit=ROWS)
    assert sent is not None
    sent = np.union1d(sent, words.rows)
    fresh, _, _ = random_similarities(seed)
    cosines = fresh.cosines(np.arange(ROWS)).astype(np.float64)
    filled = np.where(np.isnan(cosines), fresh.means, cosines)
    for _ in range(8):
        weights: dict[Facet, float] = dict(zip(FACETS, random.integers(0, 5, 5).astype(float), strict=True))
        if not any(weights.values()):
            continue
        directions, words, _ = random_similarities(seed)
        found = rank(directions, weights, top=15, mask=mask, words=words)
        shares = np.array([weights[facet] for facet in FACETS]) / sum(weights.values())
        scores = filled @ shares
        gain = FUSION * float(shares @ directions.deviations)
        scores[words.rows] += gain * words.shares
        scores[~mask | np.isnan(cosines[:, shares > 0]).all(axis=1)] = -np.inf
        best = np.argsort(-scores, kind="stable")[:15]
        assert found.gain == pytest.approx(gain)
        assert found.rows == best.tolist()
        assert found.scores == pytest.approx(scores[best].tolist(), abs=1e-6)
        assert set(found.rows) <= set(sent.tolist())
        for hit in hits(directions, found, weights, words=words):
            given = sum(one.contribution for one in hit.facets.values()) + hit.words.contribution
            assert given == pytest.approx(hit.score, abs=1e-6)
