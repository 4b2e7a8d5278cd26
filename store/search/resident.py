"""What a search needs in memory: the library's vectors as of the last change."""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from store import listing
from store.catalog import Catalog
from store.chosen_model import ChosenModel
from store.embedding import Embedder
from store.filter import Filter
from store.layout import Layout
from store.progress import Progress
from store.records import Facet
from store.search import matrix_files
from store.search.blocks import Snapshot, Vector
from store.search.recent import Recent
from store.search.search import Search
from store.search.vectors import Matrices, Vectors, load

_Row = tuple[str, dict[Facet, Vector | bytes | None]]

_KEPT_FILTERS = 8
_HAS_VECTORS = "r.tier = 'library' AND EXISTS (SELECT 1 FROM embeddings e WHERE e.record = r.id)"


@dataclass(frozen=True, slots=True)
class _Held:
    embedder: Embedder
    matrices: Matrices
    search: Search


class Resident:
    """Read when somebody first asks, and brought up to date each time; many threads may ask."""

    def __init__(self, catalog: Catalog, layout: Layout, model: ChosenModel) -> None:
        self._catalog = catalog
        self._layout = layout
        self._model = model
        self._lock = threading.Lock()
        self._held: _Held | None = None
        self.reading = Progress()  # the vectors that lie in no file, when somebody first asks
        self._passed: Recent[tuple[Filter, int], list[str]] = Recent(_KEPT_FILTERS)
        self.on_refresh: Callable[[Snapshot, str], None] | None = None  # told with the model's fingerprint

    def search(self) -> Search:
        """Over every library record as it is now; ModelUnavailable."""
        return self._refreshed().search

    def snapshot(self) -> Snapshot:
        """Every library record's vectors as they are now; ModelUnavailable."""
        return self._refreshed().matrices.snapshot()

    def passing(self, filter: Filter) -> list[str]:
        """The very same list as long as it holds: asked once, however often a slider moves."""
        generation = self._held.matrices.snapshot().generation if self._held else -1
        found = self._passed.get((filter, generation))
        if found is None or filter.suspicious is not None:  # that changes outside operations too
            with self._catalog.reading() as db:
                found = listing.addresses(db, filter)
            self._passed.put((filter, generation), found)
        return found

    def let_go(self) -> None:
        """Read anew when somebody asks next, from files that were made meanwhile."""
        with self._lock:
            self._held = None

    def _refreshed(self) -> _Held:
        embedder = self._model.embedder
        with self._lock, self._catalog.reading() as db:
            db.execute("BEGIN")  # generation and vectors of one moment
            try:
                held = self._brought_up_to_date(db, embedder)
            finally:
                db.execute("ROLLBACK")
        if self.on_refresh:
            self.on_refresh(held.matrices.snapshot(), embedder.fingerprint)
        return held

    def _brought_up_to_date(self, db: sqlite3.Connection, embedder: Embedder) -> _Held:
        generation = int(db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])
        if self._held is None or self._held.embedder is not embedder:
            matrices = self._mapped(db, embedder, generation)
            if matrices is None:
                (total,) = db.execute(f"SELECT count(*) FROM records r WHERE {_HAS_VECTORS}").fetchone()
                progress = self.reading = Progress(total, what="reading vectors")
                rows = _counted(_vectors_of(db, "TRUE", ()), progress)
                matrices = load(rows, dimensions=embedder.dimensions, generation=generation)
            self._held = _Held(embedder, matrices, Search(matrices, embedder=embedder))
        held = self._held
        since = held.matrices.snapshot().generation
        if generation != since:
            gone = db.execute(
                "SELECT address FROM records WHERE generation > ? AND tier <> 'library'", [since]
            )
            changes: list[tuple[str, Vectors | None]] = [(row[0], None) for row in gone]
            changes += _vectors_of(db, "r.generation > ?", (since,))
            held.matrices.update(changes, generation=generation)
            _let_go_of_what_vanished(db, held.matrices)
        return held

    def _mapped(self, db: sqlite3.Connection, embedder: Embedder, generation: int) -> Matrices | None:
        """From the files that the catalog names as its own, where there are any."""
        named = db.execute("SELECT value FROM meta WHERE key = ?", [matrix_files.NAMED]).fetchone()
        if named is None:
            return None
        matrices = matrix_files.load(self._layout.matrices / named[0], fingerprint=embedder.fingerprint)
        return matrices if matrices and matrices.snapshot().generation <= generation else None


def _let_go_of_what_vanished(db: sqlite3.Connection, matrices: Matrices) -> None:
    """A record whose files were removed by hand leaves no row that could say so."""
    snapshot = matrices.snapshot()
    (count,) = db.execute(f"SELECT count(*) FROM records r WHERE {_HAS_VECTORS}").fetchone()
    if count != len(snapshot):
        rows = db.execute(f"SELECT address FROM records r WHERE {_HAS_VECTORS}")
        gone = set(snapshot.addresses).difference(row[0] for row in rows)
        matrices.update([(address, None) for address in gone], generation=snapshot.generation)


def _counted(rows: Iterator[_Row], progress: Progress) -> Iterator[_Row]:
    for row in rows:
        yield row
        progress.done += 1


def _vectors_of(db: sqlite3.Connection, where: str, values: Sequence[int]) -> Iterator[_Row]:
    rows = db.execute(
        "SELECT r.address, e.facet, v.vector FROM records r JOIN embeddings e ON e.record = r.id "
        f"JOIN vectors v ON v.key = e.key WHERE r.tier = 'library' AND {where} ORDER BY r.id",
        values,
    )
    for address, group in groupby(rows, key=lambda row: row["address"]):
        yield address, {row["facet"]: row["vector"] for row in group}
