"""Everything one can learn from a library without changing it; works beside the process that writes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from store import history
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
from store.files import Disk
from store.history import Decision, Event
from store.jobs import Jobs
from store.layout import Layout
from store.looks import Order, Ordered
from store.maps import Maps
from store.people import myself
from store.progress import Progress
from store.prompts import Prompts
from store.record_lists import RecordLists
from store.records import Facet
from store.search import saved_searches
from store.search.blocks import Snapshot
from store.search.calibration import Calibration, Calibrations
from store.search.golden import GoldenQueries
from store.search.query import Query
from store.search.resident import Resident
from store.search.samples import Samples
from store.search.saved_searches import SavedSearches
from store.search.search import Results
from store.taxonomy import Taxonomy
from store.writing.journal import stat_text


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


class Reader(RecordLists):
    """A library opened for reading: pages, lists and searches from the catalog alone."""

    can_write = False
    READING: ClassVar[frozenset[str]]  # all its names: whatever a library has beyond them changes it

    def __init__(self, root: Path, *, embedder: Embedder | None = None, disk: Disk | None = None) -> None:
        layout = Layout(root.resolve())
        self._disk = disk or Disk()
        catalog = Catalog(layout.catalog, disk=self._disk, writable=self.can_write)
        super().__init__(catalog, layout)
        self._model = ChosenModel(catalog, embedder)
        self._resident = Resident(catalog, layout, self._model)
        self._appearance = Appearance(catalog, self._model, picture=self.picture)
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
        self.maps = Maps(catalog, self._model, snapshot=self._resident.snapshot, can_write=self.can_write)
        self.jobs = Jobs.to_read(catalog)

    @property
    def who(self) -> str:
        """Who decides here when nobody says so."""
        return myself()

    @property
    def taxonomy(self) -> Taxonomy:
        """The known tags and their categories, as the file has them now; BadSource where it is broken."""
        path = self.layout.taxonomy
        found = (path, stat_text(path))
        if self._taxonomy is None or self._taxonomy[0] != found:
            self._taxonomy = found, Taxonomy.load(path)
        return self._taxonomy[1]

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

    def decision(self, decision: str) -> Decision | None:
        """One of them; None where there is none of this name."""
        with self.catalog.reading() as db:
            return next(iter(history.decisions(db, only=decision)), None)

    def to_undo(self, *, who: str) -> Decision | None:
        """This person's last decision that still stands."""
        with self.catalog.reading() as db:
            last = history.to_undo(db, who)
            return history.decisions(db, only=last)[0] if last else None

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

    def by_looks(self, addresses: Sequence[str], order: Order, *, like: str = "") -> Ordered:
        """These records in an order that their pictures give (`store.looks`), `like` by likeness to this one.

        UnknownRecord for a `like` that is not here; ModelUnavailable where the model cannot see.
        """
        return self._appearance.ordered(addresses, order, like=self.get(like) if order == "like" else None)

    def snapshot(self) -> Snapshot:
        """Every library record's vectors as they are now."""
        return self._resident.snapshot()

    def beside(self, address: str, facet: Facet, text: str) -> Beside:
        """Which records this text would sit next to in a facet, and how well it fits the record's picture."""
        picture = self._appearance.vector(self.get(address))
        return self._resident.search().beside(facet, text, own=address, picture=picture)

    # -- all is well --------------------------------------------------------------------------------------

    @property
    def secret(self) -> bytes:
        """This library's own, for signing the addresses of pictures."""
        return bytes.fromhex(self.catalog.meta("secret"))

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
