"""For any weights, every row in the list is among the rows sent."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.embedding.protocol import Vector
from store.records import FACETS, Facet
from store.search import in_browser
from store.search.in_browser import skyline
from store.search.similarities import Similarities
from store.vectors.matrices import load
from tests.store.search.plain_search import weights as sliders

ROWS, DIMENSIONS = 400, 24


def random_similarities(random: np.random.Generator, *, lacking: float) -> Similarities:
    """A question and records with correlated facets, some of which are missing."""
    subjects = random.normal(0, 1, (ROWS, DIMENSIONS))
    vectors = {facet: unit(subjects + random.normal(0, 0.7, (ROWS, DIMENSIONS))) for facet in FACETS}
    has = random.random((ROWS, len(FACETS))) >= lacking * random.integers(0, 2, len(FACETS))
    has[:, 0] |= ~has.any(axis=1)
    rows = (
        (
            f"local-{row:03}",
            {facet: own[row] for at, (facet, own) in enumerate(vectors.items()) if has[row, at]},
        )
        for row in range(ROWS)
    )
    directions: dict[Facet, Vector] = dict.fromkeys(FACETS, unit(random.normal(0, 1, (1, DIMENSIONS)))[0])
    return Similarities(load(rows, dimensions=DIMENSIONS).snapshot(), directions)


def unit(rows: np.ndarray) -> Vector:
    found: Vector = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10_000),
    st.integers(1, 12),
    st.sampled_from([0.0, 0.3, 0.9]),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_no_weights_put_an_unsent_record_in_the_top_results(
    seed: int, top: int, lacking: float, filtered: bool, folded: bool, data: st.DataObject
) -> None:
    random = np.random.default_rng(seed)
    similarities = random_similarities(random, lacking=lacking)
    among = np.flatnonzero(random.random(ROWS) < 0.8) if filtered else np.arange(ROWS)
    groups = random.integers(-20, 20, ROWS) if folded else None
    found = skyline(similarities, among, top=top, limit=ROWS, groups=groups)
    sent = found.tolist()
    assert set(sent) <= set(among.tolist())
    if lacking == 0.0:
        assert len(sent) < len(among)
    cosines = similarities.cosines(np.arange(ROWS)).astype(np.float64)
    filled = np.where(np.isnan(cosines), similarities.means, cosines)
    for _ in range(12):
        chosen = data.draw(sliders) or dict.fromkeys(FACETS, 1.0)
        weights = np.array([chosen.get(facet, 0.0) for facet in FACETS])
        weights[~np.array(similarities.spoken)] = 0
        if not weights.any():
            continue
        scores = filled[among] @ (weights / weights.sum())
        scores[np.isnan(cosines[among][:, weights > 0]).all(axis=1)] = -np.inf  # no hits
        order = [int(among[at]) for at in np.argsort(-scores, kind="stable") if np.isfinite(scores[at])]
        if groups is not None:
            order = best_of_each(order, groups)
        assert set(order[:top]) <= set(sent)


def best_of_each(order: list[int], groups: np.ndarray) -> list[int]:
    seen: set[int] = set()
    kept = []
    for row in order:
        group = int(groups[row])
        if group < 0 or group not in seen:
            kept.append(row)
        seen.add(group)
    return kept


def test_sent_rows_are_exact_and_few_others_are_read() -> None:
    similarities = random_similarities(np.random.default_rng(3), lacking=0.3)
    sent = skyline(similarities, np.arange(ROWS), top=5, limit=ROWS)
    assert sent is not None
    least, most = similarities.bounds(np.arange(ROWS))
    exact = (least == most).all(axis=0)
    assert exact[sent].all()
    assert np.count_nonzero(exact) < ROWS
    assert np.array_equal(least[:, sent], similarities.rescored(sent).astype(np.float32))


def test_in_a_large_library_no_facet_is_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    similarities = random_similarities(np.random.default_rng(5), lacking=0.3)
    monkeypatch.setattr(in_browser, "_LARGE", ROWS - 1)
    assert skyline(similarities, np.arange(50), top=5, limit=ROWS) is None
    assert not similarities._scanned


def test_every_cosine_lies_within_its_bounds() -> None:
    similarities = random_similarities(np.random.default_rng(4), lacking=0.3)
    every = np.arange(ROWS)
    least, most = similarities.bounds(every)
    similarities.rescore(every)
    exact = similarities.rescored(every)
    assert (least < most).any()
    assert (least <= exact + 1e-7).all()
    assert (exact - 1e-7 <= most).all()


def test_nothing_is_read_when_too_many_rows_qualify() -> None:
    similarities = random_similarities(np.random.default_rng(5), lacking=0.0)
    assert skyline(similarities, np.arange(ROWS), top=5, limit=5) is None
    least, most = similarities.bounds(np.arange(ROWS))
    assert (least < most).all()
