"""One query to a server: its candidates, and what it was restricted to."""

import threading
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from store.catalog.words import WordShares
from store.chroma.server import EVERYTHING, Limits
from store.search.candidates import CandidateSimilarities, Pool
from store.search.directions import Directions
from store.search.query import Query
from store.search.ranking import Words
from store.search.search import words_of
from store.search.similarities import Floats
from store.vectors.segments import Mask

FIRST = 1_024  # entries of each list at first
_NAMED = 20_000  # so many records the server is told by name


class Candidates(NamedTuple):
    """The candidates of one moment."""

    similarities: CandidateSimilarities
    mask: Mask | None  # (n,): those that may be results; None: all
    words: Words | None  # those that have words of the query


class ServerQuery:
    """One query with its candidates, for any weights."""

    def __init__(
        self,
        directions: Directions,
        *,
        means: Floats,
        complete: Sequence[bool],
        deviations: Floats,
        among: Collection[str] | None,
        examples: frozenset[str],
        limits: Limits,
        shares: WordShares,
    ) -> None:
        self.lock = threading.RLock()
        self.directions = directions
        self.means = means
        self.complete = complete
        self.among = among
        self.shares = shares
        self.limits = limits
        self.pool = Pool()
        self.gone: set[str] = set()  # what the server has and the library has not
        self.length = FIRST  # of the lists
        self.is_all = False  # whether every record that passes is a candidate
        self.lacks = False  # whether the server lacks too many records to compare them all
        self.unseen_words = 0.0  # the largest share of the words of a record that may be no candidate
        self._deviations = deviations
        self._passing = None if among is None else frozenset(among)
        self._examples = examples
        self._made: Candidates | None = None

    def candidates(self) -> Candidates:
        """The candidates so far; the same object until there are more."""
        with self.lock:
            if self._made is None or len(self._made.similarities.addresses) != len(self.pool.row_of):
                answer = CandidateSimilarities(
                    self.pool.addresses,
                    self.pool.cosines,
                    means=self.means,
                    complete=self.complete,
                    deviations=self._deviations,
                )
                self._made = Candidates(answer, self._masked(), words_of(answer.addresses, self.shares))
            return self._made

    def _masked(self) -> Mask | None:
        if self._passing is None and not self._examples:
            return None
        passing = self._passing
        return np.array(
            [one not in self._examples and (passing is None or one in passing) for one in self.pool.row_of],
            np.bool_,
        )


def limits(query: Query, among: Collection[str] | None, *, can_be_named: bool) -> Limits:
    """What the server can filter itself; the rest of a filter is applied to its lists."""
    if among is None:
        return EVERYTHING
    if can_be_named and len(among) <= _NAMED:
        # By a field, not by `ids`: chromadb 1.5.9 refuses those of which a collection lacks one.
        return {"uuid": {"$in": list(among)}}
    times = (("$gte", query.filter.since), ("$lte", query.filter.until))
    asked = [{"created_at": {sign: at}} for sign, at in times if at is not None]
    return {"$and": asked} if len(asked) > 1 else asked[0] if asked else EVERYTHING
