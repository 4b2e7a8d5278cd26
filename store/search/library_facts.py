"""What a search on candidates has to know of the whole library: how many records there are, and the mean
vector of each facet, from which the neutral values follow.

They are read once from the catalog's vectors, one after the other, and kept in a file; 48 bytes a record say
which vectors are in the sums, so that a change takes out the old ones and adds the new ones.
"""

import contextlib
import io
import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from store.catalog.catalog import Catalog, current_generation
from store.disk.files import Disk
from store.disk.layout import Layout
from store.embedding.active_model import ActiveModel
from store.embedding.protocol import are_unit
from store.progress import Progress, batches
from store.records import FACETS
from store.search.similarities import Floats

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
