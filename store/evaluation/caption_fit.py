"""How well each record's captions fit its own picture, to find wrong captions.

A picture's cosine with a caption says little by itself: some pictures are close to everything, some captions
too, and models differ. So each record's own pair is compared with pairs of strangers: the mean and deviation
of the picture's cosines with other captions, and of the caption's cosines with other pictures (as in
cross-domain similarity local scaling, Conneau et al. 2018, with all of a sample as neighbours). The fit is
the mean of the two standard scores: 0 is what a stranger's caption reaches, 2 or more what one's own should.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.embedding.arrays import Vector
from store.records import CAPTION_FACETS, FACETS
from store.vectors.blocks import VectorSnapshot
from store.vectors.weights import DEFAULT_WEIGHTS

SAMPLE = 1_000  # strangers that each pair is compared with
_AT_ONCE = 1_024  # records; all of a large library together would take gigabytes
FEWEST = 20  # records, below which strangers say nothing


class Fit(NamedTuple):
    """How much better the captions of one record fit its picture than strangers' do, in deviations."""

    address: str
    fit: float


def disagreements(snapshot: VectorSnapshot) -> list[Fit]:
    """Every record that has a picture and captions, the worst fit first; empty for a very small library."""
    has = dict(zip(FACETS, snapshot.present, strict=True))
    rows = np.flatnonzero(has["image"] & np.any([has[facet] for facet in CAPTION_FACETS], axis=0))
    if len(rows) < FEWEST:
        return []
    strangers = _pairs(snapshot, np.sort(np.random.default_rng(0).permutation(rows)[:SAMPLE]))
    fit = np.concatenate(
        [
            _fit(_pairs(snapshot, rows[start : start + _AT_ONCE]), strangers)
            for start in range(0, len(rows), _AT_ONCE)
        ]
    )
    return [
        Fit(snapshot.addresses[rows[at]], float(fit[at])) for at in np.argsort(fit, kind="stable").tolist()
    ]


def _fit(own: tuple[Vector, Vector], others: tuple[Vector, Vector]) -> Vector:
    (pictures, captions), (their_pictures, their_captions) = own, others
    together = np.vecdot(pictures, captions)
    by_picture = _standard(together, pictures @ their_captions.T)
    by_caption = _standard(together, captions @ their_pictures.T)
    return (by_picture + by_caption) / np.float32(2)


def _standard(own: Vector, others: Vector) -> Vector:
    deviation = others.std(axis=1)
    standard: Vector = (own - others.mean(axis=1)) / np.where(deviation > 0, deviation, np.float32(1))
    return standard


def _pairs(snapshot: VectorSnapshot, rows: NDArray[np.intp]) -> tuple[Vector, Vector]:
    """(n, d) each: the pictures of these rows, and their captions as one vector."""
    captions = np.zeros((len(rows), snapshot.dimensions), np.float32)
    for facet in CAPTION_FACETS:
        captions += np.float32(DEFAULT_WEIGHTS["text"][facet]) * snapshot.rows(rows, facet)
    lengths = np.linalg.norm(captions, axis=1, keepdims=True)
    captions /= np.where(lengths > 0, lengths, np.float32(1))
    return snapshot.rows(rows, "image"), captions
