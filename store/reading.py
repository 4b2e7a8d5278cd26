"""Everything one can learn from a library without changing it; works beside the process that writes."""

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from store import (
    calibration,
    drafts,
    golden,
    history,
    listing,
    maps,
    matrix_files,
    revisions,
    samples,
    saved_searches,
    suggestions,
    troubles,
)
from store.beside import Beside
from store.blocks import Snapshot, Vector
from store.calibration import Calibration
from store.catalog import Catalog
from store.disagreement import Fit, disagreements
from store.drafts import Draft
from store.duplicates import findings, folding, verdicts
from store.duplicates.findings import Suspect, Suspicion
from store.duplicates.neighbours import Neighbours
from store.duplicates.similar import similar
from store.duplicates.verdicts import Judgement
from store.embedded import Source, embed, picture_vector
from store.embedding import Embedder, open_embedder
from store.errors import InvalidRecord, MemedexError, ModelUnavailable, UnknownRecord
from store.files import Disk
from store.golden import Golden
from store.history import Decision, Event
from store.jobs import Jobs
from store.journal import stat_text
from store.layout import Layout
from store.listing import Filter
from store.looks import Looks, Order, Ordered
from store.maps import Map
from store.people import myself
from store.prompts import Prompts
from store.query import Query
from store.ranking import RAW, Scale
from store.recent import Recent
from store.records import TIERS, Facet, Record, Tier
from store.revisions import Revision
from store.saved_searches import SavedSearch
from store.search import Results, Search
from store.suggestions import Suggestion, SuggestionState
from store.taxonomy import Taxonomy
from store.vectors import Matrices, Vectors, load

KEPT_PICTURES = 64  # vectors of pictures that are not in the library yet
SAVED_FILTERS = "saved filters"  # where the catalog keeps them
KEPT_FILTERS = 8
_HAS_VECTORS = "r.tier = 'library' AND EXISTS (SELECT 1 FROM embeddings e WHERE e.record = r.id)"


@dataclass(frozen=True, slots=True)
class Status:
    """Whether all is well, in words for a page."""

    model: str
    model_status: str
    can_write: bool
    chroma_behind: int  # records
    chroma_fault: str  # "" while Chroma follows
    stuck: str  # why a decided operation is not finished; "" when all are
    applying: tuple[str, ...]  # addresses in that operation
    faults: tuple[str, ...]  # files that cannot be taken in
    generation: int


@dataclass(frozen=True, slots=True)
class _Resident:
    """What a search needs in memory."""

    embedder: Embedder
    matrices: Matrices
    search: Search


