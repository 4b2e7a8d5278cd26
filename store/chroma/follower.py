"""Chroma follows the catalog from a queue, in a thread of its own; on failure it only lags behind."""

import contextlib
import sqlite3
from collections.abc import Callable, Mapping

from store.catalog import history
from store.catalog.catalog import Catalog
from store.catalog.rows import get
from store.chroma.base_follower import BATCH, ChromaFollower
from store.chroma.collections import COLLECTIONS, NO_FILES, Point, made_with
from store.chroma.comparison import probe
from store.chroma.place import ChromaFolder, ServerPlace
from store.chroma.process import ChromaProcess
from store.chroma.server import ChromaServer
from store.disk.aside import Aside
from store.disk.files import Disk
from store.disk.layout import Layout
from store.records import Facet, Record, chroma_metadata

_REBUILD = "chroma_rebuild"  # in `meta`: "1" when asked for, _BEGUN until the place is emptied
_BEGUN = "begun"
_FILES = "chroma_files"  # in `meta`: the stamp of the place that was followed last


class LibraryFollower(ChromaFollower):
    """Applies the queue to all five collections; an entry is deleted when all five have it."""

    def __init__(
        self, catalog: Catalog, layout: Layout, *, model: Callable[[], str], disk: Disk | None = None
    ) -> None:
        server = ChromaServer.configured()
        super().__init__(
            does="updating the search index",
            noun="records",
            server=ServerPlace(server) if server else None,
            files=ChromaFolder(
                layout.chroma,
                into=layout.chroma,
                owners=lambda: dict.fromkeys(COLLECTIONS.values(), catalog.owner),
                note=self._note_aside,
                disk=disk or Disk(),
            ),
        )
        self._catalog = catalog
        self._layout = layout
        self._model = model

    @property
    def behind(self) -> int:
        """How many records Chroma does not have yet."""
        return int(self._catalog.row("SELECT count(*) FROM chroma_queue")[0])

    def rebuild(self) -> None:
        """Rebuild Chroma from the catalog's vectors; needs no model."""
        self._catalog.set_meta(_REBUILD, "1")
        self.retry()

    @property
    def _must_rebuild(self) -> bool:
        return bool(self._catalog.meta(_REBUILD)) or self._is_elsewhere

    @property
    def _is_elsewhere(self) -> bool:
        """Whether another place was followed last: this one may have old vectors, which a sample misses."""
        left = self._catalog.meta(_FILES)
        return self._place.name != (left if " " in left else "")  # a folder's is a hash

    @property
    def _is_dirty(self) -> bool:
        left = self._catalog.meta(_FILES) or NO_FILES
        return bool(self._catalog.meta("chroma_dirty")) or left != self._place.stamp

    @property
    def _is_lost(self) -> bool:
        expected = self._catalog.row(
            "SELECT 1 FROM records WHERE tier = 'library' "
            "AND address NOT IN (SELECT address FROM chroma_queue)"
        )
        return expected is not None

    def _probe(self) -> list[str]:
        return probe(self._layout.root, begun=self._began)

    def _metadata(self) -> Mapping[str, Mapping[str, str]]:
        return dict.fromkeys(COLLECTIONS.values(), made_with(self._model(), self._catalog.owner))

    def _queue_everything(self) -> None:
        with self._catalog.writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_REBUILD, _BEGUN])
            db.execute(
                "INSERT OR REPLACE INTO chroma_queue "
                "SELECT address, generation FROM records WHERE tier = 'library'"
            )

    def _record_begun(self) -> None:
        with self._catalog.writing() as db:  # one that was asked for meanwhile is still to come
            db.execute("UPDATE meta SET value = '' WHERE key = ? AND value = ?", [_REBUILD, _BEGUN])
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_FILES, self._place.stamp])

    def _drain(self, chroma: ChromaProcess) -> None:
        while not self._closing:
            with self._catalog.reading() as db:
                queue = db.execute("SELECT * FROM chroma_queue ORDER BY rowid LIMIT ?", [BATCH]).fetchall()
                rows = [row for entry in queue if (row := _row(db, entry["address"]))]
            if not queue:
                return
            self._mark_dirty()
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

    def _mark_dirty(self) -> None:
        if not self._catalog.meta("chroma_dirty"):
            self._catalog.set_meta("chroma_dirty", "1")

    def _mark_clean(self) -> None:
        with contextlib.suppress(OSError, sqlite3.Error):  # on a full disk it stays, and costs a look
            self._place.flush()
            with self._catalog.writing() as db:
                db.executemany(
                    "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                    [("chroma_dirty", ""), (_FILES, self._place.stamp)],
                )

    def _note_aside(self, aside: Aside) -> None:
        with self._catalog.writing() as db:
            history.record_aside(db, aside, root=self._layout.root)


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
