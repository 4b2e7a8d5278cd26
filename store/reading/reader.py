"""Read everything about a library without changing it, also while another process writes."""

import hmac
import json
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from store.captions import revisions
from store.captions.drafts import Drafts
from store.captions.revisions import Revision
from store.captions.suggestions import Suggestions
from store.catalog import history, rows, snapshots
from store.catalog.catalog import Catalog
from store.catalog.coin_sets import CoinSets
from store.catalog.filters import Filter
from store.catalog.history import Answers, DecisionLog, Event, PastDecision
from store.catalog.listing import Listing
from store.catalog.named_values import DeletedItems
from store.catalog.record_queries import RecordLists
from store.catalog.replication import seconds_behind
from store.catalog.words import NO_WORDS, WordShares, word_shares
from store.chroma.place import describe_place
from store.disk.aside import Aside, moved_aside
from store.disk.files import Disk
from store.disk.layout import Layout
from store.disk.sidecars import stat_text
from store.duplicates.alignment import Confirmation
from store.duplicates.details import DetailIndex
from store.duplicates.duplicates import Duplicates, LikenessFinder
from store.duplicates.examiner import Examiner
from store.duplicates.fingerprints import Neighbours
from store.embedding import embedding_cache
from store.embedding.active_model import ActiveModel
from store.embedding.embedding_cache import ModelVectors
from store.embedding.protocol import Embedder
from store.jobs import Jobs
from store.llm.prompts import Prompts
from store.lru import LruCache
from store.maps import Maps
from store.permissions import Actor
from store.pictures.picture_faults import PictureFaults
from store.pictures.picture_texts import NudityClassifier, PictureTexts, TextReader
from store.pictures.shared_pictures import shared_pictures
from store.pictures.unfit import Unfit
from store.progress import Progress
from store.records import Facet, Record
from store.rules.rule import saved as saved_rules
from store.search import golden_queries
from store.search.calibration import Calibration, Calibrations
from store.search.golden_queries import GoldenQueries
from store.search.picture_similarity import Order, Ordered, PictureIndex, PictureSimilarity
from store.search.query import Query, SavedSearches, saved_filters, saved_weights, words_asked
from store.search.query_pictures import QueryPictures
from store.search.resident import ResidentVectors
from store.search.samples import Sample
from store.search.search import Results, TextNeighbours
from store.search.server_search import chosen_search
from store.search.stand_in import SilentCaptions, may_stand_in
from store.search.tag_suggestions import TagSuggestion, TagSuggestions
from store.tags import taxonomy_file
from store.tags.taxonomy import Taxonomy
from store.vectors.matrices import VectorSnapshot

_KEPT_WORDS = 64
# Numbers that change with the coins, and with what was read in their pictures.
_CHANGES = "SELECT " + ", ".join(
    f"(SELECT value FROM meta WHERE key = '{key}')" for key in ("generation", "derived")
)


@dataclass(frozen=True, slots=True)
class Status:
    """The library's health, in words for a page."""

    model: str
    model_status: str
    can_write: bool
    chroma_behind: int  # records
    applying: tuple[str, ...]  # addresses in operations that are decided and not finished
    generation: int
    chroma_fault: str = ""  # "" while Chroma follows
    chroma_place: str = ""  # "off", a server, or "" for the library's folder
    stuck: str = ""  # why a decided operation is not finished; "" when all are
    faults: tuple[str, ...] = ()  # files that cannot be taken in
    moved_aside: tuple[str, ...] = ()  # what others left in the way, and where it lies now
    comparing: tuple[int, int] | None = None  # files compared with the catalog, of how many; None: all
    unreadable: tuple[str, ...] = ()  # pictures that cannot be embedded; they are tried again
    seconds_behind: float | None = None  # of a replica, behind the writer


def waiting_for_vectors(catalog: Catalog, model: ActiveModel, count: int | None = None) -> str:
    """How many coins wait for vectors (`count`, if known), and why, as a sentence; "" if none does."""
    if count is None:
        with catalog.reading() as db:
            count = rows.without_vectors(db)
    if not count:
        return ""
    coins = "1 coin of the library waits" if count == 1 else f"{count:,} coins of the library wait"
    if model.status.startswith("unavailable"):
        return f"{coins} for vectors, because the model is {model.status}"
    return f"{coins} for vectors by {model.name}: doctor --repair (System status: Repair) computes them"


