"""The vectors that a query compares with each facet, and each record's similarity to it.

    QueryDirections   the parts of a query as vectors, added up to one direction for each facet
    Similarities      the similarity of every record to these directions, exact where it must be

Since cosines of unit vectors are dot products, a query of several parts, Σ c_p · s_(p,f) / Σ |c_p|, costs no
more than one of a single part. A part that does not apply to a facet is in neither sum.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import Embedder, Vector, checked
from store.errors import UnknownRecord
from store.lru import LruCache
from store.records import FACETS, Facet
from store.search.query import BAD, GOOD, Part, PartKey, Query
from store.vectors.matrices import USUAL, Mask, VectorSnapshot, in_background
from store.vectors.rows import ROUNDING, Direction, quantised

KEPT_EMBEDDINGS = 256

Directions = dict[Facet, Vector]
StoredVectors = Callable[[str], Mapping[Facet, Vector]]  # of a record's address


class QueryDirections:
    """Embeds the parts of queries with one model, and keeps the last vectors; thread-safe."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._embedded: LruCache[PartKey, Vector] = LruCache(KEPT_EMBEDDINGS)

    def of(self, query: Query, *, own: StoredVectors) -> Directions:
        """(d,) for each facet that the parts speak about; `own` gives a record's. Raises UnknownRecord."""
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
                summed = sum(vector * (weight / total) for weight, vector in terms)
                directions[facet] = np.asarray(summed, np.float32)
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


Rows = NDArray[np.intp]
Floats = NDArray[np.float64]

FEW = 4_096  # rows; all of so few are compared exactly at once, in two ms
RESTING = (
    16_384  # rows; all of so few are compared exactly after the first answer, and sliders are quick then
)
_MANY = 4096  # rows from which reading all of them in order may be quicker than these alone
_LOOSE = 2.0  # times as far from the truth as by the facets alone a score by the combined vector may be
_COMBINED = np.flatnonzero(USUAL)  # the facets that the combined vector is made of


