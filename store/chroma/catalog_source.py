"""The records of a catalog, as Chroma follows them."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from store.catalog import history
from store.catalog.catalog import Catalog
from store.catalog.rows import get
from store.chroma.collections import COLLECTIONS, Point, made_with
from store.chroma.comparison import Expected, compare
from store.chroma.follower import BATCH, ChromaFollower
from store.chroma.place import collections_at
from store.chroma.process import ChromaProcess
from store.disk.aside import Aside
from store.disk.files import Disk
from store.disk.layout import Layout
from store.records import Facet, Record, chroma_metadata


class CatalogSource:
    """The queue of records for all five collections; an entry is deleted when all five have it."""

    does, noun = "updating the search index", "records"

    def __init__(self, catalog: Catalog, root: Path, *, model: Callable[[], str]) -> None:
        self._catalog = catalog
        self._root = root
        self._model = model

    @property
    def behind(self) -> int:
        """How many records Chroma does not have yet."""
        return int(self._catalog.row("SELECT count(*) FROM chroma_queue")[0])

    @property
    def has_any(self) -> bool:
        """Whether Chroma should have a record by now."""
        expected = self._catalog.row(
            "SELECT 1 FROM records WHERE tier = 'library' "
            "AND address NOT IN (SELECT address FROM chroma_queue)"
        )
        return expected is not None

    @property
    def comparison(self) -> Callable[[], list[str]]:
        """`faults` of this catalog."""
        return partial(faults, self._root)

    def owners(self) -> Mapping[str, str]:
        """The catalog's token, which all collections have."""
        return dict.fromkeys(COLLECTIONS.values(), self._catalog.owner)

    def metadata(self) -> Mapping[str, Mapping[str, str]]:
        """The metadata of the five collections."""
        return dict.fromkeys(COLLECTIONS.values(), made_with(self._model(), self._catalog.owner))

    def queue_everything(self, db: sqlite3.Connection) -> None:
        """Put the whole library into the queue."""
        db.execute(
            "INSERT OR REPLACE INTO chroma_queue "
            "SELECT address, generation FROM records WHERE tier = 'library'"
        )

    def drain(self, chroma: ChromaProcess, *, is_ending: Callable[[], bool]) -> None:
        """Bring what is in the queue."""
        while not is_ending():
            with self._catalog.reading() as db:
                queue = db.execute("SELECT * FROM chroma_queue ORDER BY rowid LIMIT ?", [BATCH]).fetchall()
                rows = [row for entry in queue if (row := _row(db, entry["address"]))]
            if not queue:
                return
            for facet, name in COLLECTIONS.items():
                points = [
                    Point(record.address, vectors[facet], chroma_metadata(record))
                    for record, vectors in rows
                    if facet in vectors
                ]
                present = {point.id for point in points}
                gone = [entry["address"] for entry in queue if entry["address"] not in present]
                chroma.put(name, points, gone=gone)
            with self._catalog.writing() as db:
                db.executemany(
                    "DELETE FROM chroma_queue WHERE address = ? AND generation = ?",
                    [(entry["address"], entry["generation"]) for entry in queue],
                )


def follower(
    catalog: Catalog, layout: Layout, *, model: Callable[[], str], disk: Disk | None = None
) -> ChromaFollower:
    """Chroma follows this catalog."""

    def note(aside: Aside) -> None:
        with catalog.writing() as db:
            history.record_aside(db, aside, root=layout.root)

    source = CatalogSource(catalog, layout.root, model=model)
    return ChromaFollower(source, catalog, layout.chroma, into=layout.chroma, note=note, disk=disk)


def _row(db: sqlite3.Connection, address: str) -> tuple[Record, Mapping[Facet, bytes]] | None:
    """A record and its vectors for Chroma; None if it is not in the library."""
    record = get(db, address)
    if record is None or record.tier != "library":
        return None
    vectors = db.execute(
        "SELECT e.facet, v.vector FROM embeddings e JOIN vectors v ON v.key = e.key "
        "JOIN records r ON r.id = e.record WHERE r.address = ?",
        [address],
    ).fetchall()
    return record, dict(vectors)


def faults(root: Path) -> list[str]:
    """Differences between the catalog and Chroma's five collections below this root, one sentence each."""
    layout = Layout(root)
    catalog = Catalog(layout.catalog, disk=Disk(), writable=False)
    model = catalog.meta("model")
    metadata = dict.fromkeys(COLLECTIONS.values(), made_with(model, catalog.owner))
    with closing(collections_at(layout.chroma, metadata)) as found, catalog.reading() as db:
        return [fault for facet in COLLECTIONS for fault in compare(found, _expected(db, facet, model=model))]


def _expected(db: sqlite3.Connection, facet: Facet, *, model: str) -> Expected:
    keys = dict(
        db.execute(
            "SELECT r.address, e.key FROM embeddings e JOIN records r ON r.id = e.record "
            "WHERE e.facet = ? AND r.tier = 'library'",
            [facet],
        ).fetchall()
    )
    waiting = {row[0] for row in db.execute("SELECT address FROM chroma_queue")}

    def point(address: str) -> Point | None:
        row = db.execute("SELECT vector FROM vectors WHERE key = ?", [keys[address]]).fetchone()
        record = get(db, address)
        return Point(address, row[0] if row else b"", chroma_metadata(record)) if record else None

    return Expected(COLLECTIONS[facet], model, "records", keys.keys(), waiting, point)