class QueryMatches:
    """Searches recognise an answer by its identity; thread-safe."""

    def __init__(self, catalog: Catalog, listing: Listing) -> None:
        self._catalog = catalog
        self._listing = listing
        self._silent = SilentCaptions(catalog)
        self._words: LruCache[tuple[str, str | None, str | None], WordShares] = LruCache(_KEPT_WORDS)

    def passing(self, filter: Filter) -> list[str]:
        """Records that match a filter; the same list object until other records do."""
        return self._listing.addresses(self._catalog, filter)

    def words(self, query: Query) -> WordShares:
        """The word shares; the same object until the library changes."""
        text = words_asked(query)
        if not text:
            return NO_WORDS
        with self._catalog.reading() as db:  # one statement, since a moved slider asks as well
            key = text, *db.execute(_CHANGES).fetchone()
            found = self._words.get(key)
            if found is None:
                found = self._words[key] = word_shares(db, text)
        return found

    def silent(self, query: Query) -> frozenset[str] | None:
        """The coins whose captions say nothing, if a query needs them; the same object until they change."""
        return self._silent.current() if may_stand_in(query) else None


class Reader(RecordLists):
    """A library without its verbs, from the catalog as it is; `open_reader` brings that up to date."""

    def __init__(
        self, root: Path, *, embedder: Embedder | None = None, disk: Disk | None = None, writes: bool = False
    ) -> None:
        layout = Layout(root.resolve())
        self._disk = disk or Disk()
        super().__init__(Catalog(layout.catalog, disk=self._disk, writable=writes), layout)
        self._is_own = True  # opened here, not borrowed from another reader
        self._model = ActiveModel(self.catalog, embedder)
        self._make_shared()
        self._make_parts()

    def _make_shared(self) -> None:
        """Make what all actors share."""
        catalog = self.catalog
        self._resident = ResidentVectors(catalog, self.layout, self._model)
        self._searches = chosen_search(catalog, self.layout, self._model, self._disk, self._resident)
        self._pictures = PictureSimilarity(catalog, self._model, picture=self.picture)
        self._neighbours = Neighbours()
        self._confirmation = Confirmation(catalog, picture=self.picture)
        self._examiner = Examiner(
            catalog, self._neighbours, DetailIndex(), self._confirmation, picture=self.picture
        )
        self._likenesses = LikenessFinder(catalog, self._pictures, self._confirmation)
        self._tag_suggestions = TagSuggestions(
            self._pictures, snapshot=self._resident.snapshot, sample=self.tagged_sample
        )
        self._text_reader = TextReader()
        self._nudity = NudityClassifier()
        self._unfit: LruCache[tuple[object, ...], frozenset[str]] = LruCache(1)
        self._golden_faults: list[str] = []
        self._taxonomies: LruCache[tuple[Path, str], Taxonomy] = LruCache(1)  # by the file's size and time
        self._matches = QueryMatches(catalog, self._listing)
        self._shared_pictures = shared_pictures(self.layout)
        self.maps = Maps(catalog, self._model, snapshot=self._resident.snapshot)
        self.jobs = Jobs(catalog)

    def for_actor(self, actor: Actor) -> Self:
        """This library with one person's permissions; connections, lock, vectors and caches are shared."""
        used = copy(self)
        used._is_own = False
        used.catalog = self.catalog.for_actor(actor)
        used.maps = self.maps.for_actor(actor)
        used.jobs = self.jobs.for_actor(used.catalog)
        used._make_parts()
        return used

    def _make_parts(self) -> None:
        """Make the parts other than records, with their verbs, on the catalog of this actor."""
        catalog, layout = self.catalog, self.layout
        self.log = DecisionLog(catalog)
        self.duplicates = Duplicates(
            catalog, self._pictures, self._neighbours, self._confirmation, self._examiner, self._likenesses
        )
        self.picture_texts = PictureTexts(catalog, self._text_reader, self._nudity, picture=self.picture)
        self.picture_faults = PictureFaults(catalog, picture=self.picture)
        self.unfit = Unfit(catalog, self._unfit)
        self.drafts = Drafts(catalog)
        self.suggestions = Suggestions(catalog)
        self.prompts = Prompts(catalog, layout, self._disk)
        self.coin_sets = CoinSets(catalog)
        self.filters = saved_filters(catalog)
        self.searches = SavedSearches(catalog)
        self.presets = saved_weights(catalog)
        self.rules = saved_rules(catalog)
        self.answers = Answers(catalog)
        self.samples = QueryPictures(catalog, layout, self._disk)
        self.golden = GoldenQueries(catalog, layout, self._disk, faults=self._golden_faults)
        self.calibration = Calibrations(catalog, self._model, snapshot=self._resident.snapshot)
        self.removed = DeletedItems(
            catalog,
            {
                golden_queries.WHAT: self.golden.restore,
                **{
                    values.noun: values.restore
                    for values in (self.filters, self.searches, self.presets, self.rules)
                },
            },
            changed=lambda what: self.golden.write_files() if what == golden_queries.WHAT else None,
        )

    def picture(self, address: str) -> Path:
        """The path of the record's JPG, fetched from the shared place if this machine has none."""
        path = super().picture(address)
        if self._shared_pictures and not path.exists():
            return self._shared_pictures.fetch(self.get(address).image_hash) or path
        return path

    @property
    def taxonomy(self) -> Taxonomy:
        """The known tags and their categories. Raises BadSource if the file is broken."""
        path = self.layout.taxonomy
        found = (path, taxonomy_file.waiting(self.catalog) or stat_text(path))
        taxonomy = self._taxonomies.get(found)
        if taxonomy is None:
            taxonomy = taxonomy_file.current(self.catalog, self.layout)
            self._taxonomies[found] = taxonomy
        return taxonomy

    def vectors_by_model(self) -> list[ModelVectors]:
        """Every model that has stored vectors, the one in use first."""
        with self.catalog.reading() as db:
            return embedding_cache.by_model(db, model=self.model)

    def stored_vectors(self, address: str) -> dict[Facet, bytes]:
        """The float32 vectors of a library record by the model in use, by facet."""
        with self.catalog.reading() as db:
            return embedding_cache.vectors_of(db, address)

    def waiting_for_vectors(self) -> str:
        """How many coins of the library wait for vectors, unseen by searches, and why; "" if none does."""
        return waiting_for_vectors(self.catalog, self._model, self._resident.missing())

    # -- history ------------------------------------------------------------------------------------------

    def history(
        self, *, address: str | None = None, decision: str | None = None, limit: int = 100
    ) -> list[Event]:
        """Events of records, newest first."""
        with self.catalog.reading() as db:
            return history.events(db, address=address, decision=decision, limit=limit)

    def decisions(self, *, limit: int = 20) -> list[PastDecision]:
        """Decisions, newest first; `log` finds others."""
        return self.log.find(limit=limit)

    def decision(self, decision: str) -> PastDecision | None:
        """The decision with this id; None if there is none."""
        return self.log.get(decision)

    def to_undo(self, *, actor: str) -> PastDecision | None:
        """This person's last decision that can be undone; None if there is none."""
        return next(map(self.log.get, self.log.to_undo(actor)), None)

    def revisions(self, address: str) -> list[Revision]:
        """Every text that a record's caption had, newest first."""
        with self.catalog.reading() as db:
            return revisions.of(db, address)

    def sidecars_of(self, address: str) -> list[dict[str, Any]]:
        """Each sidecar that a record had here, without those that were undone."""
        rows = self.catalog.rows(
            "SELECT DISTINCT s.text FROM history h JOIN sidecars s ON s.hash = h.after ->> 'sidecar_hash' "
            f"WHERE h.address = ? AND h.decision NOT IN {history.UNDONE}",
            [address],
        )
        return [json.loads(row[0]) for row in rows]

    def sidecar_text(self, digest: str) -> str:
        """A former sidecar, by the hash in the history."""
        row = self.catalog.row("SELECT text FROM sidecars WHERE hash = ?", [digest])
        return str(row[0]) if row else ""

    # -- search -------------------------------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The name of the library's embedding model."""
        return self._model.name

    @property
    def embedder(self) -> Embedder:
        """The library's model; its weights are loaded at first use."""
        return self._model.embedder

    def search(self, query: Query, *, calibration: Calibration | None = None) -> Results:
        """Search the library as `search/ranking.py` defines; a fused query counts its words as well.

        `calibration` gives the figures of a calibrated query; by default the latest ones. Raises
        InvalidRecord if there are none.
        """
        self.catalog.actor.check_login()
        search = self._searches.search()
        among = None if query.filter.is_open else self._matches.passing(query.filter)
        scale = self.calibration.scale(query, calibration)
        words, silent = self._matches.words(query), self._matches.silent(query)
        return search.search(query, among=among, scale=scale, words=words, silent=silent)

    def prepare_search(self) -> None:
        """Read what searches need, so that the first one does not wait. Raises ModelUnavailable."""
        self.catalog.actor.check_login()
        self._searches.prepare()

    @property
    def reading_vectors(self) -> Progress:
        """Progress of the first reading of the vectors, which takes half a minute for a large library."""
        return self._searches.reading

    def by_appearance(self, addresses: Sequence[str], order: Order, *, like: str = "") -> Ordered:
        """Sort these records by their pictures: by `order`, or likeness to `like`. Raises UnknownRecord."""
        self.catalog.actor.check_login()
        return self._pictures.ordered(addresses, order, like=self.get(like) if order == "like" else None)

    def picture_index(self) -> PictureIndex:
        """The vectors of all pictures as they are now. Raises ModelUnavailable without a usable model."""
        self.catalog.actor.check_login()
        return self._pictures.index()

    def sampled(self, addresses: Sequence[str], sample: Sample, *, seed: int = 1) -> Ordered:
        """Sort these records so that the first are a sample by their pictures, the same for equal seeds."""
        return self.picture_index().sampled(addresses, sample, seed=seed)

    def snapshot(self) -> VectorSnapshot:
        """The vectors of every library record as they are now."""
        self.catalog.actor.check_login()
        return self._resident.snapshot()

    def text_neighbours(self, address: str, facet: Facet, text: str) -> TextNeighbours:
        """The records closest to this text in a facet, and how well it fits the record's picture."""
        picture = self._pictures.vector(self.get(address))
        return self._resident.search().neighbours(facet, text, own=address, picture=picture)

    def suggested_tags(self, records: Iterable[Record]) -> dict[str, list[TagSuggestion]]:
        """The tags that each of these records probably lacks, the likeliest first, where it has a vector."""
        self.catalog.actor.check_login()
        return self._tag_suggestions.of(records)

    # -- all is well --------------------------------------------------------------------------------------

    @cached_property
    def secret(self) -> bytes:
        """The library's key for signing picture addresses and what pages send."""
        return bytes.fromhex(self.catalog.meta("secret"))

    @cached_property
    def id(self) -> str:
        """Identifies this library, 32 hex digits; the same for as long as it stays in its folder.

        The folder counts as well as the secret: a copy is another library, whose pages must not receive
        decisions made in the first one.
        """
        return hmac.new(self.secret, f"library {self.layout.root}".encode(), sha256).hexdigest()[:32]

    def status(self) -> Status:
        """The library's health as far as the catalog shows it."""
        with self.catalog.reading() as db:
            (behind,) = db.execute("SELECT count(*) FROM chroma_queue").fetchone()
            rows = db.execute("SELECT operation FROM journal").fetchall()
        return Status(
            model=self.model,
            model_status=self._model.status,
            can_write=self.can_write,
            chroma_behind=0 if (place := describe_place()) == "off" else behind,
            chroma_place=place,
            applying=tuple(change["address"] for row in rows for change in json.loads(row[0])["changes"]),
            generation=self.generation,
            moved_aside=tuple(one.summary for one in self.moved_aside()),
            seconds_behind=seconds_behind(self.catalog),
        )

    def copies_shortage(self) -> str:
        """A sentence if the disk has no room for a week of daily copies of the catalog; else ""."""
        self.catalog.actor.check_login()
        return snapshots.shortage(self.layout.catalog)

    def moved_aside(self) -> list[Aside]:
        """Files of other programs that were moved aside, oldest first; they are kept whole."""
        self.catalog.actor.check_login()
        return moved_aside(self.layout.memecoins, self.layout.chroma)

    def check_chroma(self) -> list[str]:
        """Nothing, because only the process that writes may open Chroma."""
        return []

    def close(self) -> None:
        """Close the library's files and connections; does nothing for an actor's view of them."""
        if self._is_own:
            self._searches.close()
            self.catalog.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
