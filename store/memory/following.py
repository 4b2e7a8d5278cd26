"""Chroma follows all kinds in a thread of its own; failing, it is only behind."""

import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from store.chroma.following import ChromaFollower
from store.chroma.process import ChromaProcess
from store.errors import MemedexError
from store.files import Disk
from store.memory.chroma import Chroma, Point, metadata_of, remove_files
from store.memory.passages import Passages
from store.memory.places import Places

log = logging.getLogger(__name__)

_BATCH = 1_000  # entries; well below Chroma's get_max_batch_size of 5,461
_TIME_LIMIT = 300.0  # seconds for a check in a process of its own; a damaged index has been seen to hang


class Follower(ChromaFollower):
    """Brings each collection up to the last line of its kind's `changes`."""

    def __init__(self, places: Places, kinds: Sequence[Passages]) -> None:
        super().__init__(thread="memedex-memory-chroma")
        self._places = places
        self._kinds = kinds
        self._chroma: ChromaProcess | None = None
        self._is_trusted = False  # by this process: checked, or made by it

    def wake_if_needed(self) -> None:
        """Chroma is opened only when it has something to get, or was not closed cleanly."""
        if self.behind or self._marker.exists() or self._is_lost():
            self.wake()

    @property
    def behind(self) -> int:
        """How many entries Chroma has not got yet."""
        return sum(_behind(kind) for kind in self._kinds)

    def check(self) -> list[str]:
        """What Chroma says otherwise than SQLite; its files are let go of meanwhile."""
        with self._using:
            self._let_go()
            return _check(self._places.root) if (self._places.chroma / "chroma.sqlite3").exists() else []

    def rebuild(self, kinds: Sequence[Passages] = ()) -> None:
        """Make collections anew from SQLite's vectors; no model is needed."""
        for kind in kinds or self._kinds:
            kind.database.set_meta("chroma_rebuild", "1")
        self.wake()

    def purge(self) -> None:
        """Leave nothing of what was removed in Chroma's files: all are removed, and made anew from SQLite."""
        with self._using:
            self._mark()
            self._start_anew()
        self.wake()

    @property
    def _marker(self) -> Path:
        """There from before Chroma's first write until a clean end."""
        return self._places.folder / "chroma.dirty"

    def _mark(self) -> None:
        if not self._marker.exists():
            disk = Disk()
            disk.write(self._marker, b"")
            disk.fsync_folders([self._marker.parent])

    def _is_lost(self) -> bool:
        return not (self._places.chroma / "chroma.sqlite3").exists() and any(
            kind.database.meta("chroma_cursor") not in ("", "0") for kind in self._kinds
        )

    def _follow(self) -> None:
        if not self._is_trusted and self._marker.exists() and (faults := _check(self._places.root)):
            log.warning("Chroma is rebuilt: %s", "; ".join(faults))
            self._start_anew()
        elif self._is_lost():
            self._start_anew()
        self._is_trusted = True
        try:
            self._drain_all()
        except MemedexError:  # SQLite's fault, not Chroma's
            raise
        except Exception:
            log.exception("Chroma failed and is rebuilt")
            self._start_anew()
            self._drain_all()

    def _start_anew(self) -> None:
        self._is_trusted = True
        for kind in self._kinds:
            kind.database.set_meta("chroma_rebuild", "1")
        self._let_go()
        remove_files(self._places.chroma)

    def _give_up(self) -> None:
        self._is_trusted = False
        self._let_go()

    def _let_go(self) -> None:
        if self._chroma is not None:
            self._chroma.close()
            self._chroma = None

    def _let_go_cleanly(self) -> None:
        self._let_go()
        if not self.fault:
            self._marker.unlink(missing_ok=True)

    def _drain_all(self) -> None:
        for kind in self._kinds:
            if _behind(kind):
                self._mark()
                self._chroma = self._chroma or ChromaProcess(Chroma, self._places.chroma)
                if kind.database.meta("chroma_rebuild"):
                    self._refill(kind, self._chroma)
                self._drain(kind, self._chroma)

    def _drain(self, kind: Passages, chroma: ChromaProcess) -> None:
        table = kind.kind.table
        while not self._closing and not kind.database.meta("chroma_rebuild"):
            with kind.database.reading() as db:
                rows = db.execute(
                    f"SELECT c.number AS change_, c.id AS id_, p.* FROM changes c LEFT JOIN {table} p "
                    "ON p.id = c.id WHERE c.tbl = ? AND c.number > ? ORDER BY c.number LIMIT ?",
                    [table, _cursor(kind), _BATCH],
                ).fetchall()
            if not rows:
                return
            model = kind.model
            points = [
                Point(row["id"], row["vector"], metadata_of(kind.kind, row))
                for row in rows
                if row["vector"] is not None and row["embedding_model"] == model
            ]
            there = {point.id for point in points}
            gone = [row["id_"] for row in rows if row["id_"] not in there]
            chroma.put(kind.kind.name, points, gone=gone, model=model)
            kind.database.set_meta("chroma_cursor", str(rows[-1]["change_"]))

    def _refill(self, kind: Passages, chroma: ChromaProcess) -> None:
        """From the table itself: `changes` says nothing of what was never changed since a purge."""
        table, model, last = kind.kind.table, kind.model, -1
        chroma.begin(kind.kind.name, model=model)
        with kind.database.reading() as db:
            upto = db.execute("SELECT coalesce(max(number), 0) FROM changes").fetchone()[0]
        while not self._closing:
            with kind.database.reading() as db:
                rows = db.execute(
                    f"SELECT rowid AS rowid_, * FROM {table} WHERE rowid > ? AND vector IS NOT NULL "
                    "AND embedding_model = ? ORDER BY rowid LIMIT ?",
                    [last, model, _BATCH],
                ).fetchall()
            if not rows:
                with kind.database.writing() as db:
                    db.execute("INSERT OR REPLACE INTO meta VALUES ('chroma_cursor', ?)", [str(upto)])
                    db.execute("DELETE FROM meta WHERE key = 'chroma_rebuild'")
                return
            last = rows[-1]["rowid_"]
            points = [Point(row["id"], row["vector"], metadata_of(kind.kind, row)) for row in rows]
            chroma.put(kind.kind.name, points, gone=(), model=model)


def _cursor(kind: Passages) -> int:
    return int(kind.database.meta("chroma_cursor") or 0)


def _behind(kind: Passages) -> int:
    if kind.database.meta("chroma_rebuild"):
        return max(1, kind.count())
    with kind.database.reading() as db:
        row = db.execute(
            "SELECT count(*) FROM changes WHERE tbl = ? AND number > ?", [kind.kind.table, _cursor(kind)]
        ).fetchone()
    return int(row[0])


def _check(root: Path) -> list[str]:
    """What is wrong with Chroma, found without risking this process: a broken index can crash its reader."""
    command = [sys.executable, "-W", "ignore", "-m", "store.memory.chroma_check", str(root)]
    program = Path(__file__).resolve().parent.parent.parent
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIME_LIMIT, cwd=program)
    except subprocess.TimeoutExpired:
        return [f"Chroma did not answer within {_TIME_LIMIT:.0f} seconds"]
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"it ended with status {done.returncode}"]
        return [f"Chroma cannot be opened: {last[0]}"]
    return [str(fault) for fault in json.loads(done.stdout)]
