"""Whatever the sliders say, what stands in the list was among the rows sent."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from store.reaching import reaching
from store.records import FACETS
from tests.store.test_search import weights as sliders


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([0.0, 0.3, 0.9]), st.data())
def test_no_weights_bring_up_a_record_that_was_left_out(
    seed: int, top: int, lacking: float, data: st.DataObject
) -> None:
    random = np.random.default_rng(seed)
    cosines = (random.normal(0, 1, (400, 1)) + random.normal(0, 0.7, (400, 5))).astype(np.float32)
    cosines[random.random((400, 5)) < lacking * random.integers(0, 2, 5)] = np.nan
    means = np.array([np.nanmean(column) for column in cosines.astype(np.float64).T])
    rows = reaching(cosines, means, top=top)
    filled = np.where(np.isnan(cosines), means, cosines.astype(np.float64))
    for _ in range(12):
        chosen = data.draw(sliders) or dict.fromkeys(FACETS, 1.0)
        weights = np.array([chosen.get(facet, 0.0) for facet in FACETS])
        if not weights.any():
            continue
        scores = filled @ (weights / weights.sum())
        scores[np.isnan(cosines[:, weights > 0]).all(axis=1)] = -np.inf  # no hits
        first = np.argsort(-scores, kind="stable")[:top]
        assert set(first[np.isfinite(scores[first])].tolist()) <= set(rows.tolist())
    if lacking == 0.0:
        assert len(rows) < 400
