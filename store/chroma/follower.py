"""Chroma follows the catalog from a queue, in a thread of its own; failing, it is only behind."""

import contextlib
import logging
import sqlite3
from collections.abc import Callable

from store.catalog import Catalog
from store.chroma.collections import INDEX, NO_FILES, Collections, Row, flush, remove_files, stamp
from store.chroma.following import ChromaFollower
from store.chroma.probe import probe
from store.chroma.process import ChromaProcess
from store.layout import Layout
from store.listing import get
from store.records import Facet, chroma_metadata

log = logging.getLogger(__name__)

_BATCH = 1_000  # records; well below Chroma's get_max_batch_size of 5,461


class Follower(ChromaFollower):
    """Applies the queue to all five collections; an entry goes when all five have it."""

    def __init__(self, catalog: Catalog, layout: Layout, *, model: Callable[[], str]) -> None:
        super().__init__(thread="memedex-chroma")
        self._catalog = catalog
        self._layout = layout
        self._model = model
        self._collections: ChromaProcess | None = None

    def wake_if_needed(self) -> None:
        """Chroma is opened only when it has something to get, or is not as it was left."""
        if self.behind or self._catalog.meta("chroma_rebuild") or (self._thread is None and self._is_dirty):
            self.wake()

    @property
    def behind(self) -> int:
        """How many records Chroma has not got yet."""
        with self._catalog.reading() as db:
            return int(db.execute("SELECT count(*) FROM chroma_queue").fetchone()[0])

    def check(self) -> list[str]:
        """What Chroma says otherwise than the catalog; its files are let go of meanwhile."""
        with self._using:
            was_dirty = self._is_dirty and self._collections is None
            self._let_go_cleanly()
            faults = self._faults()
            if not (was_dirty or self.fault):
                self._note_clean()  # asking touches the files
            return faults

    def rebuild(self) -> None:
        """Make Chroma anew from the catalog's vectors; no model is needed."""
        self._catalog.set_meta("chroma_rebuild", "1")
        self.wake()

    def _follow(self) -> None:
        if self._collections is None:
            if self._is_dirty and (faults := self._faults()):
                log.warning("Chroma is rebuilt: %s", "; ".join(faults))
                self._catalog.set_meta("chroma_rebuild", "1")
            self._collections = self._chroma()
        if self._catalog.meta("chroma_rebuild"):
            self._start_anew()
        try:
            self._drain()
        except Exception:
            if self._catalog.meta("chroma_rebuild"):
                raise
            log.exception("Chroma failed and is rebuilt")
            self._start_anew()
            self._drain()
        self._catalog.set_meta("chroma_rebuild", "")

    def _chroma(self) -> ChromaProcess:
        return ChromaProcess(Collections, self._layout.chroma, model=self._model(), index=INDEX)

    def _start_anew(self) -> None:
        self._catalog.set_meta("chroma_rebuild", "1")  # stays until the rebuild is complete
        self._let_go()
        remove_files(self._layout.chroma)
        with self._catalog.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO chroma_queue "
                "SELECT address, generation FROM records WHERE tier = 'library'"
            )
        self._collections = self._chroma()

    def _faults(self) -> list[str]:
        if self._has_files:
            return probe(self._layout.root)
        with self._catalog.reading() as db:
            expected = db.execute(
                "SELECT 1 FROM records WHERE tier = 'library' "
                "AND address NOT IN (SELECT address FROM chroma_queue)"
            ).fetchone()
        return ["Chroma's files are gone"] if expected else []

    @property
    def _has_files(self) -> bool:
        return (self._layout.chroma / "chroma.sqlite3").exists()

    @property
    def _is_dirty(self) -> bool:
        """Whether Chroma ended uncleanly, or somebody else touched, damaged or replaced its files since."""
        left = self._catalog.meta("chroma_files") or NO_FILES
        return bool(self._catalog.meta("chroma_dirty")) or left != stamp(self._layout.chroma)

    def _let_go(self) -> None:
        collections, self._collections = self._collections, None
        if collections is not None:
            try:
                collections.close()
            except BaseException:  # a broken Chroma must not end the thread that rebuilds it
                log.exception("Chroma could not be closed")

    def _let_go_cleanly(self) -> None:
        if self._collections is not None:
            self._let_go()
            if not self.fault:
                self._note_clean()

    def _note_clean(self) -> None:
        """Take the dirty marker away; a later unclean end, or a change from outside, will show."""
        with contextlib.suppress(OSError, sqlite3.Error):  # on a full disk it stays, and costs a look
            flush(self._layout.chroma)
            with self._catalog.writing() as db:
                db.executemany(
                    "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                    [("chroma_dirty", ""), ("chroma_files", stamp(self._layout.chroma))],
                )

    def _drain(self) -> None:
        while not self._closing:
            with self._catalog.reading() as db:
                queue = db.execute("SELECT * FROM chroma_queue ORDER BY rowid LIMIT ?", [_BATCH]).fetchall()
                rows = [row for entry in queue if (row := _row(db, entry["address"]))]
            if not queue:
                return
            if not self._catalog.meta("chroma_dirty"):
                self._catalog.set_meta("chroma_dirty", "1")
            assert self._collections is not None
            present = {row.address for row in rows}
            gone = [entry["address"] for entry in queue if entry["address"] not in present]
            self._collections.put(rows, gone=gone)
            with self._catalog.writing() as db:
                db.executemany(
                    "DELETE FROM chroma_queue WHERE address = ? AND generation = ?",
                    [(entry["address"], entry["generation"]) for entry in queue],
                )


def _row(db: sqlite3.Connection, address: str) -> Row | None:
    """What Chroma is to say of this record; None when it is not in the library."""
    record = get(db, address)
    if record is None or record.tier != "library":
        return None
    vectors: dict[Facet, bytes] = dict(
        db.execute(
            "SELECT e.facet, v.vector FROM embeddings e JOIN vectors v ON v.key = e.key "
            "JOIN records r ON r.id = e.record WHERE r.address = ?",
            [address],
        ).fetchall()
    )
    return Row(address, chroma_metadata(record), vectors) if vectors else None
