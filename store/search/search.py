"""Search: compare what the query says about each facet with every record, and rank.

    Search          a search over all vectors in memory; `Results` are its hits, and how sure they are
    neighbours      which captions a text is closest to, and whether it fits its own picture
    floor           the cosine below which nothing fits

The expensive half, the similarities of every record, does not depend on the weights: it is computed once for
a query and cached (`similarities`), so that a moved slider only costs `ranking.rank`.

The floor is measured with nonsense queries on this library and model. The queries of nonsense_questions.txt
mean nothing, so the cosines they reach are chance. A query whose words all are missing in the library, and
whose cosines are no higher, fits nothing either. A fixed threshold would suit one model only.
"""

import time
from collections.abc import Callable, Collection, Hashable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import resources
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.catalog.words import NO_WORDS, WordShares
from store.embedding.protocol import Embedder, ForeignReader, Vector
from store.lru import LruCache
from store.records import FACETS, Facet
from store.search.query import Part, Query
from store.search.ranking import RAW, Contribution, Hit, Ranking, Scale, Words, hits, rank
from store.search.similarities import NONE, Floats, QueryDirections, Similarities
from store.search.stand_in import StandIn, is_usual, may_stand_in, stand_in
from store.vectors.matrices import Mask, Matrices, VectorSnapshot

__all__ = ["Contribution", "Hit", "Results", "Search", "Similarities"]

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
    snapshot: VectorSnapshot,
    facet: Facet,
    text: Vector,
    *,
    own: str,
    picture: Vector | None,
    scale: float | Vector,
) -> TextNeighbours:
    """Compare a text's vector (d,) with one facet of every other record, and with every picture.

    The text times `scale` is what pictures are compared with (`Embedder.cross_modal_scale`).
    """
    others = ~snapshot.mask([own])
    cosines = _cosines(snapshot, facet, text)
    there = snapshot.present[FACETS.index(facet)] & others
    cosines[~there] = -np.inf
    count = min(TOP, int(np.count_nonzero(there)))
    nearest = np.argpartition(-cosines, count - 1)[:count] if count else np.empty(0, np.intp)
    nearest = nearest[np.argsort(-cosines[nearest], kind="stable")]
    across = text * np.float32(scale)
    agreement = None if picture is None else float(np.vecdot(across, picture))
    rank = None
    seen = snapshot.present[FACETS.index("image")] & others
    if agreement is not None:
        better = _cosines(snapshot, "image", across) > agreement
        rank = 1 + int(np.count_nonzero(better & seen))
    return TextNeighbours(
        neighbours=[(snapshot.addresses[row], float(cosines[row])) for row in nearest],
        compared=int(np.count_nonzero(there)),
        agreement=agreement,
        rank=rank,
        pictures=int(np.count_nonzero(seen)) + 1,
    )


def _cosines(snapshot: VectorSnapshot, facet: Facet, direction: Vector) -> Vector:
    found = np.empty(len(snapshot), np.float32)
    snapshot.products(facet, direction, out=found)
    return found


_COMPARED = 5_000  # records; more would raise the floor by hardly anything
_TOGETHER = 16  # of them side by side, since each place of a file is another wait for the disk
CAPTIONS = tuple(number for number, facet in enumerate(FACETS) if facet != "image")


@cache
def nonsense_questions() -> tuple[str, ...]:
    """Texts that no record answers."""
    return tuple(
        resources.files("store.search").joinpath("nonsense_questions.txt").read_text("utf-8").splitlines()
    )


def floor(snapshot: VectorSnapshot, embedder: Embedder) -> float:
    """The highest cosine of a nonsense query with a caption; -1 without captions."""
    count = len(snapshot)
    rows = compared_rows(count)
    vectors = embedder.embed_texts(list(nonsense_questions()))
    best = -1.0
    for number in CAPTIONS:
        own = rows[snapshot.present[number, rows]]
        if len(own):
            best = max(best, float((snapshot.rows(own, FACETS[number]) @ vectors.T).max()))
    return best


