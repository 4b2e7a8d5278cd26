"""What a query compares with each facet: its parts as vectors, added up to one direction for each facet.

Since cosines of unit vectors are dot products, a query of several parts, Σ c_p · s_(p,f) / Σ |c_p|, costs no
more than one of a single part. A part that does not apply to a facet is in neither sum.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from store.embedding.arrays import Vector
from store.embedding.protocol import Embedder
from store.embedding.validation import checked
from store.errors import UnknownRecord
from store.lru import LruCache
from store.records import FACETS, Facet
from store.search.query import BAD, GOOD, Part, PartKey, Query

KEPT_EMBEDDINGS = 256

Directions = dict[Facet, Vector]
StoredVectors = Callable[[str], Mapping[Facet, Vector]]  # of a record's address


class QueryDirections:
    """Embeds the parts of queries with one model, and keeps the last vectors; thread-safe."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._embedded: LruCache[PartKey, Vector] = LruCache(KEPT_EMBEDDINGS)

    def of(self, query: Query, *, own: StoredVectors) -> Directions:
        """(d,) for each facet that the parts speak about; `own` gives the stored vectors of a record.

        Raises UnknownRecord, as `own` does, for an example that the library does not have.
        """
        parts = [part for part in query.parts if part.weight]
        embedded = self._embed(parts)
        spoken = [(part.weight, self._spoken(part, own, embedded)) for part in parts]
        shifts = _shifts(query, own)
        directions: Directions = {}
        for facet in FACETS:
            terms = [(weight, vectors[facet]) for weight, vectors in spoken if facet in vectors]
            if terms:
                terms += [(weight, vectors[facet]) for weight, vectors in shifts if facet in vectors]
                total = sum(abs(weight) for weight, _ in terms)
                summed = np.sum([vector * (weight / total) for weight, vector in terms], axis=0)
                directions[facet] = summed.astype(np.float32)
        return directions

    def vector(self, part: Part) -> Vector:
        """(d,): the vector of a text or a picture."""
        return self._embed([part])[part.key]

    def _spoken(
        self,
        part: Part,
        own: StoredVectors,
        embedded: Mapping[PartKey, Vector],
    ) -> dict[Facet, NDArray[np.float64]]:
        """The vector that the part compares with each facet that it applies to."""
        if part.like is not None:
            stored = own(part.like)
            return {facet: stored[facet].astype(np.float64) for facet in part.facets if facet in stored}
        same = embedded[part.key].astype(np.float64)
        across = same * self._embedder.cross_modal_scale
        return {
            facet: same if (facet == "image") == (part.kind == "image") else across for facet in part.facets
        }

    def _embed(self, parts: list[Part]) -> dict[PartKey, Vector]:
        found = {part.key: self._embedded.get(part.key) for part in parts if part.like is None}
        new = {part.key: part for part in parts if part.key in found and found[part.key] is None}
        texts = {key: part.text for key, part in new.items() if part.text is not None}
        pictures = {key: part.image for key, part in new.items() if part.image is not None}
        made: dict[PartKey, Vector] = {}
        if texts:
            rows = checked(self._embedder.embed_texts(list(texts.values())), self._embedder)
            made |= zip(texts, rows, strict=True)
        if pictures:
            from store.disk.images import (  # Pillow, which a list or a text search does without
                decode,
                normalise,
            )

            # Brought into the library's shape first: the very same picture is then the very same vector.
            shown = [decode(normalise(picture)) for picture in pictures.values()]
            made |= zip(pictures, checked(self._embedder.embed_images(shown), self._embedder), strict=True)
        for key, vector in made.items():
            self._embedded[key] = vector
        return made | {key: vector for key, vector in found.items() if vector is not None}


def _shifts(query: Query, own: StoredVectors) -> list[tuple[float, dict[Facet, NDArray[np.float64]]]]:
    """The vectors of the marked records that are in the library, each with its share of the shift."""
    if query.shift is None:
        return []
    asked = sum(abs(part.weight) for part in query.parts)
    found = []
    for marked, share in ((query.shift.good, GOOD), (query.shift.bad, -BAD)):
        known = list(_known(marked, own))
        for vectors in known:
            doubles = {facet: vector.astype(np.float64) for facet, vector in vectors.items()}
            found.append((asked * share / len(known), doubles))
    return found


def _known(addresses: Iterable[str], own: StoredVectors) -> Iterator[Mapping[Facet, Vector]]:
    for address in addresses:
        with suppress(UnknownRecord):
            yield own(address)
