"""Search with candidates from a Chroma server, for a library whose vectors this machine should not hold.

    SearchOnServer   connects to the server that the settings name, up to date with the library's last change
    ServerSearch     one state of the library; each search asks for longer lists until the answer is sure
    ServerQuery      one query: its candidates, and what it was restricted to

Each facet's collection proposes its nearest records. Every candidate is scored as any record is
(`ranking.py`), from its vectors in the catalog, with the neutral values of the whole library. The lists get
longer until nothing outside of them can be among the first, or longer ones change nothing.

Fagin's threshold (Fagin, Lotem, Naor 2003): a score grows with every cosine, so a record in none of the lists
scores at most as much as one that has the last cosine of each list. It counts with a facet's neutral value
where it lacks the facet, so the larger of both bounds it. A part with a minus is in the direction that the
list was asked for, and needs no bound of its own.

The proof assumes lists without gaps. An index of nearest neighbours has some, which show where a candidate
from another list belongs into this one and is not there.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.catalog.catalog import Catalog
from store.catalog.words import NO_WORDS, WordShares
from store.chroma.server import EVERYTHING, ChromaServer, Limits, ServerLists
from store.disk.files import Disk
from store.disk.layout import Layout
from store.embedding.active_model import ActiveModel
from store.embedding.protocol import Embedder, Vector, are_unit
from store.errors import ServerUnavailable, UnknownRecord
from store.lru import LruCache
from store.progress import Progress
from store.records import FACETS, Facet
from store.search.query import Query
from store.search.ranking import RAW, Ranking, Scale, Words, hits, rank
from store.search.resident import LibraryFacts, LibraryFactsReader, ResidentVectors
from store.search.search import (
    CAPTIONS,
    EXACT,
    NO_WEIGHT,
    Certainty,
    Results,
    floor,
    has_floor,
    query_key,
    why_nothing,
    words_of,
)
from store.search.similarities import NONE, Directions, Floats, QueryDirections, Similarities
from store.settings import settings
from store.vectors.matrices import Mask, load

_ROUNDING = 1e-5  # by which a server's cosines may differ from ours


@dataclass(frozen=True, slots=True)
class FacetList:
    """The records that come nearest in one facet, the nearest first."""

    addresses: Sequence[str] = ()
    last: float = np.inf  # the cosine of the last one
    is_whole: bool = False  # whether the facet has no others


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


_AT_ONCE = 1_024  # records
_OF_ADDRESSES = (
    # In this order (CROSS JOIN), or SQLite may walk through the whole tier for a few addresses.
    "SELECT r.address, e.facet, v.vector FROM json_each(?) j CROSS JOIN records r ON r.address = j.value "
    "CROSS JOIN embeddings e ON e.record = r.id CROSS JOIN vectors v ON v.key = e.key "
    "WHERE +r.tier = 'library'"
)


def stored_vectors(
    db: sqlite3.Connection, addresses: Sequence[str], *, dimensions: int
) -> dict[str, dict[Facet, Vector]]:
    """The usable vectors of those of these records that are in the library."""
    found: dict[str, dict[Facet, Vector]] = {}
    for row in db.execute(_OF_ADDRESSES, [json.dumps(list(addresses))]):
        own = found.setdefault(row["address"], {})
        if len(row["vector"]) == 4 * dimensions:
            own[row["facet"]] = np.frombuffer(row["vector"], "<f4")
    return found


def stored_cosines(
    db: sqlite3.Connection, addresses: Sequence[str], directions: Mapping[Facet, Vector], *, dimensions: int
) -> tuple[list[str], Vector]:
    """Those of these records that are in the library, and their (5, n) cosines, NaN without a facet."""
    known: list[str] = []
    parts = [np.empty((len(FACETS), 0), np.float32)]
    for start in range(0, len(addresses), _AT_ONCE):
        some = stored_vectors(db, addresses[start : start + _AT_ONCE], dimensions=dimensions)
        known += some
        part = np.full((len(FACETS), len(some)), np.nan, np.float32)
        for facet, direction in directions.items():
            part[FACETS.index(facet)] = _cosines(some.values(), facet, direction)
        parts.append(part)
    return known, np.concatenate(parts, axis=1)


def _cosines(vectors: Iterable[Mapping[Facet, Vector]], facet: Facet, direction: Vector) -> Vector:
    """(n,): NaN without the facet, or with a vector that cannot be used."""
    nothing = np.zeros_like(direction)
    matrix = np.stack([own.get(facet, nothing) for own in vectors]) if vectors else nothing[None][:0]
    found: Vector = np.vecdot(matrix, direction)
    found[~are_unit(matrix)] = np.nan
    return found


FIRST = 1_024  # entries of each list at first
_NAMED = 20_000  # so many records are named to the server


class Candidates(NamedTuple):
    """The candidates of one moment."""

    similarities: Similarities
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
                answer = Similarities.exact(
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


MOST = 4_096  # entries of each list
JUDGED = 50  # results of which it is said how sure they are
_ALL_COMPARED = 2_048  # of so few records that pass a filter, all are compared
_WAITING = 2_048  # records that the server does not have yet, and that are always compared
_WITH_WORDS = 2_048  # records with words of the query that are always compared, those with most of them
_SAMPLE = 2_048  # records that tell how far apart cosines lie; of a larger library …
_SMALL_SAMPLE = 256  # … these
_FLOOR = 5_000  # records that nonsense is compared with
_KEPT = 16  # queries; each takes about 100 bytes for every candidate


class ServerSearch:
    """Searches one state of a library; thread-safe."""

    def __init__(
        self,
        catalog: Catalog,
        lists: ServerLists,
        facts: LibraryFacts,
        directions: QueryDirections,
        embedder: Embedder,
    ) -> None:
        self.facts = facts
        self._catalog = catalog
        self._lists = lists
        self._directions = directions
        self._embedder = embedder
        self._complete = facts.complete
        self._means = facts.means
        self._asked: LruCache[object, ServerQuery] = LruCache(_KEPT)
        self._floor: float | None = None
        self._sample: dict[str, dict[Facet, Vector]] | None = None

    def search(
        self,
        query: Query,
        *,
        among: Collection[str] | None = None,
        scale: Scale = RAW,
        words: WordShares = NO_WORDS,
        silent: frozenset[str] | None = None,
    ) -> Results:
        """As `Search.search`, by captions alone. Raises ServerUnavailable if it cannot propose candidates."""
        began = time.perf_counter()
        weights = query.sliders
        key = query_key(query), id(among), id(words)
        asked = self._asked.get(key)
        if not any(weights.values()):
            answer = asked.candidates().similarities if asked else NONE
            ranking = rank(NONE, weights, top=query.top)
            return Results(
                query, hits(NONE, ranking, weights), 0, 0, time.perf_counter() - began, answer, scale,
                why_empty=NO_WEIGHT,
            )  # fmt: skip
        if asked is None or asked.among is not among or asked.shares is not words:
            asked = self._asked[key] = self._begin(query, among, words)
        ranking, certainty, found = self._best(asked, query, weights, scale)
        answer = found.similarities
        without = ranking.without_facets
        if among is None:
            used = [
                number for number, facet in enumerate(FACETS) if weights.get(facet) and answer.spoken[number]
            ]
            without = self.facts.without(used) if used else len(self.facts)
        fits = not words.words or bool(words.shares) or self._fits(query, answer, found.mask)
        return Results(
            query=query,
            hits=hits(answer, ranking, weights, scale=scale, words=found.words if query.fused else None),
            compared=ranking.compared,
            without_facets=without,
            seconds=time.perf_counter() - began,
            answer=answer,
            scale=scale,
            mask=found.mask,
            why_empty="" if ranking.rows else why_nothing(ranking, total=len(self.facts)),
            words=found.words,
            fits=fits,
            certainty=certainty,
            floor=partial(self._floor_for, query),
        )

    def _begin(self, query: Query, among: Collection[str] | None, words: WordShares) -> ServerQuery:
        """What is compared in any case, before the server is asked."""
        directions = self._directions.of(query, own=self._own)
        most = self._lists.most
        asked = ServerQuery(
            directions,
            means=self._neutral(directions),
            complete=[own and facet in directions for facet, own in zip(FACETS, self._complete, strict=True)],
            deviations=self._deviations(directions),
            among=among,
            examples=frozenset(part.like for part in query.parts if part.like is not None),
            limits=limits(query, among, can_be_named=most is None),
            shares=words,
        )
        queue = self._catalog.rows("SELECT address FROM chroma_queue LIMIT ?", [_WAITING + 1])
        waiting = [row[0] for row in queue]
        asked.pool.unlisted.update(waiting)
        asked.lacks = len(waiting) > _WAITING
        first = list(waiting[:_WAITING])
        if among is not None and len(among) <= _ALL_COMPARED:
            asked.is_all = True
            first += among
        best = sorted(words.shares.items(), key=lambda own: -own[1])
        first += (address for address, _ in best[:_WITH_WORDS])
        asked.unseen_words = best[_WITH_WORDS][1] if len(best) > _WITH_WORDS else 0.0
        self._take(asked, first)
        return asked

    def _best(
        self, asked: ServerQuery, query: Query, weights: Mapping[Facet, float], scale: Scale
    ) -> tuple[Ranking, Certainty, Candidates]:
        """The ranking for these weights, from lists as long as it takes, and what it ranks."""
        used = [
            number
            for number, facet in enumerate(FACETS)
            if weights.get(facet, 0.0) > 0 and not np.isnan(asked.means[number])
        ]
        most = min(MOST, self._lists.most or MOST)
        with asked.lock:
            while True:
                if not asked.is_all:
                    self._deepen(asked, used)
                found = asked.candidates()
                words = found.words if query.fused else None
                ranking = rank(
                    found.similarities, weights, top=query.top, mask=found.mask, scale=scale, words=words
                )
                certainty = self._judged(asked, found, used, ranking, query, weights, scale)
                if certainty.level != "approximate" or asked.length >= most:
                    return ranking, certainty, found
                asked.length = min(2 * asked.length, most)

    def _deepen(self, asked: ServerQuery, used: Sequence[int]) -> None:
        """Ask for the lists of these facets in their present length, and take what is new."""
        asked.length = min(asked.length, self._lists.most or asked.length)
        short = [
            number
            for number in used
            if (own := asked.pool.lists.get(number)) is None
            or (len(own.addresses) < asked.length and not own.is_whole)
        ]
        if not short:
            return
        directions = {FACETS[number]: asked.directions[FACETS[number]] for number in short}
        found = self._lists.nearest(directions, n=asked.length, limits=asked.limits)
        for facet, (addresses, cosines) in found.items():
            asked.pool.lists[FACETS.index(facet)] = FacetList(
                addresses, cosines[-1] if cosines else -np.inf, is_whole=len(addresses) < asked.length
            )
        self._take(asked, [address for addresses, _ in found.values() for address in addresses])

    def _judged(
        self,
        asked: ServerQuery,
        found: Candidates,
        used: Sequence[int],
        ranking: Ranking,
        query: Query,
        weights: Mapping[Facet, float],
        scale: Scale,
    ) -> Certainty:
        pool = asked.pool
        if asked.is_all or not used or (asked.among is None and len(pool.row_of) >= len(self.facts)):
            return EXACT
        count, judged = len(pool.row_of), min(query.top, JUDGED)
        if asked.lacks:
            return Certainty("approximate", count, "the server does not have all coins yet")
        words = found.words if query.fused else None
        reached = ranking.scores[judged - 1] if len(ranking.scores) >= judged else -np.inf
        bound = threshold(pool.lists, ranking.shares, scale, means=asked.means, complete=asked.complete)
        if query.fused:
            bound += ranking.gain * asked.unseen_words
        gaps = pool.gaps(used, among=None if asked.limits == EVERYTHING else found.mask)
        if reached >= bound and not gaps:
            return Certainty("proved", count)
        depths = pool.depths(used)
        for part in (asked.length // 4, asked.length // 2):
            mask = depths <= part if found.mask is None else found.mask & (depths <= part)
            fewer = rank(found.similarities, weights, top=judged, mask=mask, scale=scale, words=words)
            if fewer.rows != ranking.rows[:judged]:
                reason = ""
                if self._lists.most and asked.length >= self._lists.most:
                    reason = f"the server gives at most {self._lists.most} results for a facet"
                return Certainty("approximate", count, reason)
        return Certainty("stable", count)

    def _take(self, asked: ServerQuery, addresses: Iterable[str]) -> None:
        new = [
            one for one in dict.fromkeys(addresses) if one not in asked.pool.row_of and one not in asked.gone
        ]
        if new:
            with self._catalog.reading() as db:
                known, found = stored_cosines(db, new, asked.directions, dimensions=self._embedder.dimensions)
            asked.pool.add(known, found)
            asked.gone.update(set(new).difference(known))

    def _own(self, address: str) -> Mapping[Facet, Vector]:
        with self._catalog.reading() as db:
            found = stored_vectors(db, [address], dimensions=self._embedder.dimensions)
        if address not in found:
            raise UnknownRecord(f"{address} is not in the library; only promoted records have stored vectors")
        return found[address]

    def _neutral(self, directions: Directions) -> Floats:
        found = np.full(len(FACETS), np.nan)
        for facet, direction in directions.items():
            number = FACETS.index(facet)
            found[number] = self._means[number] @ direction.astype(np.float64)
        return found

    def _deviations(self, directions: Directions) -> Floats:
        """(5,): the deviation of each facet's cosines over a sample, 0 if none has the facet."""
        if self._sample is None:
            self._sample = self._some(_SAMPLE if len(self.facts) <= _SAMPLE else _SMALL_SAMPLE)
        found = np.zeros(len(FACETS))
        for facet, direction in directions.items():
            rows = [own[facet] for own in self._sample.values() if facet in own]
            if rows:
                found[FACETS.index(facet)] = (np.stack(rows) @ direction).astype(np.float64).std()
        return found

    def _some(self, count: int) -> dict[str, dict[Facet, Vector]]:
        """The vectors of at most so many records, evenly spread."""
        step = max(1, -(-len(self.facts) // count))  # rounded up
        with self._catalog.reading() as db:
            ids = json.dumps(self.facts.ids[::step].tolist())
            named = db.execute(
                "SELECT address FROM records WHERE id IN (SELECT value FROM json_each(?))", [ids]
            )
            addresses = [row[0] for row in named]
            return stored_vectors(db, addresses, dimensions=self._embedder.dimensions)

    def _fits(self, query: Query, answer: Similarities, mask: Mask | None) -> bool:
        """Whether a text query is closer to some candidate's caption than nonsense is to any."""
        least = self._floor_for(query)
        return least is None or answer.exceeds(least, CAPTIONS, mask)

    def _floor_for(self, query: Query) -> float | None:
        if not has_floor(query, self._embedder):
            return None
        if self._floor is None:
            some = self._some(_FLOOR)
            self._floor = floor(
                load(some.items(), dimensions=self._embedder.dimensions).snapshot(), self._embedder
            )
        return self._floor


class SearchOnServer:
    """Connects at the first search; thread-safe."""

    def __init__(self, catalog: Catalog, layout: Layout, model: ActiveModel, disk: Disk) -> None:
        self._catalog = catalog
        self._model = model
        self._facts = LibraryFactsReader(catalog, layout, model, disk)
        self._lock = threading.Lock()
        self._connected: tuple[Embedder, QueryDirections, ServerLists] | None = None
        self._search: ServerSearch | None = None

    @property
    def reading(self) -> Progress:
        """Progress of the first reading of the vectors, which are added up and not kept."""
        return self._facts.reading

    def prepare(self) -> None:
        """Read what every search needs. Raises ModelUnavailable if the library's model cannot be used."""
        self._facts.facts()

    def search(self) -> ServerSearch:
        """A search over every library record now. Raises ModelUnavailable or ServerUnavailable."""
        facts, embedder = self._facts.facts(), self._model.embedder
        with self._lock:
            if self._connected is None or self._connected[0] is not embedder:
                self._disconnect()
                self._connected = embedder, QueryDirections(embedder), self._lists(embedder)
            if self._search is None or self._search.facts.keys is not facts.keys:
                _, directions, lists = self._connected
                self._search = ServerSearch(self._catalog, lists, facts, directions, embedder)
            return self._search

    def close(self) -> None:
        """End the connection, if there is one."""
        with self._lock:
            self._disconnect()

    def _lists(self, embedder: Embedder) -> ServerLists:
        server = ChromaServer.configured()
        if server is None:
            raise ServerUnavailable(
                "MEMEDEX_SEARCH=server searches a Chroma server: name it in MEMEDEX_CHROMA_URL"
            )
        return ServerLists(server, model=embedder.name, owner=self._catalog.owner)

    def _disconnect(self) -> None:
        connected, self._connected, self._search = self._connected, None, None
        if connected:
            connected[2].close()


def chosen_search(
    catalog: Catalog, layout: Layout, model: ActiveModel, disk: Disk, resident: ResidentVectors
) -> SearchOnServer | ResidentVectors:
    """What the settings search: a server, or the vectors in memory."""
    is_on_server = settings().search == "server"
    return SearchOnServer(catalog, layout, model, disk) if is_on_server else resident
