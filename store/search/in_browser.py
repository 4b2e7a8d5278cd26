"""What a page needs to rank results again by itself, as `components/grid/js/rank.js` does it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.records import FACETS
from store.search.query import Query
from store.search.ranking import DOUBT, FUSION, PICTURES
from store.search.search import Results


def figures(results: Results) -> dict[str, Any]:
    """Means and deviations of the facets, the floor, and how words and pictures count; None without any."""
    words, pictures = results.words, results.stand_in
    return {
        "means": [None if np.isnan(mean) else float(mean) for mean in results.means],
        "deviations": results.answer.deviations.tolist(),
        "floor": results.floor(),
        "words": words and {"strength": FUSION},
        "fused": results.query.fused,
        "pictures": pictures
        and {
            "strength": PICTURES,
            "doubt": DOUBT,
            "means": pictures.means.tolist(),
            "deviations": pictures.deviations.tolist(),
            "picture": pictures.picture,
            "usual": Query(results.query.parts).sliders,
        },
    }


def columns(results: Results, rows: NDArray[np.intp]) -> dict[str, NDArray[np.float32]]:
    """(n,) for each facet: the cosines of these rows, NaN where a record lacks it.

    With words of the query, `words` has each row's share of them; where pictures replace captions that say
    nothing, `silent` is 1.
    """
    answer = results.answer
    found = dict(zip(FACETS, answer.cosines(rows).T.copy(), strict=True))
    if results.words:
        shares = np.zeros(len(answer.addresses), np.float32)
        shares[results.words.rows] = results.words.shares
        found["words"] = shares[rows]
    if results.stand_in:
        silent = np.zeros(len(answer.addresses), np.float32)
        silent[results.stand_in.rows] = 1
        found["silent"] = silent[rows]
    return found
