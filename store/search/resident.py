"""The library's vectors for search, up to date with the last change: in memory, or added up.

    ResidentVectors       the matrices in memory
    LibraryFactsReader    what a search on a server's candidates has to know of all: the count, and the mean
                          vector of each facet, from which the neutral values follow

These sums are read once from the catalog's vectors, one after the other, and kept in a file; 48 bytes a
record say which vectors are in them, so that a change takes out the old ones and adds the new ones.
"""

import contextlib
import io
import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from store.catalog.catalog import REMOVALS, Catalog, current_generation
from store.disk.files import Disk
from store.disk.layout import Layout
from store.embedding.active_model import ActiveModel
from store.embedding.protocol import Embedder, Vector, are_unit
from store.errors import NotInMemory
from store.progress import Progress, batches
from store.records import FACETS, Facet
from store.search.search import Search
from store.search.similarities import Floats
from store.settings import settings
from store.vectors import matrix_files
from store.vectors.matrices import Matrices, Vectors, VectorSnapshot, load

NAME = "facts.npz"
_BATCH = 4_096  # vectors that are added up at once
_WORTH = 1_000  # changed records after which the file is written again
_SHARE = 4  # if more than one of so many records changed, all are read again
_VECTORS = (
    "SELECT r.id, e.facet, e.key, v.vector FROM {source} CROSS JOIN embeddings e ON e.record = r.id "
    "CROSS JOIN vectors v ON v.key = e.key WHERE +r.tier = 'library' ORDER BY r.id"
)

Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class LibraryFacts:
    """The library at one moment; `ids` ascend."""

    fingerprint: str  # of the model
    generation: int
    ids: NDArray[np.int64]  # (N,): the catalog's numbers of the records
    keys: Keys  # (N, 5): the first 64 bits of each vector's key, 0 where the record lacks the facet
    sums: Floats  # (5, d)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def means(self) -> Floats:
        """(5, d): the mean vector of each facet; NaN if no record has it."""
        counts = (self.keys != 0).sum(axis=0)[:, None]
        found = np.full_like(self.sums, np.nan)
        np.divide(self.sums, counts, out=found, where=counts > 0)
        return found

    @property
    def complete(self) -> list[bool]:
        """(5,): whether every record has the facet."""
        return [bool(has) for has in (self.keys != 0).all(axis=0)]

    def without(self, facets: Iterable[int]) -> int:
        """How many records have none of these facets."""
        return int(np.count_nonzero((self.keys[:, list(facets)] == 0).all(axis=1)))


