"""Search: compare what the query says about each facet with every record, and rank.

The expensive half, the similarities of every record, does not depend on the weights: it is computed once for
a query and cached (`similarities`), so that a moved slider only costs `ranking.rank`. Since cosines of unit
vectors are dot products, a query of several parts, Σ c_p · s_(p,f) / Σ |c_p|, costs no more than one of a
single part: the parts are first added to one direction for each facet. A part that does not apply to a facet
is in neither sum.
"""

import time
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from store.catalog.words import NO_WORDS, WordShares
from store.embedding.arrays import Vector
from store.embedding.protocol import Embedder
from store.embedding.validation import checked
from store.lru import LruCache
from store.records import FACETS, Facet
from store.search.floor import CAPTIONS, floor
from store.search.query import BAD, GOOD, Part, PartKey, Query
from store.search.ranking import RAW, Contribution, Hit, Ranking, Scale, Words, hits, rank
from store.search.similarities import NONE, Similarities
from store.search.text_neighbours import TextNeighbours, neighbours
from store.vectors.blocks import Mask, VectorSnapshot
from store.vectors.matrices import Matrices

__all__ = ["Contribution", "Hit", "Results", "Search", "Similarities"]

KEPT_QUERIES = 16  # each takes 26 bytes for every record
KEPT_EMBEDDINGS = 256

NO_WEIGHT = "every weight is zero: raise one to search"
NO_COMMON_FACET = "no record has a facet that is weighted and that the query speaks about"
NONE_ASKED_FOR = "no record of the library passes the filter"
NOTHING_THERE = "there is nothing in the library yet: promote approved records first"

Directions = dict[Facet, Vector]


