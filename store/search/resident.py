"""The library's vectors in memory for search, up to date with the last change."""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from store.catalog.catalog import REMOVALS, Catalog, current_generation
from store.disk.layout import Layout
from store.embedding.active_model import ActiveModel
from store.embedding.protocol import Embedder, Vector
from store.errors import NotInMemory
from store.progress import Progress
from store.records import Facet
from store.search.library_facts import with_vectors
from store.search.search import Search
from store.settings import settings
from store.vectors import matrix_files
from store.vectors.matrices import Matrices, Vectors, VectorSnapshot, load

_Row = tuple[str, dict[Facet, Vector | bytes | None]]


@dataclass(frozen=True, slots=True)
class _SearchInMemory:
    embedder: Embedder
    matrices: Matrices
    search: Search


class ResidentVectors:
    """Reads the vectors at the first request and updates them at each; thread-safe."""

    def __init__(self, catalog: Catalog, layout: Layout, model: ActiveModel) -> None:
        self._catalog = catalog
        self._layout = layout
        self._model = model
        self._lock = threading.Lock()
        self._held: _SearchInMemory | None = None
        self._removals = ""  # that `_held` knows
        self._counted = (-1, 0)  # the generation of the catalog, and how many library records it had then
        self.reading = Progress()  # the vectors, at the first query
        self.on_refresh: Callable[[VectorSnapshot, str], None] | None = (
            None  # told with the model's fingerprint
        )

    def prepare(self) -> None:
        """Read the vectors now, so that the first search does not wait. Raises as `search`."""
        snapshot = self._refreshed().matrices.snapshot()
        self.reading = Progress(len(snapshot), what="reading vectors")
        snapshot.read(progress=self.reading)

    def search(self) -> Search:
        """A search over every library record as it is now.

        Raises ModelUnavailable if the library's model cannot be used, NotInMemory if a server is searched.
        """
        return self._refreshed().search

    def snapshot(self) -> VectorSnapshot:
        """The vectors of every library record as they are now.

        Raises ModelUnavailable if the library's model cannot be used, NotInMemory if a server is searched.
        """
        return self._refreshed().matrices.snapshot()

    def missing(self) -> int | None:
        """How many library records have no vectors; None unless the vectors are in memory."""
        with self._lock:
            if self._held is None or self._held.embedder.name != self._model.name:
                return None
            with self._catalog.one_moment() as db:
                snapshot = self._brought_up_to_date(db, self._held.embedder).matrices.snapshot()
                if self._counted[0] != snapshot.generation:  # a million entries of an index
                    (library,) = db.execute("SELECT count(*) FROM records WHERE tier = 'library'").fetchone()
                    self._counted = (snapshot.generation, int(library))
        return self._counted[1] - len(snapshot)

    def release(self) -> None:
        """Read the vectors again at the next request, from files that were written meanwhile."""
        with self._lock:
            self._held = None

    def close(self) -> None:
        """Nothing: memory and mapped files end with the process."""

    def _refreshed(self) -> _SearchInMemory:
        if settings().search == "server":
            raise NotInMemory(
                "this compares all vectors in memory, which MEMEDEX_SEARCH=server avoids; "
                "it works with MEMEDEX_SEARCH=memory"
            )
        embedder = self._model.embedder
        with self._lock, self._catalog.one_moment() as db:
            held = self._brought_up_to_date(db, embedder)
        if self.on_refresh:
            self.on_refresh(held.matrices.snapshot(), embedder.fingerprint)
        return held

    def _brought_up_to_date(self, db: sqlite3.Connection, embedder: Embedder) -> _SearchInMemory:
        generation = current_generation(db)
        if self._held is None or self._held.embedder is not embedder:
            matrices = self._mapped(db, embedder, generation)
            if matrices is None:
                progress = self.reading = Progress(with_vectors(db), what="reading vectors")
                rows = _counted(_vectors_of(db, "TRUE", ()), progress)
                matrices = load(rows, dimensions=embedder.dimensions, generation=generation)
            else:
                _keep_only_what_is_there(db, matrices)
            self._held = _SearchInMemory(embedder, matrices, Search(matrices, embedder=embedder))
            self._removals = _removals(db)
        held = self._held
        since = held.matrices.snapshot().generation
        if generation != since:
            gone = db.execute(
                "SELECT address FROM records WHERE generation > ? AND tier <> 'library'", [since]
            )
            changes: list[tuple[str, Vectors | None]] = [(row[0], None) for row in gone]
            changes += _vectors_of(db, "r.id IN (SELECT id FROM records WHERE generation > ?)", (since,))
            held.matrices.update(changes, generation=generation)
            if (removals := _removals(db)) != self._removals:
                _keep_only_what_is_there(db, held.matrices)
                self._removals = removals
        return held

    def _mapped(self, db: sqlite3.Connection, embedder: Embedder, generation: int) -> Matrices | None:
        """The matrices from the files that the catalog names, if there are any."""
        named = db.execute("SELECT value FROM meta WHERE key = ?", [matrix_files.NAMED]).fetchone()
        if named is None:
            return None
        matrices = matrix_files.load(self._layout.matrices / named[0], fingerprint=embedder.fingerprint)
        return matrices if matrices and matrices.snapshot().generation <= generation else None


def _keep_only_what_is_there(db: sqlite3.Connection, matrices: Matrices) -> None:
    """Remove records that are in the files and not in the library, whether or not a row says so."""
    snapshot = matrices.snapshot()
    # As one text: a million rows take ten times as long.
    query = "SELECT group_concat(address, char(10)) FROM records WHERE tier = 'library'"
    (library,) = db.execute(query).fetchone()
    gone = set(snapshot.addresses).difference((library or "").split("\n"))
    if gone:
        matrices.update([(address, None) for address in gone], generation=snapshot.generation)


def _removals(db: sqlite3.Connection) -> str:
    """How often records were removed, which leaves no row that says so."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", [REMOVALS]).fetchone()
    return str(row[0]) if row else ""


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
