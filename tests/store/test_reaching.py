"""Whatever the sliders say, what stands in the list was among the rows sent."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from store.ranking import Similarities, rank
from store.reaching import reaching
from store.records import FACETS
from tests.store.test_search import weights as sliders


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([0.0, 0.3, 0.9]), st.data())
def test_no_weights_bring_up_a_record_that_was_left_out(
    seed: int, top: int, lacking: float, data: st.DataObject
) -> None:
    random = np.random.default_rng(seed)
    columns = (random.normal(0, 1, (1, 400)) + random.normal(0, 0.7, (5, 400))).astype(np.float32)
    present = random.random((5, 400)) >= lacking * random.integers(0, 2, (5, 1))
    similarities = Similarities(tuple(f"local-{row:03}" for row in range(400)), present, columns)
    rows = set(reaching(similarities.values, similarities.means, top=top).tolist())
    for _ in range(12):
        chosen = data.draw(sliders) or dict.fromkeys(FACETS, 1.0)
        assert set(rank(similarities, chosen, top=top).rows) <= rows
    if lacking == 0.0:
        assert len(rows) < 400
