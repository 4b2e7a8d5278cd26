"""The cosine below which nothing fits, measured with nonsense queries on this library and model.

The queries of nonsense_questions.txt mean nothing, so the cosines they reach are chance. A query whose words
all are missing in the library, and whose cosines are no higher, fits nothing either. A fixed threshold would
suit one model only.
"""

from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import Embedder
from store.records import FACETS
from store.vectors.blocks import VectorSnapshot

_COMPARED = 5_000  # records; more would raise the floor by hardly anything
_TOGETHER = 16  # of them side by side, since each place of a file is another wait for the disk
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
    rows = compared_rows(count)
    vectors = embedder.embed_texts(list(nonsense_questions()))
    best = -1.0
    for number in CAPTIONS:
        own = rows[snapshot.present[number, rows]]
        if len(own):
            best = max(best, float((snapshot.rows(own, FACETS[number]) @ vectors.T).max()))
    return best


def compared_rows(count: int) -> NDArray[np.intp]:
    """The rows that are compared, of so many: all of few, else short runs all over the library."""
    if count <= _COMPARED:
        return np.arange(count)
    starts = np.linspace(0, count - _TOGETHER, _COMPARED // _TOGETHER).astype(np.intp)
    return np.unique(starts[:, None] + np.arange(_TOGETHER))