@dataclass(frozen=True, eq=False)
class Results:
    """The answer to a query, with all that is needed to rank it again in a browser."""

    query: Query
    hits: list[Hit]
    compared: int  # records that were scored
    without_facets: int  # records passed over: they have none of the weighted facets
    seconds: float
    answer: Similarities = field(repr=False)  # of every record of the library
    scale: Scale = RAW
    mask: Mask | None = field(default=None, repr=False)  # (N,): the rows that may be results; None: all
    why_empty: str = ""
    words: Words | None = field(default=None, repr=False)  # who has words of the query, fused or not
    fits: bool = True  # whether anything answers the query better than nonsense would be answered
    exact: bool = True  # every record that the bound does not exclude was scored from its float32 vectors

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the N rows of `similarities`."""
        return self.answer.addresses

    @property
    def means(self) -> NDArray[np.float64]:
        """(5,): the neutral values, NaN for a facet that no record has."""
        return self.answer.means


class Search:
    """Searches one set of matrices with the model that made them; thread-safe."""

    def __init__(self, matrices: Matrices, *, embedder: Embedder) -> None:
        self._matrices = matrices
        self._embedder = embedder
        self._embedded: LruCache[PartKey, Vector] = LruCache(KEPT_EMBEDDINGS)
        self._kept = _Kept(matrices.snapshot())

    def search(
        self,
        query: Query,
        *,
        among: Collection[str] | None = None,
        scale: Scale = RAW,
        words: WordShares = NO_WORDS,
    ) -> Results:
        """The best records for the query, among these addresses if given (those that match its filter).

        `words` are its word shares, used if the query is fused. An example is not among its own results.
        Raises UnknownRecord for an example that the library does not have.
        """
        began = time.perf_counter()
        weights = query.sliders
        snapshot = self._matrices.snapshot()
        shares = self._words(snapshot, words)
        counted = shares if query.fused else None
        fits = True
        if any(weights.values()):
            similarities = self._compared(snapshot, query)
            mask = self._mask(snapshot, query.parts, among)
            ranking = rank(similarities, weights, top=query.top, mask=mask, scale=scale, words=counted)
            fits = not words.words or bool(words.shares) or self._fits(snapshot, query, similarities, mask)
            why_empty = "" if ranking.rows else _why_empty(snapshot, ranking)
        else:  # nothing is computed for it; a page that has the similarities already may keep them
            similarities = self._kept_of(snapshot).answers.get(_key(query)) or NONE
            ranking = rank(NONE, weights, top=query.top)
            mask = None
            why_empty = NO_WEIGHT
        return Results(
            query=query,
            hits=hits(similarities, ranking, weights, scale=scale, words=counted),
            compared=ranking.compared,
            without_facets=ranking.without_facets,
            seconds=time.perf_counter() - began,
            answer=similarities,
            scale=scale,
            mask=mask,
            why_empty=why_empty,
            words=shares,
            fits=fits,
        )

    def neighbours(self, facet: Facet, text: str, *, own: str, picture: Vector | None) -> TextNeighbours:
        """The neighbours of a text that is being written; only its vector is cached for a while."""
        part = Part(text=text)
        vector = self._embed([part])[part.key]
        return neighbours(
            self._matrices.snapshot(),
            facet,
            vector,
            own=own,
            picture=picture,
            scale=self._embedder.cross_modal_scale,
        )

    def similarities(self, query: Query) -> Similarities:
        """The query's parts compared with the whole library, cached until the library changes."""
        return self._compared(self._matrices.snapshot(), query)

    def _compared(self, snapshot: VectorSnapshot, query: Query) -> Similarities:
        answers = self._kept_of(snapshot).answers
        key = _key(query)
        found = answers.get(key)
        if found is None:
            found = Similarities(snapshot, self._directions(snapshot, query))
            answers[key] = found
        return found

    def _words(self, snapshot: VectorSnapshot, words: WordShares) -> Words | None:
        """Arrays for these words, cached by the identity of the object."""
        if not words.shares:
            return None
        cache = self._kept_of(snapshot).words
        of, made = cache.get(id(words)) or (None, None)
        if made is None or of is not words:
            found = [(row, words.shares[address]) for row, address in snapshot.rows_of(words.shares)]
            found.sort()
            rows = np.array([row for row, _ in found], np.intp)
            # As float32 has them: the page, which is sent these, does the same sums.
            made = Words(rows, np.array([share for _, share in found], np.float32).astype(np.float64))
            cache[id(words)] = (words, made)
        return made if len(made.rows) else None

    def _fits(
        self, snapshot: VectorSnapshot, query: Query, similarities: Similarities, mask: Mask | None
    ) -> bool:
        """Whether a text query is closer to some caption than nonsense is."""
        if any(part.kind != "text" or part.weight < 0 for part in query.parts):
            return True
        cache = self._kept_of(snapshot)
        if cache.floor is None:
            cache.floor = floor(snapshot, self._embedder)
        return similarities.best_cosine(CAPTIONS, mask) > cache.floor

    def _mask(
        self, snapshot: VectorSnapshot, parts: Iterable[Part], among: Collection[str] | None
    ) -> Mask | None:
        """A mask for these addresses and examples, cached by the identity of the object."""
        examples = tuple(part.like for part in parts if part.like is not None)
        if among is None and not examples:
            return None
        masks, key = self._kept_of(snapshot).masks, (id(among), examples)
        of, mask = masks.get(key) or (None, None)
        if mask is None or of is not among:
            mask = np.ones(len(snapshot), np.bool_) if among is None else snapshot.mask(among)
            if examples:
                mask &= ~snapshot.mask(examples)
            masks[key] = (among, mask)
        return mask

    def _kept_of(self, snapshot: VectorSnapshot) -> "_Kept":
        cache = self._kept
        if cache.snapshot.segments is not snapshot.segments:  # a change in another tier leaves it as it is
            cache = self._kept = _Kept(snapshot)
        return cache

    def _directions(self, snapshot: VectorSnapshot, query: Query) -> Directions:
        parts = [part for part in query.parts if part.weight]
        embedded = self._embed(parts)
        spoken = [(part.weight, self._spoken(part, snapshot, embedded)) for part in parts]
        shifts = _shifts(snapshot, query)
        directions: Directions = {}
        for facet in FACETS:
            terms = [(weight, vectors[facet]) for weight, vectors in spoken if facet in vectors]
            if terms:
                terms += [(weight, vectors[facet]) for weight, vectors in shifts if facet in vectors]
                total = sum(abs(weight) for weight, _ in terms)
                summed = np.sum([vector * (weight / total) for weight, vector in terms], axis=0)
                directions[facet] = summed.astype(np.float32)
        return directions

    def _spoken(
        self, part: Part, snapshot: VectorSnapshot, embedded: Mapping[PartKey, Vector]
    ) -> dict[Facet, NDArray[np.float64]]:
        """The vector that the part compares with each facet that it applies to."""
        if part.like is not None:
            own = snapshot.vectors(part.like)
            return {facet: own[facet].astype(np.float64) for facet in part.facets if facet in own}
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


def _why_empty(snapshot: VectorSnapshot, ranking: Ranking) -> str:
    if ranking.without_facets:
        return NO_COMMON_FACET
    return NONE_ASKED_FOR if len(snapshot) else NOTHING_THERE


def _key(query: Query) -> Hashable:
    return query.shift, *((part.key, part.weight, part.facets) for part in query.parts)


def _shifts(snapshot: VectorSnapshot, query: Query) -> list[tuple[float, dict[Facet, NDArray[np.float64]]]]:
    """The vectors of the marked records, each with its share of the shift."""
    if query.shift is None:
        return []
    asked = sum(abs(part.weight) for part in query.parts)
    found = []
    for marked, share in ((query.shift.good, GOOD), (query.shift.bad, -BAD)):
        known = [address for _, address in snapshot.rows_of(marked)]
        for address in known:
            own = {facet: vector.astype(np.float64) for facet, vector in snapshot.vectors(address).items()}
            found.append((asked * share / len(known), own))
    return found


class _Kept:
    """Results cached for one state of the matrices."""

    def __init__(self, snapshot: VectorSnapshot) -> None:
        self.snapshot = snapshot
        self.answers: LruCache[Hashable, Similarities] = LruCache(KEPT_QUERIES)
        self.masks: LruCache[Hashable, tuple[Collection[str] | None, Mask]] = LruCache(KEPT_QUERIES)
        self.words: LruCache[int, tuple[WordShares, Words]] = LruCache(KEPT_QUERIES)
        self.floor: float | None = None  # of the cosines, once it was needed
