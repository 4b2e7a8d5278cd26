"""Candidates of a search: records that a server's index proposes, each with exact cosines in every facet.

Fagin's threshold (Fagin, Lotem, Naor 2003): a score grows with every cosine, so a record in none of the lists
scores at most as much as one that has the last cosine of each list. It counts with a facet's neutral value
where it lacks the facet, so the larger of both bounds it. A part with a minus is in the direction that the
list was asked for, and needs no bound of its own.

The proof assumes lists without gaps. An index of nearest neighbours has some, which show where a candidate
from another list belongs into this one and is not there.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import Vector
from store.records import FACETS
from store.search.ranking import Scale
from store.search.similarities import Floats, Similarities
from store.vectors.blocks import Mask, VectorSnapshot

_ROUNDING = 1e-5  # by which a server's cosines may differ from ours


@dataclass(frozen=True, slots=True)
class FacetList:
    """The records that come nearest in one facet, the nearest first."""

    addresses: Sequence[str] = ()
    last: float = np.inf  # the cosine of the last one
    is_whole: bool = False  # whether the facet has no others


class CandidateSimilarities(Similarities):
    """The exact cosines of candidates, with the neutral values of the whole library."""

    def __init__(
        self,
        addresses: Sequence[str],
        cosines: Vector,
        *,
        means: Floats,
        complete: Sequence[bool],
        deviations: Floats,
    ) -> None:
        """`cosines` is (5, n), NaN without the facet; the others, (5,) each, are those of the library."""
        super().__init__(VectorSnapshot(dimensions=1), {})
        self.addresses = tuple(addresses)
        self.present = ~np.isnan(cosines)
        self.means = means
        self.spoken = (~np.isnan(means)).tolist()
        self.complete = list(complete)
        self.deviations = deviations
        neutral = np.nan_to_num(means)[:, None]
        self.everything = np.where(self.present, cosines.astype(np.float64), neutral)
        self._filled = self.everything.astype(np.float32)
        self._exact = np.ones(len(self.addresses), np.bool_)


@dataclass(eq=False)
class Pool:
    """All candidates of one query so far, and the lists that they are from."""

    cosines: Vector = field(default_factory=lambda: np.empty((len(FACETS), 0), np.float32))
    row_of: dict[str, int] = field(default_factory=dict)
    lists: dict[int, FacetList] = field(default_factory=dict)  # by the facet's number
    unlisted: set[str] = field(default_factory=set)  # of the candidates: what the server may not have

    @property
    def addresses(self) -> list[str]:
        """The record of each row."""
        return list(self.row_of)

    def add(self, addresses: Sequence[str], cosines: Vector) -> None:
        """Add candidates that are not there yet, with their (5, n) cosines."""
        for address in addresses:
            self.row_of[address] = len(self.row_of)
        self.cosines = np.concatenate([self.cosines, cosines], axis=1)

    def depths(self, used: Sequence[int]) -> NDArray[np.intp]:
        """(n,): how long lists of these facets have to be to contain the row; 0 if none does."""
        found = np.full(len(self.row_of), np.iinfo(np.intp).max)
        for number in used:
            for depth, address in enumerate(self.lists[number].addresses, start=1):
                row = self.row_of.get(address)
                if row is not None and depth < found[row]:
                    found[row] = depth
        found[found == np.iinfo(np.intp).max] = 0
        return found

    def gaps(self, used: Sequence[int], *, among: Mask | None) -> int:
        """How often one of these facets' lists lacks a candidate (of these rows) that it should have."""
        count = 0
        for number in used:
            own = self.lists[number]
            with np.errstate(invalid="ignore"):
                due = self.cosines[number] > (-np.inf if own.is_whole else own.last + _ROUNDING)
            rows = np.flatnonzero(due if among is None else due & among)
            listed: Set[int] = {self.row_of[one] for one in own.addresses if one in self.row_of}
            extra = {self.row_of[one] for one in self.unlisted if one in self.row_of}
            count += len(set(rows.tolist()) - listed - extra)
        return count


def threshold(
    lists: Mapping[int, FacetList],
    shares: Sequence[float],
    scale: Scale,
    *,
    means: Floats,
    complete: Sequence[bool],
) -> float:
    """What no record outside of the lists can exceed by its cosines; -inf if there is no such record."""
    used = [number for number, share in enumerate(shares) if share]
    if all(lists[number].is_whole for number in used):
        return -np.inf
    total = 0.0
    for number in used:
        own = lists[number]
        if own.is_whole:
            if complete[number]:
                return -np.inf
            best = float(means[number])  # others lack the facet
        else:
            best = own.last if complete[number] else max(own.last, float(means[number]))
        total += shares[number] * (best - scale.centre[number]) / scale.spread[number]
    return total
