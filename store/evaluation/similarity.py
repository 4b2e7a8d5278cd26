"""How similar records are: to their nearest neighbours, and captions to their own pictures.

A picture's cosine with a caption says little by itself: some pictures are close to everything, some captions
too, and models differ. So each record's own pair is compared with pairs of strangers: the mean and deviation
of the picture's cosines with other captions, and of the caption's cosines with other pictures (as in
cross-domain similarity local scaling, Conneau et al. 2018, with all of a sample as neighbours). The fit is
the mean of the two standard scores: 0 is what a stranger's caption reaches, 2 or more what one's own should.

AT_ODDS was measured with the built-in model on the 256 captioned coins of the demo library whose captions
are right: none of them fits worse, and 1.4 of 100 exchanged captions do. (At −1.5: 1 of the 256, 2.7 of 100;
at −1.25: 3 and 7.2.)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import Vector
from store.records import CAPTION_FACETS, FACETS, Facet
from store.vectors.matrices import VectorSnapshot
from store.vectors.weights import DEFAULT_WEIGHTS

AT_ODDS = -1.75  # the fit below which a caption probably belongs to another picture
_STRANGERS = 1_000  # strangers that each pair is compared with
_PAIRS_AT_ONCE = 1_024  # records; all of a large library together would take gigabytes
FEWEST_PAIRS = 20  # records, below which strangers say nothing


class Fit(NamedTuple):
    """How much better the captions of one record fit its picture than strangers' do, in deviations."""

    address: str
    fit: float


def disagreements(
    snapshot: VectorSnapshot,
    *,
    scale: float | Vector,
    waiting: Mapping[str, Mapping[Facet, Vector]] | None = None,
) -> list[Fit]:
    """Every record that has a picture and captions, the worst fit first; empty for a very small library.

    `waiting` has the vectors of records outside the library, which are compared with the library's. A text
    times `scale` is what pictures are compared with (`Embedder.cross_modal_scale`).
    """
    has = dict(zip(FACETS, snapshot.present, strict=True))
    rows = np.flatnonzero(has["image"] & np.any([has[facet] for facet in CAPTION_FACETS], axis=0))
    if len(rows) < FEWEST_PAIRS:
        return []
    strangers = _pairs(snapshot, np.sort(np.random.default_rng(0).permutation(rows)[:_STRANGERS]), scale)
    found = [
        Fit(snapshot.addresses[row], float(fit))
        for some in np.split(rows, range(_PAIRS_AT_ONCE, len(rows), _PAIRS_AT_ONCE))
        for row, fit in zip(some, _fit(_pairs(snapshot, some, scale), strangers), strict=True)
    ]
    for address, vectors in (waiting or {}).items():
        if "image" in vectors and len(vectors) > 1:
            pair = vectors["image"][np.newaxis], _unit(_weighted(vectors) * np.float32(scale))[np.newaxis]
            found.append(Fit(address, float(_fit(pair, strangers)[0])))
    return sorted(found, key=lambda one: (one.fit, one.address))


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


def _pairs(snapshot: VectorSnapshot, rows: NDArray[np.intp], scale: float | Vector) -> tuple[Vector, Vector]:
    """(n, d) each: the pictures of these rows, and their captions as one vector."""
    captions = np.zeros((len(rows), snapshot.dimensions), np.float32)
    for facet in CAPTION_FACETS:
        captions += np.float32(DEFAULT_WEIGHTS["text"][facet]) * snapshot.rows(rows, facet)
    return snapshot.rows(rows, "image"), _unit(captions * np.float32(scale))


def _weighted(vectors: Mapping[Facet, Vector]) -> Vector:
    facets = [facet for facet in CAPTION_FACETS if facet in vectors]
    weighted: Vector = np.sum([DEFAULT_WEIGHTS["text"][facet] * vectors[facet] for facet in facets], axis=0)
    return weighted


def _unit(vectors: Vector) -> Vector:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Vector = (vectors / np.where(lengths > 0, lengths, np.float32(1))).astype(np.float32)
    return unit


SAMPLE = 300  # records that are compared with all others; half a second for 100,000
FEWEST = 3  # records with the facet, below which there is nothing to compare
_AT_ONCE = 8_192  # records; all of a large library together would take gigabytes


@dataclass(frozen=True, slots=True)
class SimilaritySample:
    """Cosines of one facet, for the same records of a fixed sample."""

    addresses: tuple[str, ...]  # of the sample, n
    nearest: Vector  # (n,): with the most similar other record of the library
    by_chance: Vector  # (n × (n - 1) / 2,): of every two of the sample


def similarities(snapshot: VectorSnapshot, facet: Facet) -> SimilaritySample | None:
    """The cosines of up to SAMPLE records; None if fewer than FEWEST have the facet."""
    rows = np.flatnonzero(snapshot.present[FACETS.index(facet)])
    if len(rows) < FEWEST:
        return None
    chosen = np.sort(np.random.default_rng(0).permutation(rows)[:SAMPLE])  # the same in every run
    own = snapshot.rows(chosen, facet)
    nearest = np.full(len(chosen), -1, np.float32)
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        cosines = own @ snapshot.rows(part, facet).T
        cosines[chosen[:, None] == part] = -1  # a record is no neighbour of its own
        np.maximum(nearest, cosines.max(axis=1), out=nearest)
    pairs = np.triu_indices(len(chosen), k=1)
    addresses = tuple(snapshot.addresses[row] for row in chosen.tolist())
    return SimilaritySample(addresses, nearest, (own @ own.T)[pairs])