class Reader:
    """A library opened for reading: pages, lists and searches from the catalog alone."""

    can_write = False
    READING: ClassVar[frozenset[str]]  # all its names: whatever a library has beyond them changes it

    def __init__(self, root: Path, *, embedder: Embedder | None = None, disk: Disk | None = None) -> None:
        self.layout = Layout(root.resolve())
        self._disk = disk or Disk()
        self.catalog = Catalog(self.layout.catalog, disk=self._disk, writable=self.can_write)
        self._embedder = embedder
        self._embedder_lock = threading.Lock()
        self._search_lock = threading.Lock()
        self._resident: _Resident | None = None
        self._passed: Recent[tuple[Filter, int], list[str]] = Recent(KEPT_FILTERS)
        self._neighbours = Neighbours()
        self._looks_lock = threading.Lock()
        self._looks: Looks | None = None
        self._pictured: Recent[str, Vector] = Recent(KEPT_PICTURES)
        self._taxonomy: tuple[tuple[Path, str], Taxonomy] | None = None  # as of the file's size and time
        self._jobs = Jobs.to_read(self.catalog)
        self._prompts = Prompts(self.catalog, self.layout, self._disk)

    @property
    def prompts(self) -> Prompts:
        """What language models are asked with."""
        return self._prompts

    @property
    def jobs(self) -> Jobs:
        """Long work: how it goes, and directing it where this process may change the library."""
        return self._jobs

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
        with self.catalog.reading() as db:
            return listing.label_counts(db, "tag", filter)

    def category_counts(self, filter: Filter) -> dict[str, int]:
        """How many of the records that pass belong to each category, most frequent first."""
        with self.catalog.reading() as db:
            return listing.label_counts(db, "category", filter)

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

    def saved_filters(self) -> dict[str, str]:
        """The lines kept for filtering, by name."""
        kept: dict[str, str] = json.loads(self.catalog.meta(SAVED_FILTERS) or "{}")
        return kept

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
        vector = None
        if order == "like" and (vector := self._picture_vector(self.get(like))) is None:
            raise ModelUnavailable(f"{self.model} cannot see the picture of {like}; choose another order")
        return self._refreshed_looks().ordered(addresses, order, like=vector)

    def _refreshed_looks(self) -> Looks:
        embedder = self.embedder
        with self._looks_lock:
            if self._looks is None or self._looks.embedder is not embedder:
                self._looks = Looks(embedder)
            looks = self._looks
        with self.catalog.reading() as db:
            looks.refresh(db)
        return looks

    def saved_searches(self) -> dict[str, SavedSearch]:
        """The questions kept under a name."""
        return saved_searches.searches(self.catalog)

    def presets(self) -> dict[str, dict[Facet, float]]:
        """Weights kept under a name."""
        return saved_searches.presets(self.catalog)

    def sample(self, name: str) -> bytes | None:
        """A picture that was searched with, by the name a question calls it; None where it is not kept."""
        return samples.found(self.layout, name)

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

    def draft(self, address: str, *, who: str = "") -> dict[str, Any] | None:
        """What this person is typing and has not saved yet, by field."""
        return next((own.fields for own in self.drafts(address) if own.who == (who or self.who)), None)

    def drafts(self, address: str) -> list[Draft]:
        """What everybody is typing about a coin, the latest first."""
        with self.catalog.reading() as db:
            return drafts.of(db, address)

    def suggestions(self, address: str, *, states: Iterable[SuggestionState] = ("open",)) -> list[Suggestion]:
        """What models propose for this record, newest first."""
        with self.catalog.reading() as db:
            return suggestions.find(db, address, states=states)

    def suggestions_of_job(self, job: int) -> list[Suggestion]:
        """What one run of drafting has brought, oldest first."""
        with self.catalog.reading() as db:
            return suggestions.of_job(db, job)

    def addresses_with_suggestions(self) -> list[str]:
        """The records that wait for somebody to look at a suggestion."""
        with self.catalog.reading() as db:
            return suggestions.waiting(db)

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

    # -- duplicates ---------------------------------------------------------------------------------------

    def duplicates(self, address: str) -> list[Suspect]:
        """Every other record with the same or a confusable picture, name or ticker, the surest first."""
        with self.catalog.reading() as db:
            near = self._neighbours.unknown(db, address)
            return findings.suspects(db, address, near=near, similar=self._similar(address))

    def _similar(self, address: str) -> dict[str, float]:
        """By embedding; nothing where the library has no model that it could ask, or nothing to compare."""
        with contextlib.suppress(MemedexError):
            looks = self._refreshed_looks()
            vector = looks.vector(address)
            if vector is not None:
                found = similar(looks, vector, model=self.model)
                return {other: sure for other, sure in found.items() if other != address}
        return {}

    def copies(self) -> dict[str, int]:
        """For each library record that shows the picture of another one, the number of their group."""
        with self.catalog.reading() as db:
            return folding.groups(db)

    def suspicions(self, addresses: Sequence[str]) -> dict[str, Suspicion]:
        """The badge of each of these records that looks like another, where nobody has judged that yet."""
        with self.catalog.reading() as db:
            return findings.suspicions(db, addresses)

    def unexamined(self) -> int:
        """How many records were not yet compared with the others."""
        with self.catalog.reading() as db:
            return int(db.execute("SELECT count(*) FROM unexamined").fetchone()[0])

    def judgements(self, address: str) -> list[Judgement]:
        """Everything that was said of this record and another, newest first."""
        with self.catalog.reading() as db:
            return verdicts.all_of(db, address)

    def judged(self, decision: str) -> list[Judgement]:
        """What one decision said of records that look alike."""
        with self.catalog.reading() as db:
            return verdicts.of_decision(db, decision)

    # -- search -------------------------------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The embedding model of this library, by name."""
        return self.catalog.meta("model") or ""

    @property
    def embedder(self) -> Embedder:
        """The library's model; its weights are loaded when it is first used."""
        with self._embedder_lock:
            if self._embedder is None or self._embedder.name != self.model:
                self._embedder = open_embedder(self.model)
            return self._embedder

    def search(self, query: Query, *, calibration: Calibration | None = None) -> Results:
        """The library's answer to a query, exactly as design section 5 scores it.

        A calibrated one by these figures; by default those in force. InvalidRecord where there are none.
        """
        search = self._refreshed_search()
        among = None if query.filter.is_open else self._passing(query.filter)
        return search.search(query, among=among, scale=self._scale(query, calibration))

    def _scale(self, query: Query, figures: Calibration | None) -> Scale:
        if not query.calibrated:
            return RAW
        figures = figures or self.calibration()
        if figures is None:
            raise InvalidRecord("this library is not calibrated for its model yet")
        return figures.scale(query.parts)

    def calibration(self) -> Calibration | None:
        """The figures in force; None where nobody asked for any, or the library is too small for them."""
        if self.counts().get("library", 0) < calibration.LEAST_RECORDS:
            return None
        with self.catalog.reading() as db:
            return calibration.latest(db, fingerprint=self.embedder.fingerprint)

    def snapshot(self) -> Snapshot:
        """Every library record's vectors as they are now."""
        self._refreshed_search()
        assert self._resident is not None
        return self._resident.matrices.snapshot()

    def map_of(self, space: str, method: maps.Method = "pca") -> Map | None:
        """Where the library's records lie; PCA at once, t-SNE as it was kept (None before it ever was).

        What came since a t-SNE was kept lies between its neighbours; the job "map" keeps that too.
        """
        chosen, fingerprint = maps.space_of(space), self.embedder.fingerprint
        snapshot = self.snapshot()
        with self.catalog.reading() as db:
            if method == "tsne":
                known = maps.read(db, chosen, fingerprint=fingerprint)
                return known and maps.placed(known, snapshot)
            axes = maps.read_axes(db, chosen, fingerprint=fingerprint)
        if axes is None:
            axes = maps.directions(snapshot, chosen)
            if self.can_write and len(snapshot) >= maps.LASTING:
                maps.keep(self.catalog, f"pca {chosen}", axes, fingerprint=fingerprint, at=time.time())
        return maps.flat(snapshot, chosen, axes)

    def labels(self, kind: str) -> dict[str, list[str]]:
        """The tags (kind "tag") or categories of the library's records, by address."""
        with self.catalog.reading() as db:
            return listing.labels(db, kind)

    def created(self) -> dict[str, int]:
        """When the library's records were created, by address."""
        with self.catalog.reading() as db:
            return listing.created(db)

    def golden(self, *, collection: str | None = None) -> list[Golden]:
        """Questions with their right answers, oldest first."""
        with self.catalog.reading() as db:
            return golden.listed(db, collection=collection)

    def judged_results(self, line: str) -> dict[str, bool]:
        """What was said of a question's results, good or bad, by address."""
        with self.catalog.reading() as db:
            return golden.judged(db, golden.checked_line(line))

    def disagreements(self) -> list[Fit]:
        """Every library record by how well its captions fit its picture, the worst first."""
        return disagreements(self.snapshot())

    def _passing(self, filter: Filter) -> list[str]:
        """The very same list as long as it holds: asked once, however often a slider moves."""
        generation = self._resident.matrices.snapshot().generation if self._resident else -1
        found = self._passed.get((filter, generation))
        if found is None or filter.suspicious is not None:  # that changes outside operations too
            with self.catalog.reading() as db:
                found = listing.addresses(db, filter)
            self._passed.put((filter, generation), found)
        return found

    def beside(self, address: str, facet: Facet, text: str) -> Beside:
        """Which records this text would sit next to in a facet, and how well it fits the record's picture."""
        return self._refreshed_search().beside(
            facet, text, own=address, picture=self._picture_vector(self.get(address))
        )

    def _picture_vector(self, record: Record) -> Vector | None:
        """As it is stored, else made now and remembered for a while; None where the model cannot see."""
        with self.catalog.reading() as db:
            stored = picture_vector(db, record.address, embedder=self.embedder)
        if stored is not None:
            return stored
        key = f"{self.embedder.fingerprint} {record.image_hash}"
        if (vector := self._pictured.get(key)) is None:
            with contextlib.suppress(ModelUnavailable, OSError):
                source = Source(key, picture=self.picture(record.address))
                vector = np.frombuffer(embed([source], self.embedder)[key][1], "<f4")
                self._pictured.put(key, vector)
        return vector

    def _refreshed_search(self) -> Search:
        embedder = self.embedder
        with self._search_lock, self.catalog.reading() as db:
            db.execute("BEGIN")  # generation and vectors of one moment
            try:
                generation = int(db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])
                if self._resident is None or self._resident.embedder is not embedder:
                    matrices = self._mapped(db, embedder, generation)
                    if matrices is None:
                        rows = _vectors_of(db, "TRUE", ())
                        matrices = load(rows, dimensions=embedder.dimensions, generation=generation)
                    self._resident = _Resident(embedder, matrices, Search(matrices, embedder=embedder))
                since = self._resident.matrices.snapshot().generation
                if generation != since:
                    gone = db.execute(
                        "SELECT address FROM records WHERE generation > ? AND tier <> 'library'", [since]
                    )
                    changes: list[tuple[str, Vectors | None]] = [(row[0], None) for row in gone]
                    changes += _vectors_of(db, "r.generation > ?", (since,))
                    self._resident.matrices.update(changes, generation=generation)
                    self._let_go_of_what_vanished(db, self._resident.matrices)
            finally:
                db.execute("ROLLBACK")
            return self._resident.search

    def _mapped(self, db: sqlite3.Connection, embedder: Embedder, generation: int) -> Matrices | None:
        """From the files that the catalog names as its own, where there are any."""
        named = db.execute("SELECT value FROM meta WHERE key = ?", [matrix_files.NAMED]).fetchone()
        if named is None:
            return None
        matrices = matrix_files.load(self.layout.matrices / named[0], fingerprint=embedder.fingerprint)
        return matrices if matrices and matrices.snapshot().generation <= generation else None

    @staticmethod
    def _let_go_of_what_vanished(db: sqlite3.Connection, matrices: Matrices) -> None:
        """A record whose files were removed by hand leaves no row that could say so."""
        snapshot = matrices.snapshot()
        (count,) = db.execute(f"SELECT count(*) FROM records r WHERE {_HAS_VECTORS}").fetchone()
        if count != len(snapshot):
            rows = db.execute(f"SELECT address FROM records r WHERE {_HAS_VECTORS}")
            gone = set(snapshot.addresses).difference(row[0] for row in rows)
            matrices.update([(address, None) for address in gone], generation=snapshot.generation)

    # -- all is well --------------------------------------------------------------------------------------

    @property
    def secret(self) -> bytes:
        """This library's own, for signing the addresses of pictures."""
        return bytes.fromhex(self.catalog.meta("secret") or "")

    @property
    def generation(self) -> int:
        """Grows with every change; equal numbers mean equal content."""
        return int(self.catalog.meta("generation") or 0)

    def status(self) -> Status:
        with self.catalog.reading() as db:
            behind = int(db.execute("SELECT count(*) FROM chroma_queue").fetchone()[0])
        return Status(
            model=self.model,
            model_status=self._model_status(),
            can_write=self.can_write,
            chroma_behind=behind,
            chroma_fault=self._chroma_fault(),
            stuck=self._stuck(),
            applying=tuple(self._applying()),
            faults=tuple(self._faults()),
            generation=self.generation,
        )

    def _model_status(self) -> str:
        try:
            return self.embedder.status
        except ModelUnavailable as error:
            return f"unavailable: {error}"

    def check_chroma(self) -> list[str]:
        """Nothing: only the process that writes may open Chroma."""
        return []

    def _chroma_fault(self) -> str:
        return ""

    def _stuck(self) -> str:
        return ""

    def _applying(self) -> Iterable[str]:
        with self.catalog.reading() as db:
            rows = db.execute("SELECT operation FROM journal").fetchall()
        return [change["address"] for row in rows for change in json.loads(row[0])["changes"]]

    def _faults(self) -> Iterable[str]:
        return ()

    def close(self) -> None:
        """Let go of the library's files."""
        self.catalog.close()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


Reader.READING = frozenset(dir(Reader))


def _vectors_of(
    db: sqlite3.Connection, where: str, values: Sequence[int]
) -> Iterator[tuple[str, dict[Facet, Vector | bytes | None]]]:
    rows = db.execute(
        "SELECT r.address, e.facet, v.vector FROM records r JOIN embeddings e ON e.record = r.id "
        f"JOIN vectors v ON v.key = e.key WHERE r.tier = 'library' AND {where} ORDER BY r.id",
        values,
    )
    for address, group in groupby(rows, key=lambda row: row["address"]):
        yield address, {row["facet"]: row["vector"] for row in group}
