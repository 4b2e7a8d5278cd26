"""How well each record's captions fit its own picture: wrong captions show themselves.

A picture's cosine with a caption says little by itself: some pictures are near to everything, some captions
too, and models differ. So each record's own pair is compared with pairs of strangers: the mean and the
deviation of the picture's cosines with the captions of others, and of the caption's cosines with the
pictures of others (as cross-domain similarity local scaling does, Conneau et al. 2018, with all of a sample
as neighbours). The fit is the mean of the two standard scores: 0 is what a stranger's caption reaches, 2 or
more what one's own should.
"""

from typing import NamedTuple

import numpy as np

from store.blocks import Snapshot, Vector
from store.query import DEFAULT_WEIGHTS
from store.records import CAPTION_FACETS, Facet

SAMPLE = 1_000  # strangers that each pair is compared with
FEWEST = 20  # records, below which strangers say nothing


class Fit(NamedTuple):
    """How far the captions of one record fit its picture better than strangers' do, in deviations."""

    address: str
    fit: float


def disagreements(snapshot: Snapshot) -> list[Fit]:
    """Every record that has a picture and captions, the worst fit first; none in a very small library."""
    pictures = _vectors(snapshot, "image")
    captions = np.zeros_like(pictures)
    for facet in CAPTION_FACETS:
        captions += np.float32(DEFAULT_WEIGHTS["text"][facet]) * _vectors(snapshot, facet)
    lengths = np.linalg.norm(captions, axis=1, keepdims=True)
    captions /= np.where(lengths > 0, lengths, 1)
    rows = np.flatnonzero(pictures.any(axis=1) & captions.any(axis=1))
    if len(rows) < FEWEST:
        return []
    pictures, captions = pictures[rows], captions[rows]
    some = np.random.default_rng(0).permutation(len(rows))[:SAMPLE]
    own = np.vecdot(pictures, captions)
    fit = (_standard(own, pictures @ captions[some].T) + _standard(own, captions @ pictures[some].T)) / 2
    return [
        Fit(snapshot.addresses[rows[at]], float(fit[at])) for at in np.argsort(fit, kind="stable").tolist()
    ]


def _standard(own: Vector, others: Vector) -> Vector:
    deviation = others.std(axis=1)
    standard: Vector = (own - others.mean(axis=1)) / np.where(deviation > 0, deviation, np.float32(1))
    return standard


def _vectors(snapshot: Snapshot, facet: Facet) -> Vector:
    """(N, dimensions): zeros where a record has none."""
    none = np.empty((0, snapshot.dimensions), np.float32)
    return np.concatenate([none, *(slab.block.vectors[facet][slab.living] for slab in snapshot.slabs)])