def compared_rows(count: int) -> NDArray[np.intp]:
    """The rows that are compared, of so many: all of few, else short runs all over the library."""
    if count <= _COMPARED:
        return np.arange(count)
    starts = np.linspace(0, count - _TOGETHER, _COMPARED // _TOGETHER).astype(np.intp)
    return np.unique(starts[:, None] + np.arange(_TOGETHER))


_SAME = 100  # a floor is kept until one record in so many has changed
KEPT_QUERIES = 16  # each takes 26 bytes for every record

NO_WEIGHT = "every weight is zero: raise one to search"
NO_COMMON_FACET = "no record has a facet that is weighted and that the query speaks about"
NONE_ASKED_FOR = "no record of the library passes the filter"
NOTHING_THERE = "there is nothing in the library yet: promote approved records first"


class Certainty(NamedTuple):
    """How sure it is that no record which was not compared belongs among the first results.

    "exact": all were compared; in a large library by bytes, whose error is bounded, and `candidates` of them
    in full, because the bound could not exclude them. "proved": no other can score as much, if the server's
    lists have no gaps.
    "stable": half and a quarter of the candidates give the same first results.
    """

    level: Literal["exact", "proved", "stable", "approximate"] = "exact"
    candidates: int = 0  # compared in full; 0: all
    reason: str = ""  # what prevented a better answer


EXACT = Certainty()


def describe(certainty: Certainty) -> str:
    """The certainty in one line: "" if every record was compared in full."""
    level, candidates, reason = certainty
    if level == "exact":
        return f"exact: {candidates:,} compared in full, all others excluded by a bound" if candidates else ""
    how = "stable over two doublings" if level == "stable" else level
    return f"{how}, {candidates:,} candidates" + (f": {reason}" if reason else "")


def describe_pictures(found: Iterable[Hit]) -> str:
    """How many of these were found by their pictures, and why; "" if none was."""
    by_picture = [hit.is_by_picture for hit in found]
    if not any(by_picture):
        return ""
    these = "these" if all(by_picture) else f"{sum(by_picture):,} of these"
    return f"{these} by their pictures, since their captions say nothing"


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
    certainty: Certainty = EXACT
    stand_in: StandIn | None = field(default=None, repr=False)  # pictures for captions, by the usual weights
    # Measures the cosine up to which captions fit by chance; None where the query is more than texts.
    floor: Callable[[], float | None] = field(default=lambda: None, repr=False)

    @property
    def exact(self) -> bool:
        """Whether every record was compared, or excluded by a bound."""
        return self.certainty.level == "exact"

    @property
    def pictures(self) -> StandIn | None:
        """The pictures that replace captions with the query's weights."""
        return self.stand_in if is_usual(self.query) else None

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the N rows of `similarities`."""
        return self.answer.addresses

    @property
    def means(self) -> NDArray[np.float64]:
        """(5,): the neutral values, NaN for a facet that no record has."""
        return self.answer.means

    def exact_first(self, exact: Collection[str]) -> list[Hit]:
        """The hits, preceded by these records, which what was asked for names; each part by its scores.

        They come first because they are named, whatever they score: who shows the list says so.
        """
        mask = np.zeros(len(self.addresses), np.bool_)
        mask[self.answer.rows_of(exact)] = True
        if self.mask is not None:
            mask &= self.mask
        if not mask.any():
            return self.hits
        weights, words = self.query.sliders, self.words if self.query.fused else None
        ranking = rank(
            self.answer, weights, top=len(exact), mask=mask, scale=self.scale, words=words,
            stand_in=self.pictures,
        )  # fmt: skip
        named = hits(self.answer, ranking, weights, scale=self.scale, words=words)
        return [*named, *(hit for hit in self.hits if hit.address not in exact)][: self.query.top]


class Search:
    """Searches one set of matrices with the model that made them; thread-safe."""

    def __init__(self, matrices: Matrices, *, embedder: Embedder) -> None:
        self._matrices = matrices
        self._embedder = embedder
        self._directions = QueryDirections(embedder)
        self._kept = _Kept(matrices.snapshot())
        self._floor: _Floor | None = None
        self._completing: Future[Floats] | None = None

    def search(
        self,
        query: Query,
        *,
        among: Collection[str] | None = None,
        scale: Scale = RAW,
        words: WordShares = NO_WORDS,
        silent: frozenset[str] | None = None,
    ) -> Results:
        """The best records for the query, among these addresses if given (those that match its filter).

        `words` are its word shares, used if the query is fused. The pictures of `silent` records, and of
        records without captions, replace these with a text's usual weights. An example is not among
        its own results.
        Raises UnknownRecord for an example that the library does not have.
        """
        began = time.perf_counter()
        weights = query.sliders
        snapshot = self._matrices.snapshot()
        shares = self._words(snapshot, words)
        counted = shares if query.fused else None
        fits = True
        pictures = None
        if any(weights.values()):
            similarities = self._compared(snapshot, query)
            mask = self._mask(snapshot, query.parts, among)
            pictures = self._stand_in(snapshot, query, similarities, silent)
            ranking = rank(
                similarities, weights, top=query.top, mask=mask, scale=scale, words=counted,
                stand_in=pictures if is_usual(query) else None,
            )  # fmt: skip
            fits = not words.words or bool(words.shares) or self._fits(snapshot, query, similarities, mask)
            why_empty = "" if ranking.rows else why_nothing(ranking, total=len(snapshot))
        else:  # nothing is computed for it; a page that has the similarities already may keep them
            similarities = self._kept_of(snapshot).answers.get(query_key(query)) or NONE
            ranking = rank(NONE, weights, top=query.top)
            mask = None
            why_empty = NO_WEIGHT
        found = hits(similarities, ranking, weights, scale=scale, words=counted)
        self._complete_later(similarities)
        return Results(
            query=query,
            hits=found,
            compared=ranking.compared,
            without_facets=ranking.without_facets,
            seconds=time.perf_counter() - began,
            answer=similarities,
            scale=scale,
            mask=mask,
            why_empty=why_empty,
            words=shares,
            fits=fits or (bool(found) and found[0].is_by_picture),  # of pictures no floor is known
            certainty=Certainty(candidates=ranking.in_full),
            stand_in=pictures,
            floor=partial(self._floor_for, snapshot, query),
        )

    def neighbours(self, facet: Facet, text: str, *, own: str, picture: Vector | None) -> TextNeighbours:
        """The neighbours of a text that is being written; only its vector is cached for a while."""
        part = Part(text=text)
        vector = self._directions.vector(part)
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
        key = query_key(query)
        found = answers.get(key)
        if found is None:
            found = Similarities(snapshot, self._directions.of(query, own=snapshot.vectors))
            answers[key] = found
        return found

    def _complete_later(self, similarities: Similarities) -> None:
        """Make sliders quick while the hand rests; what an earlier question waits for is given up."""
        if (begun := similarities.complete_later()) is not None:
            if self._completing is not None:
                self._completing.cancel()
            self._completing = begun

    def _stand_in(
        self,
        snapshot: VectorSnapshot,
        query: Query,
        similarities: Similarities,
        silent: frozenset[str] | None,
    ) -> StandIn | None:
        """The pictures that replace captions with this query, cached with its similarities."""
        if silent is None or not may_stand_in(query):
            return None
        cache, key = self._kept_of(snapshot).pictures, query_key(query)
        of, made = cache.get(key) or (None, None)
        if of is not silent:
            made = stand_in(similarities, silent)
            cache[key] = (silent, made)
        return made

    def _words(self, snapshot: VectorSnapshot, words: WordShares) -> Words | None:
        """Arrays for these words, cached by the identity of the object."""
        if not words.shares:
            return None
        cache = self._kept_of(snapshot).words
        of, made = cache.get(id(words)) or (None, None)
        if made is None or of is not words:
            made = _shares(snapshot.rows_of(words.shares), words)
            cache[id(words)] = (words, made)
        return made if len(made.rows) else None

    def _fits(
        self, snapshot: VectorSnapshot, query: Query, similarities: Similarities, mask: Mask | None
    ) -> bool:
        """Whether a text query is closer to some caption than nonsense is."""
        least = self._floor_for(snapshot, query)
        return least is None or similarities.exceeds(least, CAPTIONS, mask)

    def _floor_for(self, snapshot: VectorSnapshot, query: Query) -> float | None:
        return self._floor_of(snapshot) if has_floor(query, self._embedder) else None

    def _floor_of(self, snapshot: VectorSnapshot) -> float:
        """Kept until a hundredth of the library has changed: it is read from a sample anyway."""
        written, there = sum(view.count for view in snapshot.segments), len(snapshot)
        if (
            self._floor is None
            or _SAME * (abs(written - self._floor.written) + abs(there - self._floor.there)) > there
        ):
            self._floor = _Floor(written, there, floor(snapshot, self._embedder))
        return self._floor.cosine

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


def why_nothing(ranking: Ranking, *, total: int) -> str:
    """Why a search in a library of so many records has no results."""
    if ranking.without_facets:
        return NO_COMMON_FACET
    return NONE_ASKED_FOR if total else NOTHING_THERE


def words_of(addresses: Iterable[str], words: WordShares) -> Words | None:
    """Which of these rows have words of the query; None if none has."""
    found = _shares([(row, one) for row, one in enumerate(addresses) if one in words.shares], words)
    return found if len(found.rows) else None


def _shares(rows: Iterable[tuple[int, str]], words: WordShares) -> Words:
    found = sorted((row, words.shares[address]) for row, address in rows)
    # As float32 has them: the page, which is sent these, does the same sums.
    shares = np.array([share for _, share in found], np.float32).astype(np.float64)
    return Words(np.array([row for row, _ in found], np.intp), shares)


def has_floor(query: Query, embedder: Embedder) -> bool:
    """Whether it has nothing but texts, none of them with a minus, and not all in a foreign language.

    The cosines of a foreign question with English captions are no higher than those of nonsense.
    """
    texts = [part.text for part in query.parts if part.text is not None and part.weight >= 0]
    is_foreign = isinstance(embedder, ForeignReader) and all(map(embedder.is_foreign, texts))
    return len(texts) == len(query.parts) and not is_foreign


def query_key(query: Query) -> Hashable:
    """The key of a query's cached similarities."""
    return query.shift, *((part.key, part.weight, part.facets) for part in query.parts)


class _Kept:
    """Results cached for one state of the matrices."""

    def __init__(self, snapshot: VectorSnapshot) -> None:
        self.snapshot = snapshot
        self.answers: LruCache[Hashable, Similarities] = LruCache(KEPT_QUERIES)
        self.masks: LruCache[Hashable, tuple[Collection[str] | None, Mask]] = LruCache(KEPT_QUERIES)
        self.words: LruCache[int, tuple[WordShares, Words]] = LruCache(KEPT_QUERIES)
        self.pictures: LruCache[Hashable, tuple[frozenset[str], StandIn | None]] = LruCache(KEPT_QUERIES)


class _Floor(NamedTuple):
    """The floor of the cosines, and the library that it was measured on."""

    written: int  # rows of records, with those that are no more
    there: int
    cosine: float
