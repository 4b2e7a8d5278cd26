"""Which captions a text is closest to, and whether it fits its own picture; computed while one types."""

from dataclasses import dataclass

import numpy as np

from store.embedding.arrays import Vector
from store.records import FACETS, Facet
from store.vectors.blocks import VectorSnapshot

TOP = 6


@dataclass(frozen=True, slots=True)
class TextNeighbours:
    """The neighbours of a text in one facet of the library."""

    neighbours: list[tuple[str, float]]  # address and cosine, the nearest first
    compared: int  # records that have the facet, its own aside
    agreement: float | None  # cosine with its own picture; None where that has no vector
    rank: int | None  # 1 when its own picture fits the text best of all, 2 when one fits better …
    pictures: int  # … of so many


def neighbours(
    snapshot: VectorSnapshot, facet: Facet, text: Vector, *, own: str, picture: Vector | None, scale: float
) -> TextNeighbours:
    """Compare a text's vector (d,) with one facet of every other record, and with every picture.

    `scale` turns the dot product of a text and a picture into their cosine (`Embedder.cross_modal_scale`).
    """
    others = ~snapshot.mask([own])
    cosines = _cosines(snapshot, facet, text)
    there = snapshot.present[FACETS.index(facet)] & others
    cosines[~there] = -np.inf
    count = min(TOP, int(np.count_nonzero(there)))
    nearest = np.argpartition(-cosines, count - 1)[:count] if count else np.empty(0, np.intp)
    nearest = nearest[np.argsort(-cosines[nearest], kind="stable")]
    agreement = None if picture is None else float(np.vecdot(text, picture))
    rank = None
    seen = snapshot.present[FACETS.index("image")] & others
    if agreement is not None:
        better = _cosines(snapshot, "image", text) > agreement
        rank = 1 + int(np.count_nonzero(better & seen))
    return TextNeighbours(
        neighbours=[(snapshot.addresses[row], float(cosines[row])) for row in nearest],
        compared=int(np.count_nonzero(there)),
        agreement=None if agreement is None else agreement * scale,
        rank=rank,
        pictures=int(np.count_nonzero(seen)) + 1,
    )


def _cosines(snapshot: VectorSnapshot, facet: Facet, direction: Vector) -> Vector:
    found = np.empty(len(snapshot), np.float32)
    snapshot.products(facet, direction, out=found)
    return found
