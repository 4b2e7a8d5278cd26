"""How similar a library's records are to their nearest neighbours, and to random records."""

from dataclasses import dataclass

import numpy as np

from store.embedding.arrays import Vector
from store.records import FACETS, Facet
from store.vectors.blocks import VectorSnapshot

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
