"""Everything one can learn from a library without changing it; works beside the process that writes."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from store import history, listing, troubles
from store.appearance import Appearance
from store.captions import revisions
from store.captions.beside import Beside
from store.captions.drafts import Drafts
from store.captions.revisions import Revision
from store.captions.suggestions import Suggestions
from store.catalog import Catalog
from store.chosen_model import ChosenModel
from store.duplicates.duplicates import Duplicates
from store.embedding import Embedder
from store.errors import UnknownRecord
from store.files import Disk
from store.filter import Filter
from store.history import Decision, Event
from store.jobs import Jobs
from store.layout import Layout
from store.looks import Order, Ordered
from store.people import myself
from store.progress import Progress
from store.prompts import Prompts
from store.records import TIERS, Facet, Record, Tier
from store.search import saved_searches
from store.search.blocks import Snapshot
from store.search.calibration import Calibration, Calibrations
from store.search.golden import GoldenQueries
from store.search.query import Query
from store.search.recent import Recent
from store.search.resident import Resident
from store.search.samples import Samples
from store.search.saved_searches import SavedSearches
from store.search.search import Results
from store.taxonomy import Taxonomy
from store.writing.journal import stat_text

_KEPT_COUNTS = 16


@dataclass(frozen=True, slots=True)
class Status:
    """Whether all is well, in words for a page."""

    model: str
    model_status: str
    can_write: bool
    chroma_behind: int  # records
    applying: tuple[str, ...]  # addresses in operations that are decided and not finished
    generation: int
    chroma_fault: str = ""  # "" while Chroma follows
    stuck: str = ""  # why a decided operation is not finished; "" when all are
    faults: tuple[str, ...] = ()  # files that cannot be taken in


class Reader:
    """A library opened for reading: pages, lists and searches from the catalog alone."""

    can_write = False
    READING: ClassVar[frozenset[str]]  # all its names: whatever a library has beyond them changes it

    def __init__(self, root: Path, *, embedder: Embedder | None = None, disk: Disk | None = None) -> None:
        self.layout = layout = Layout(root.resolve())
        self._disk = disk or Disk()
        self.catalog = catalog = Catalog(layout.catalog, disk=self._disk, writable=self.can_write)
        self._model = ChosenModel(catalog, embedder)
        self._resident = Resident(catalog, layout, self._model)
        self._appearance = Appearance(catalog, self._model, picture=self.picture)
        self._labels: Recent[tuple[str, Filter, int], dict[str, int]] = Recent(_KEPT_COUNTS)
        self._taxonomy: tuple[tuple[Path, str], Taxonomy] | None = None  # as of the file's size and time
        # Rooms of their own, each with its verbs.
        self.duplicates = Duplicates(catalog, self._appearance, picture=self.picture)
        self.drafts = Drafts(catalog)
        self.suggestions = Suggestions(catalog)
        self.prompts = Prompts(catalog, layout, self._disk)
        self.filters = saved_searches.filters(catalog)
        self.searches = SavedSearches(catalog)
        self.presets = saved_searches.presets(catalog)
        self.samples = Samples(catalog, layout, self._disk)
        self.golden = GoldenQueries(catalog, layout, self._disk)
        self.calibration = Calibrations(catalog, self._model, snapshot=self._resident.snapshot)
        self.jobs = Jobs.to_read(catalog)

    @property
    def who(self) -> str:
        """Who decides here when nobody says so."""
        return myself()

    # -- records ------------------------------------------------------------------------------------------

    def get(self, address: str) -> Record:
        """The record; UnknownRecord where there is none."""
        with self.catalog.reading() as db:
            record = listing.get(db, address)
        if record is None:
            raise UnknownRecord(f"no record has the address {address}")
        return record

    def came_since(self, addresses: Iterable[str], moment: float) -> int:
        """How many of these came into their tier after a moment (UNIX seconds)."""
        with self.catalog.reading() as db:
            return listing.came_since(db, list(addresses), moment)

    def named(self, words: str, filter: Filter, *, limit: int) -> list[Record]:
        """The records that have all of these words, the exact ticker first, then the name, then the rest."""
        with self.catalog.reading() as db:
            return listing.named(db, words, filter, limit=limit)

    def find(
        self, filter: Filter, *, sort: str = "newest", offset: int = 0, limit: int | None = None
    ) -> list[Record]:
        """The records that pass, in the order of one of listing.SORTS."""
        with self.catalog.reading() as db:
            return listing.find(db, filter, sort=sort, offset=offset, limit=limit)

    def addresses(self, filter: Filter) -> list[str]:
        """Only the keys of the records that pass, newest first."""
        with self.catalog.reading() as db:
            return listing.addresses(db, filter)

    def count(self, filter: Filter) -> int:
        with self.catalog.reading() as db:
            return listing.count(db, filter)

    def counts(self) -> dict[Tier, int]:
        """How many records each tier holds."""
        with self.catalog.reading() as db:
            return listing.counts(db)

    def tag_counts(self, filter: Filter) -> dict[str, int]:
        """How many of the records that pass carry each tag, most frequent first."""
        return self._label_counts("tag", filter)

    def category_counts(self, filter: Filter) -> dict[str, int]:
        """How many of the records that pass belong to each category, most frequent first."""
        return self._label_counts("category", filter)

    def _label_counts(self, kind: str, filter: Filter) -> dict[str, int]:
        """Once for each state of the library: pages ask in every run, and 100,000 records cost 0.1 s."""
        asked = (kind, filter, self.generation)
        found = self._labels.get(asked)
        if found is None or filter.suspicious is not None:  # that changes outside operations too
            with self.catalog.reading() as db:
                found = listing.label_counts(db, kind, filter)
            self._labels.put(asked, found)
        return dict(found)

    def troubles(self, addresses: Iterable[str]) -> dict[str, str]:
        """Why those of these approved records that cannot go on cannot."""
        with self.catalog.reading() as db:
            return troubles.of(db, addresses)

    @property
    def taxonomy(self) -> Taxonomy:
        """The known tags and their categories, as the file has them now; BadSource where it is broken."""
        path = self.layout.taxonomy
        found = (path, stat_text(path))
        if self._taxonomy is None or self._taxonomy[0] != found:
            self._taxonomy = found, Taxonomy.load(path)
        return self._taxonomy[1]

    def source_counts(self, filter: Filter) -> dict[str, int]:
        """How many of the records that pass were imported from where, most frequent first."""
        with self.catalog.reading() as db:
            return listing.source_counts(db, filter)

    def records(self, addresses: Iterable[str]) -> list[Record]:
        """Those of these records that there are, in this order."""
        wanted = list(addresses)
        with self.catalog.reading() as db:
            found = listing.records(db, wanted)
        return [found[address] for address in wanted if address in found]

    def by_looks(self, addresses: Sequence[str], order: Order, *, like: str = "") -> Ordered:
        """These records in an order that their pictures give (`store.looks`), `like` by likeness to this one.

        UnknownRecord for a `like` that is not here; ModelUnavailable where the model cannot see.
        """
        return self._appearance.ordered(addresses, order, like=self.get(like) if order == "like" else None)

    def spelling_of(self, address: str) -> str | None:
        """How an address that differs at most in case is written here."""
        with self.catalog.reading() as db:
            row = db.execute("SELECT address FROM records WHERE folded = ?", [address.lower()]).fetchone()
        return row[0] if row else None

    def picture(self, address: str) -> Path:
        """The record's JPG, also while an operation moves it."""
        tier = self.get(address).tier
        places = [self.layout.image(tier, address), *(self.layout.image(other, address) for other in TIERS)]
        return next((place for place in places if place.exists()), places[0])

    def picture_by_hash(self, image_hash: str) -> Path | None:
        """The JPG with this SHA-256, of whichever record has it."""
        with self.catalog.reading() as db:
            row = db.execute("SELECT address FROM records WHERE image_hash = ?", [image_hash]).fetchone()
        return self.picture(row[0]) if row else None

    def embedded_facets(self, address: str) -> list[Facet]:
        """The facets that have a vector in the library."""
        with self.catalog.reading() as db:
            rows = db.execute(
                "SELECT e.facet FROM embeddings e JOIN records r ON r.id = e.record WHERE r.address = ?",
                [address],
            ).fetchall()
        return [row[0] for row in rows]

    # -- history ------------------------------------------------------------------------------------------

    def history(
        self, *, address: str | None = None, decision: str | None = None, limit: int = 100
    ) -> list[Event]:
        """What happened to records, newest first."""
        with self.catalog.reading() as db:
            return history.events(db, address=address, decision=decision, limit=limit)

    def decisions(self, *, limit: int = 20) -> list[Decision]:
        """What was done in one go, newest first."""
        with self.catalog.reading() as db:
            return history.decisions(db, limit=limit)

    def revisions(self, address: str) -> list[Revision]:
        """Every text a record's caption ever had, newest first."""
        with self.catalog.reading() as db:
            return revisions.of(db, address)

    def sidecar_text(self, digest: str) -> str:
        """A sidecar as it once was, by the hash that history names."""
        with self.catalog.reading() as db:
            row = db.execute("SELECT text FROM sidecars WHERE hash = ?", [digest]).fetchone()
        return str(row[0]) if row else ""

    # -- search -------------------------------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The embedding model of this library, by name."""
        return self._model.name

    @property
    def embedder(self) -> Embedder:
        """The library's model; its weights are loaded when it is first used."""
        return self._model.embedder

    def search(self, query: Query, *, calibration: Calibration | None = None) -> Results:
        """The library's answer to a query, exactly as design section 5 scores it.

        A calibrated one by these figures; by default those in force. InvalidRecord where there are none.
        """
        search = self._resident.search()
        among = None if query.filter.is_open else self._resident.passing(query.filter)
        return search.search(query, among=among, scale=self.calibration.scale(query, calibration))

    @property
    def reading_vectors(self) -> Progress:
        """How far the first reading of the vectors has come; a large library's takes half a minute."""
        return self._resident.reading

    def snapshot(self) -> Snapshot:
        """Every library record's vectors as they are now."""
        return self._resident.snapshot()

    def beside(self, address: str, facet: Facet, text: str) -> Beside:
        """Which records this text would sit next to in a facet, and how well it fits the record's picture."""
        picture = self._appearance.vector(self.get(address))
        return self._resident.search().beside(facet, text, own=address, picture=picture)

    def labels(self, kind: str) -> dict[str, list[str]]:
        """The tags (kind "tag") or categories of the library's records, by address."""
        with self.catalog.reading() as db:
            return listing.labels(db, kind)

    def created(self) -> dict[str, int]:
        """When the library's records were created, by address."""
        with self.catalog.reading() as db:
            return listing.created(db)

    # -- all is well --------------------------------------------------------------------------------------

    @property
    def secret(self) -> bytes:
        """This library's own, for signing the addresses of pictures."""
        return bytes.fromhex(self.catalog.meta("secret"))

    @property
    def generation(self) -> int:
        """Grows with every change; equal numbers mean equal content."""
        return int(self.catalog.meta("generation") or 0)

    def status(self) -> Status:
        """Whether all is well, as far as the catalog knows."""
        with self.catalog.reading() as db:
            behind = int(db.execute("SELECT count(*) FROM chroma_queue").fetchone()[0])
            rows = db.execute("SELECT operation FROM journal").fetchall()
        return Status(
            model=self.model,
            model_status=self._model.status,
            can_write=self.can_write,
            chroma_behind=behind,
            applying=tuple(change["address"] for row in rows for change in json.loads(row[0])["changes"]),
            generation=self.generation,
        )

    def check_chroma(self) -> list[str]:
        """Nothing: only the process that writes may open Chroma."""
        return []

    def close(self) -> None:
        """Let go of the library's files."""
        self.catalog.close()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


Reader.READING = frozenset(dir(Reader))