class Similarities:
    """Independent of weights, so the same for every position of the sliders.

    A facet is scanned when a weight first needs it, by its quantised rows, each cosine with a proven bound of
    its error; `rescore` makes rows exact for good. If the query compares the same vector with all facets of
    the combined vectors, one scan of these serves the usual weights, and partly others. A caller of more
    than one method holds `lock`.
    """

    def __init__(self, snapshot: VectorSnapshot, directions: Mapping[Facet, Vector]) -> None:
        distinct = {own.tobytes(): own for own in directions.values()}  # mostly one for all facets
        made = {key: quantised(own) for key, own in distinct.items()}
        asked = {FACETS.index(facet): made[own.tobytes()] for facet, own in directions.items()}
        speaks = np.array([number in asked for number in range(len(FACETS))])
        present, means = snapshot.present & speaks[:, None], np.full(len(FACETS), np.nan)
        for number, direction in asked.items():
            if present[number].any():  # the mean of the products is the product with the mean
                means[number] = snapshot.means[number] @ direction.exact.astype(np.float64)
        self._begin(snapshot.addresses, present, means, present.all(axis=1).tolist(), snapshot, asked)

    @classmethod
    def exact(
        cls, addresses: Sequence[str], cosines: Vector, *, means: Floats, complete: Sequence[bool],
        deviations: Floats,
    ) -> Self:  # fmt: skip
        """Of some records of a library: `cosines` (5, n), NaN without the facet; the others (5,) are its."""
        made = cls.__new__(cls)
        made._begin(
            tuple(addresses), ~np.isnan(cosines), means, [*complete], VectorSnapshot(dimensions=1), {}
        )
        np.copyto(made._filled, np.where(made.present, cosines, made._neutral), casting="same_kind")
        made._exact[:] = True
        made.deviations = deviations
        return made

    def _begin(
        self, addresses: tuple[str, ...], present: Mask, means: Floats, complete: list[bool],
        snapshot: VectorSnapshot, asked: Mapping[int, Direction],
    ) -> None:  # fmt: skip
        self.addresses = addresses
        self.lock = threading.RLock()
        self._snapshot = snapshot
        self._asked = asked
        self.present = present  # (5, N): it has it, and the query speaks of it
        self.means = means  # (5,): the neutral values, NaN where no record has the facet
        self.spoken = (~np.isnan(means)).tolist()  # of each facet, whether any record has it …
        self.complete = complete  # … and whether every record
        self._neutral = np.nan_to_num(means)[:, None]
        self._filled = np.zeros(present.shape, np.float32)
        self._combined = np.empty(0, np.float32)  # (N,) once scanned, never exact
        combined = [asked.get(number) for number in _COMBINED.tolist()]
        self._can_combine = combined[0] is not None and all(own is combined[0] for own in combined)
        self._scanned: set[int] = set()
        self._exact = np.zeros(len(addresses), np.bool_)
        self._completing: Future[Floats] | None = None

    @property
    def everything(self) -> Floats | None:
        """(5, N): every cosine, exact, a missing one at its mean; None if a bound has to do.

        Of more than FEW records it is there once `complete_later` was called, and waits for that.
        """
        if self._completing is not None:
            with suppress(CancelledError):  # a later question overtook it
                return self._completing.result()
        return None if self.are_many and self._completing is None else self._everything

    @cached_property
    def are_many(self) -> bool:
        """Whether a bound serves the first answer, and a sample tells how far apart cosines lie."""
        return len(self.addresses) > FEW and not self._exact.all()

    def complete_later(self) -> "Future[Floats] | None":
        """Begin to compare all records exactly, unless they are too many or it was begun."""
        if self._completing is not None or not self.are_many or len(self.addresses) > RESTING:
            return None
        self._completing = in_background(lambda: self._everything)
        return self._completing

    @cached_property
    def _everything(self) -> Floats:
        rows = np.arange(len(self.addresses))
        with self.lock:
            self.rescore(rows)
            return self.rescored(rows)

    @cached_property
    def deviations(self) -> Floats:
        """(5,): the standard deviation of each facet's cosines, of many in a sample; 0 if none has it."""
        found = np.zeros(len(FACETS))
        if not self.are_many:
            each = [own[has] for own, has in zip(self._everything, self.present, strict=True)]
            return np.array([own.std() if len(own) else 0.0 for own in each])
        rows, sample = self._snapshot.sample
        for number, direction in self._asked.items():
            cosines = np.vecdot(sample[number], direction.exact)[self.present[number, rows]]
            found[number] = cosines.std(dtype=np.float64) if len(cosines) else 0.0
        return found

    def rows_of(self, addresses: Iterable[str]) -> list[int]:
        """The row of each of these addresses that is among the records."""
        return [row for row, _ in self._snapshot.rows_of(addresses)]

    def exceeds(self, floor: float, facets: Sequence[int], mask: Mask | None) -> bool:
        """Whether a record of the mask has a higher cosine in one of these facets, within the bound."""
        with self.lock:
            exact = self._exact if mask is None else self._exact & mask
            for facet in facets:  # the best records, which a ranking made exact, mostly tell
                if self._is_above(floor, facet, exact):
                    return True
            if self._exact.all():
                return False
            for facet in facets:
                self._scan(facet)
                if self._is_above(floor, facet, mask):
                    return True
            return False

    def _is_above(self, floor: float, facet: int, mask: Mask | None) -> bool:
        has = self.present[facet] if mask is None else self.present[facet] & mask
        return bool((self._filled[facet][has] > floor).any())

    def cosines(self, rows: Rows) -> Vector:
        """(n, 5): exact cosines of these rows, in any order; NaN if missing."""
        with self.lock:
            self.rescore(np.sort(rows))
            return np.where(self.present[:, rows], self._filled[:, rows], np.float32(np.nan)).T

    def approximate(self, gains: Sequence[float]) -> tuple[Vector, Vector]:
        """Σ gain · cosine of each row, a missing one at its mean, and a bound of the error."""
        weights = np.where(self.spoken, gains, 0.0)
        share, rest = self._least_to_scan(weights)
        scores, wrong = np.zeros((2, len(self.addresses)), np.float32)
        scratch = np.empty_like(scores)
        error_slope = error_floor = 0.0
        if share:
            direction = self._scan_combined()
            np.multiply(self._combined, np.float32(share), out=scores)
            np.multiply(
                self._snapshot.combined_errors, np.float32(share * direction.error_slope()), out=wrong
            )
            error_floor = share * direction.error_floor()
        for number in np.flatnonzero(rest).tolist():
            self._scan(number)
            scores += np.multiply(self._filled[number], np.float32(rest[number]), out=scratch)
            error_slope += abs(rest[number]) * self._asked[number].error_slope()
            error_floor += abs(rest[number]) * self._asked[number].error_floor()
        if error_slope:
            wrong += np.multiply(self._snapshot.errors, np.float32(error_slope), out=scratch)
        wrong += np.float32(error_floor)
        rows = np.flatnonzero(self._exact)
        wrong[rows] = ROUNDING * sum(gains) + 1e-6
        if share:  # it never becomes exact itself
            scores[rows] = weights.astype(np.float32) @ self._filled[:, rows]
        return scores, wrong

    def bounds(self, rows: Rows) -> tuple[Vector, Vector]:
        """(5, n) each: the lower and upper bound of every cosine, a missing one at its mean."""
        for number in self._asked:
            self._scan(number)
        found = self._filled[:, rows]
        slopes, offsets = np.zeros((2, len(FACETS)), np.float32)
        for number, direction in self._asked.items():
            slopes[number], offsets[number] = direction.error_slope(), direction.error_floor()
        wrong = np.outer(slopes, self._snapshot.errors[rows]) + offsets[:, None]
        wrong[~self.present[:, rows] | self._exact[rows]] = 0
        return found - wrong, found + wrong

    def approximate_facet(self, number: int) -> tuple[Vector, Vector]:
        """(N,) each: one facet's cosines, a missing one at its mean, and a bound of their errors."""
        self._scan(number)
        direction = self._asked[number]
        wrong = self._snapshot.errors * np.float32(direction.error_slope())
        wrong += np.float32(direction.error_floor())
        wrong[self._exact | ~self.present[number]] = ROUNDING
        return self._filled[number], wrong

    def rescore(self, rows: Rows) -> None:
        """Make these rows, in ascending order, exact in every facet."""
        rows = rows[~self._exact[rows]]
        everything = len(rows) > _MANY and 8 * len(rows) > len(self.addresses)
        if everything:
            rows = np.arange(len(self.addresses))
        for number, direction in self._asked.items():
            if everything:
                found = np.empty(len(rows), np.float32)
                self._snapshot.products(FACETS[number], direction.exact, out=found)
            else:
                found = self._snapshot.products_of(rows, FACETS[number], direction.exact)
            self._filled[number, rows] = self._with_means(number, found, rows)
        self._exact[rows] = True
        if everything:  # neither bytes nor the combined vectors can say more
            self._scanned, self._can_combine = set(self._asked), False

    def rescored(self, rows: Rows) -> Floats:
        """(5, n): the cosines of exact rows, a missing one at its mean."""
        return np.where(self.present[:, rows], self._filled[:, rows].astype(np.float64), self._neutral)

    def _scan(self, number: int) -> None:
        if number in self._scanned:
            return
        found = np.empty(len(self.addresses), np.float32)
        self._snapshot.approximate(FACETS[number], self._asked[number], out=found)
        rough = ~self._exact
        filled = self._with_means(number, found, slice(None))
        np.copyto(self._filled[number], filled, where=rough)
        self._scanned.add(number)

    def _least_to_scan(self, gains: Floats) -> tuple[float, Floats]:
        """How much of the combined vectors, and of each single facet, gives these gains at least cost."""
        if not self._can_combine:
            return 0.0, gains
        facets, together = self._snapshot.errors.mean(), self._snapshot.combined_errors.mean()

        def cost(share: float) -> tuple[int, float]:
            rest = self._beside_combined(gains, share)
            wrong = share * together + np.abs(rest).sum() * facets
            if wrong > _LOOSE * gains.sum() * facets:
                return len(FACETS) + 1, wrong
            scans = sum(bool(gain) and number not in self._scanned for number, gain in enumerate(rest))
            return scans + bool(share and not len(self._combined)), wrong

        share = min([0.0, *(gains[_COMBINED] / USUAL[_COMBINED])], key=cost)
        return float(share), self._beside_combined(gains, share)

    def _beside_combined(self, gains: Floats, share: float) -> Floats:
        rest = np.where(self.spoken, gains - share * USUAL, 0.0)
        return np.where(np.abs(rest) > 1e-9 * gains.max(), rest, 0.0)

    def _scan_combined(self) -> Direction:
        direction = self._asked[int(_COMBINED[0])]
        if not len(self._combined):
            found = np.empty(len(self.addresses), np.float32)
            self._snapshot.approximate_combined(direction, out=found)
            for number in _COMBINED:
                if self.spoken[number] and not self.complete[number]:
                    mean = np.float32(USUAL[number] * self.means[number])
                    np.add(found, mean, out=found, where=~self.present[number])
            self._combined = found
        return direction

    def _with_means(self, number: int, found: Vector, rows: Rows | slice) -> Vector:
        return np.where(self.present[number, rows], found, self._neutral[number].astype(np.float32))


NONE = Similarities(VectorSnapshot(dimensions=1), {})