class LibraryFactsReader:
    """Reads the facts at the first request and updates them at each; thread-safe."""

    def __init__(self, catalog: Catalog, layout: Layout, model: ActiveModel, disk: Disk) -> None:
        self._catalog = catalog
        self._path = layout.matrices / NAME
        self._model = model
        self._disk = disk
        self._lock = threading.Lock()
        self._held: LibraryFacts | None = None
        self._saved = -1  # the number of changes since the file was written; below 0: there is none
        self.reading = Progress()

    def facts(self) -> LibraryFacts:
        """The facts as they are now. Raises ModelUnavailable if the library's model cannot be used."""
        embedder = self._model.embedder
        with self._lock:
            with self._catalog.one_moment() as db:
                held = self._held or self._load()
                if held is None or held.fingerprint != embedder.fingerprint:
                    held = None
                made = self._current(db, held, embedder.fingerprint, embedder.dimensions)
            if self._held is not made and (self._saved < 0 or self._saved > _WORTH):
                self._save(made)
            self._held = made
        return made

    def _current(
        self, db: sqlite3.Connection, held: LibraryFacts | None, fingerprint: str, dimensions: int
    ) -> LibraryFacts:
        generation = current_generation(db)
        if held is not None and held.generation == generation:
            return held
        if held is not None and held.generation < generation:
            updated = self._updated(db, held, generation)
            if updated is not None:
                return updated
        progress = self.reading = Progress(with_vectors(db), what="reading vectors")
        rows = db.execute(_VECTORS.format(source="records r"))
        ids, keys, sums = _added_up(rows, dimensions, progress=progress)
        self._saved = -1
        return LibraryFacts(fingerprint, generation, ids, keys, sums)

    def _updated(self, db: sqlite3.Connection, held: LibraryFacts, generation: int) -> LibraryFacts | None:
        """With what changed since; None if everything has to be read again."""
        changed = [
            row[0] for row in db.execute("SELECT id FROM records WHERE generation > ?", [held.generation])
        ]
        if len(changed) > max(_WORTH, len(held) // _SHARE):
            return None
        asked = json.dumps(changed)
        source = "json_each(?) j CROSS JOIN records r ON r.id = j.value"
        ids, keys, sums = _added_up(
            db.execute(_VECTORS.format(source=source), [asked]), held.sums.shape[1], progress=Progress()
        )
        old = np.isin(held.ids, np.array(changed, np.int64))
        if np.array_equal(held.keys[old], keys) and np.array_equal(held.ids[old], ids):
            return replace(held, generation=generation)
        gone = np.zeros_like(held.sums)
        for number, key in _keys_of(held.keys[old]):
            vector = _vector(db, key)
            if vector is None or len(vector) != held.sums.shape[1]:
                return None
            gone[number] += vector
        ids, keys = np.concatenate([held.ids[~old], ids]), np.concatenate([held.keys[~old], keys])
        if with_vectors(db) != len(ids):  # records whose files were deleted by hand leave no row that says so
            return None
        order = np.argsort(ids)
        self._saved += len(changed)
        return LibraryFacts(held.fingerprint, generation, ids[order], keys[order], held.sums - gone + sums)

    def _load(self) -> LibraryFacts | None:
        try:
            with np.load(self._path, allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                found = LibraryFacts(
                    about["fingerprint"], about["generation"], file["ids"], file["keys"], file["sums"]
                )
        except Exception:  # noqa: BLE001  a damaged file makes NumPy raise errors of any class
            return None
        self._saved = 0
        return found

    def _save(self, facts: LibraryFacts) -> None:
        about = json.dumps({"fingerprint": facts.fingerprint, "generation": facts.generation})
        file = io.BytesIO()
        np.savez(file, about=np.array(about), ids=facts.ids, keys=facts.keys, sums=facts.sums)
        with contextlib.suppress(OSError):  # a full or read-only disk: it is read again the next time
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._disk.replace(self._path, file.getvalue())
            self._saved = 0


def with_vectors(db: sqlite3.Connection) -> int:
    """How many records of the library have vectors."""
    where = "r.tier = 'library' AND EXISTS (SELECT 1 FROM embeddings e WHERE e.record = r.id)"
    return int(db.execute(f"SELECT count(*) FROM records r WHERE {where}").fetchone()[0])


def _added_up(
    rows: Iterable[sqlite3.Row], dimensions: int, *, progress: Progress
) -> tuple[NDArray[np.int64], Keys, Floats]:
    """Ids and keys of the records, and the sums of their usable vectors."""
    ids: list[int] = []
    keys: list[list[int]] = []
    sums = np.zeros((len(FACETS), dimensions))
    for batch in batches(rows, _BATCH):
        usable = [row for row in batch if len(row["vector"]) == 4 * dimensions]
        matrix = np.frombuffer(b"".join(row["vector"] for row in usable), "<f4").reshape(-1, dimensions)
        good = are_unit(matrix)
        numbers = np.array([FACETS.index(row["facet"]) for row in usable], np.intp)
        for number in range(len(FACETS)):
            sums[number] += matrix[good & (numbers == number)].sum(axis=0, dtype=np.float64)
        fine = {(row["id"], row["facet"]) for row, is_good in zip(usable, good, strict=True) if is_good}
        for row in batch:
            if not ids or ids[-1] != row["id"]:
                ids.append(row["id"])
                keys.append([0] * len(FACETS))
            if (row["id"], row["facet"]) in fine:
                keys[-1][FACETS.index(row["facet"])] = int(row["key"][:16], 16)
        progress.done = len(ids)
    return np.array(ids, np.int64), np.array(keys, np.uint64).reshape(-1, len(FACETS)), sums


def _keys_of(keys: Keys) -> Iterator[tuple[int, int]]:
    """The number of the facet and the key of each vector."""
    for row, number in np.argwhere(keys != 0).tolist():
        yield number, int(keys[row, number])


def _vector(db: sqlite3.Connection, key: int) -> NDArray[np.float32] | None:
    """The vector whose key starts with these 64 bits; None if it was deleted."""
    start = f"{key:016x}"
    row = db.execute("SELECT vector FROM vectors WHERE key >= ? AND key < ?", [start, f"{start}g"]).fetchone()
    return None if row is None else np.frombuffer(row["vector"], "<f4")


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
        """A search over every library record as it is now. Raises ModelUnavailable or NotInMemory."""
        return self._refreshed().search

    def snapshot(self) -> VectorSnapshot:
        """The vectors of every library record as they are now. Raises ModelUnavailable or NotInMemory."""
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
