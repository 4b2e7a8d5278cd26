"""The cosine below which nothing fits, measured with nonsense queries on this library and model.

The queries of nonsense_questions.txt mean nothing, so the cosines they reach are chance. A query whose words
all are missing in the library, and whose cosines are no higher, fits nothing either. A fixed threshold would
suit one model only; docs/decisions.md states how well this separates queries.
"""

from functools import cache
from importlib import resources

import numpy as np

from store.embedding.protocol import Embedder
from store.records import FACETS
from store.vectors.blocks import VectorSnapshot

_COMPARED = 5_000  # records; more would raise the floor by hardly anything
CAPTIONS = tuple(number for number, facet in enumerate(FACETS) if facet != "image")


@cache
def nonsense_questions() -> tuple[str, ...]:
    """Texts that no record answers."""
    return tuple(
        resources.files("store.search").joinpath("nonsense_questions.txt").read_text("utf-8").splitlines()
    )


def floor(snapshot: VectorSnapshot, embedder: Embedder) -> float:
    """The highest cosine of a nonsense query with a caption; -1 without captions."""
    count = len(snapshot)
    rows = np.unique(np.linspace(0, count - 1, min(count, _COMPARED)).astype(np.intp))
    vectors = embedder.embed_texts(list(nonsense_questions()))
    best = -1.0
    for number in CAPTIONS:
        own = rows[snapshot.present[number, rows]]
        if len(own):
            best = max(best, float((snapshot.rows(own, FACETS[number]) @ vectors.T).max()))
    return best
