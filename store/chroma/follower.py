"""Chroma follows SQLite in a thread of its own; on failure it only lags behind, and tries again."""

import contextlib
import logging
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any, Protocol

from store.catalog.catalog import DISK_ERRORS
from store.chroma.collections import NO_FILES
from store.chroma.comparison import ask
from store.chroma.place import ChromaFolder, ServerPlace
from store.chroma.process import ChildProcess, ChromaEnded, ChromaProcess, ServerAway
from store.chroma.server import ChromaServer
from store.disk.aside import Aside
from store.disk.files import Disk
from store.disk.sqlite import SqliteFile
from store.errors import ChromaBehind, MemedexError, NotWritten
from store.jobs.background_worker import Worker, described
from store.progress import Progress
from store.settings import settings

log = logging.getLogger(__name__)

BATCH = 1_000  # points; well below Chroma's get_max_batch_size of 5,461
TIMEOUT = 20.0  # seconds for the batch at hand, when the program ends or a caller must not wait …
LOOK = 45.0  # seconds between two looks whether a server lost our collections while nothing changed
SERVER_TIMEOUT = 5.0  # … and for one on a server when the program ends: nothing there is damaged by it
PATIENCE = 30.0  # seconds that the end waits for a Chroma that does not get on
_SLICE = 0.2  # seconds between two looks how far it is
_TRIES = 3  # times that the end waits so long, and kills what does not answer
_REBUILD = "chroma_rebuild"  # in `meta`: "1" when asked for, _BEGUN until the place is emptied
_BEGUN = "begun"
_FILES = "chroma_files"  # in `meta`: the stamp of the place that was followed last
_DIRTY = "chroma_dirty"  # in `meta`: set from before Chroma's first write until a clean end


class Source(Protocol):
    """Records that Chroma follows: how they are brought to its collections, and what is missing there."""

    does: str  # what the follower is busy with
    noun: str  # what it follows, in the plural

    @property
    def behind(self) -> int:
        """How much Chroma does not have yet."""

    @property
    def has_any(self) -> bool:
        """Whether Chroma should have something by now."""

    def owners(self) -> Mapping[str, str]:
        """The token of the database in the mark of each collection, by its name."""

    def metadata(self) -> Mapping[str, Mapping[str, str]]:
        """The metadata of each collection by name."""

    @property
    def comparison(self) -> Callable[[], list[str]]:
        """Finds the differences between Chroma and SQLite, one sentence each; can be pickled."""

    def queue_everything(self, db: sqlite3.Connection) -> None:
        """Mark everything as missing in Chroma."""

    def drain(self, chroma: ChromaProcess, *, is_ending: Callable[[], bool]) -> None:
        """Bring what Chroma lacks, until it lacks nothing or the end waits."""


class ChromaFollower:
    """Applies a source's changes whenever it is woken, until it is closed."""

    def __init__(
        self,
        source: Source,
        database: SqliteFile,
        folder: Path,
        *,
        into: Path,
        note: Callable[[Aside], None],
        disk: Disk | None = None,
    ) -> None:
        """`database` keeps the state of Chroma in `meta`; `folder` has its files unless a server does."""
        server = ChromaServer.configured()
        # There may be files from before there was a server.
        self._files = ChromaFolder(folder, into=into, owners=source.owners, note=note, disk=disk or Disk())
        self._place = place = ServerPlace(server) if server else self._files
        self._source = source
        self._database = database
        self.worker = Worker(source.does, self._work, describe=_described)
        self._is_on = settings().chroma == "on" and bool(source.owners())
        self._chroma: ChromaProcess | None = None
        self._using = threading.Lock()  # Chroma's files: one at a time
        self._is_cut_short = False  # a caller cannot wait for it
        self._asked: ChildProcess[Any] | None = None  # the process that was last at work on them
        self._watch = Worker("asking the Chroma server what it has", self._look, describe=_described)
        if self._is_on and place.name:
            self._watch.wake(after=LOOK)

    @property
    def fault(self) -> str:
        """Why Chroma lags behind, or a server cannot be asked; "" while it follows."""
        fault = self.worker.fault or self._watch.fault
        return fault.reason if fault else ""

    def wake_if_needed(self) -> None:
        """Open Chroma only if it lacks something, or its files changed."""
        if not self.worker.has_begun and self._is_dirty:
            self.wake()
        else:
            self.wake_if_behind()

    def wake_if_behind(self) -> None:
        """Open Chroma if it lacks something; its files are not looked at, which would delay each decision.

        A catalog that cannot be read now is read by the worker: the change that comes before this is made.
        """
        try:
            lacks_something = self.behind or self._must_rebuild
        except DISK_ERRORS:
            lacks_something = True
        if lacks_something:
            self.wake()

    def wake(self) -> None:
        """Tell it that there is something to apply."""
        if self._is_on:
            self.worker.wake()

    def retry(self) -> None:
        """Try again now, because a person asked."""
        if self._is_on:
            self.worker.retry()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until Chroma has caught up (True), fails or takes too long (False)."""
        if not self._is_on:
            return True
        self.wake_if_behind()
        return self.worker.wait(timeout) and self.behind == 0  # a rebuild to come has no queue yet

    def follow(
        self,
        progress: Progress | None = None,
        *,
        patience: float | None = None,
        longest: float = inf,
        retries: bool = False,
    ) -> str:
        """Wait until Chroma has caught up, while it gets on; returns why it has not, or "".

        `patience` is how many seconds it may show no progress (PATIENCE), `longest` how many it may take in
        all. With `retries` it tries again after a failure: its cause may be gone.
        """
        patience = PATIENCE if patience is None else patience
        known = self.worker.fault if retries else None
        if known and longest:
            self.retry()
        if self.wait(0) or not (self.worker.has_begun or self.fault):
            return ""
        progress = progress or Progress()
        progress.what, progress.total = "Chroma follows", self.behind
        behind, began, moved = self.behind, time.monotonic(), time.monotonic()
        while not progress.cancelled and time.monotonic() < min(moved + patience, began + longest):
            if self.wait(min(_SLICE, longest)):
                return ""
            if self.worker.fault not in (None, known):
                break
            if (left := self.behind) != behind:
                behind, moved = left, time.monotonic()
                progress.total = max(progress.total, behind)
                progress.done = progress.total - behind
        why = f"does not follow ({self.fault})" if self.fault else f"is {behind:,} {self._source.noun} behind"
        return f"Chroma {why}; nothing is lost, it catches up at the next opening"

    def check(self) -> list[str]:
        """Differences between Chroma and SQLite; Chroma's files are closed during it."""
        if not self._is_on:
            return []
        with self._using:
            was_dirty = self._is_dirty and self._chroma is None
            self._close_cleanly()
            try:
                faults = self._faults()
            except ServerAway as away:
                return [str(away)]
            if not (was_dirty or self.fault or self._place.foreign()):
                self._mark_clean()  # asking touches the files
            return faults

    def close(self, progress: Progress | None = None, *, longest: float = inf) -> str:
        """Let Chroma catch up as `follow` does, and remove the dirty marker; returns why it has not, or "".

        Then it stops after the current batch, which is cut short after a while. What does not end even then
        is left; the marker stays, and Chroma is compared before its next use.
        """
        self._watch.stop()
        lag = self.follow(progress, longest=longest, retries=True)
        timeout = SERVER_TIMEOUT if self._place.name or lag else TIMEOUT
        for _ in range(_TRIES):
            if self.worker.close(timeout=timeout) and self._using.acquire(timeout=timeout):
                try:
                    self._close_cleanly()
                finally:
                    self._using.release()
                return lag
            self._end_asked()
        log.warning("%s: did not end in time", self.worker.name)
        return lag

    def purge(self) -> None:
        """Remove all traces of what was deleted: Chroma's files or collections are made again from SQLite."""
        with self._in_use():
            self._mark_dirty()
            if self._place is not self._files:
                self._files.remove_own()
            with contextlib.suppress(ServerAway):
                self._rebuild()
        self.wake()

    def rebuild(self) -> None:
        """Fill Chroma again from SQLite's vectors; needs no model."""
        self._database.set_meta(_REBUILD, "1")
        self.retry()

    @property
    def behind(self) -> int:
        """How much Chroma does not have yet."""
        return self._source.behind

    @property
    def _must_rebuild(self) -> bool:
        """Whether all is to be filled again: on request, or in another place, whose vectors may be old."""
        left = self._database.meta(_FILES)
        is_elsewhere = self._place.name != (left if " " in left else "")  # a folder's is a hash
        return bool(self._database.meta(_REBUILD)) or is_elsewhere

    @property
    def _is_dirty(self) -> bool:
        """Whether Chroma ended uncleanly, or another program touched its files."""
        left = self._database.meta(_FILES)
        was_used = bool(left) or self._source.has_any  # else nothing in the place is ours
        return bool(self._database.meta(_DIRTY)) or (was_used and (left or NO_FILES) != self._place.stamp)

    def _mark_dirty(self) -> None:
        """Set the dirty marker: Chroma is compared before it is used again."""
        if not self._database.meta(_DIRTY):
            self._database.set_meta(_DIRTY, "1")

    def _mark_clean(self) -> None:
        """Remove the dirty marker, and remember the files' state to notice later changes."""
        with contextlib.suppress(
            OSError, sqlite3.Error, NotWritten
        ):  # on a full disk it stays: one look more
            self._place.flush()
            if self._is_dirty:
                with self._database.writing() as db:
                    values = [(_DIRTY, ""), (_FILES, self._place.stamp)]
                    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)

    def _drain(self, chroma: ChromaProcess) -> None:
        """Apply everything."""
        if self.behind and not self._closing:
            self._mark_dirty()
            self._source.drain(chroma, is_ending=lambda: self._closing)

    def _follow(self) -> None:
        """Apply everything, with another process or new files if the old ones fail."""
        chroma = self._begin()
        try:
            self._drain(chroma)
        except (MemedexError, *DISK_ERRORS):  # SQLite's fault, not Chroma's
            raise
        except ServerAway:
            self._mark_dirty()  # its machine may have stopped in the middle of a write
            raise
        except ChromaEnded:
            if self._is_cut_short or self._closing:
                raise
            log.exception("Chroma's process is replaced")
            self._close()
            self._drain(self._begin())
        except Exception:
            log.exception("Chroma failed and is rebuilt")
            self._drain(self._rebuild())

    def _begin(self) -> ChromaProcess:
        """Start a process, with files as they should be."""
        faults: list[str] = []
        if self._chroma is None:
            is_dirty = self._is_dirty
            self._place.clear_the_way()
            if is_dirty and (faults := self._faults()):
                if self._is_cut_short:  # the comparison was ended: that is no difference
                    raise ChromaEnded("; ".join(faults))
                log.warning("Chroma is rebuilt: %s", "; ".join(faults))
        if faults or self._must_rebuild:
            return self._rebuild()
        return self._chroma or self._open()

    def _rebuild(self) -> ChromaProcess:
        with self._database.writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_REBUILD, _BEGUN])
            self._source.queue_everything(db)
        self._close()
        self._place.remove_own()
        chroma = self._open()
        self._place.begin(chroma, self._source.metadata())
        self._mark_dirty()
        with self._database.writing() as db:  # one that was asked for meanwhile is still to come
            db.execute("UPDATE meta SET value = '' WHERE key = ? AND value = ?", [_REBUILD, _BEGUN])
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_FILES, self._place.stamp])
        return chroma

    def _open(self) -> ChromaProcess:
        """A process that starts at the first request."""
        self._chroma = ChromaProcess(self._place.collections(self._source.metadata()))
        self._asked = self._chroma
        return self._chroma

    def _faults(self) -> list[str]:
        if foreign := self._place.foreign():
            return [f"{foreign} lies where Memedex's own belongs; it is moved aside whole, never removed"]
        if self._place.has_files:
            return ask(self._source.comparison, begun=self._began)
        return ["Chroma's files are gone"] if self._source.has_any else []

    def _close(self) -> bool:
        """Close Chroma in any state; returns whether it ended cleanly."""
        chroma, self._chroma = self._chroma, None
        if chroma is not None:
            try:
                chroma.close()
            except BaseException:  # a broken Chroma must not end the thread that rebuilds it
                log.exception("Chroma could not be closed")
                return False
        return True

    def _close_cleanly(self) -> None:
        """Close Chroma, and record a clean end if it was one."""
        if self._chroma is not None and self._close() and not self.fault:
            self._mark_clean()

    @property
    def _closing(self) -> bool:
        return self.worker.is_closing

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Use Chroma's files until the block ends; a process that hangs is killed after a while."""
        while not self._using.acquire(timeout=TIMEOUT):
            self._end_asked()
        try:
            yield
        finally:
            self._using.release()

    def _end_asked(self) -> None:
        self._is_cut_short = True
        if self._asked:
            log.warning("%s: what does not answer is ended", self.worker.name)
            self._asked.kill()

    def _began(self, process: ChildProcess[Any]) -> None:
        self._asked = process

    def _look(self, _: Progress) -> None:
        """Fill a server again that came back without our collections, though nothing is to be applied."""
        with self._using:
            lacks = not self.behind and self._place.lacks(self._source.metadata())
        if lacks:
            self.rebuild()
        self._watch.wake(after=LOOK)

    def _work(self, _: Progress) -> None:
        with self._using:
            self._is_cut_short = False
            try:
                self._follow()
            except BaseException:  # Chroma's Rust panics are no Exceptions
                self._close()
                if not self._is_cut_short:
                    raise
                self.wake()  # it was ended for a caller who could not wait: not its fault


class FollowedByChroma:
    """The verbs about Chroma of what it follows. They do nothing where another process leads Chroma."""

    def wait_for_chroma(self, timeout: float | None = None) -> bool:
        """Wait until Chroma has every decision (True), fails, or takes too long (False)."""
        return (follower := self._led()[1]) is None or follower.wait(timeout)

    def follow_chroma(self, progress: Progress | None = None, *, patience: float | None = None) -> str:
        """As `ChromaFollower.follow`; "" where another process leads it."""
        return follower.follow(progress, patience=patience) if (follower := self._led()[1]) else ""

    def check_chroma(self) -> list[str]:
        """Differences between Chroma and SQLite, one sentence each; none where another process leads it."""
        database, follower = self._led()
        database.actor.check_login()
        return follower.check() if follower else []

    def rebuild_chroma(self) -> None:
        """Rebuild Chroma from SQLite's vectors; needs no model. Raises ReadOnly if opened for reading."""
        database, follower = self._led()
        database.check_writable()
        if follower:
            follower.rebuild()

    def _led(self) -> tuple[SqliteFile, ChromaFollower | None]:
        """The database that Chroma follows, and what leads Chroma in this process."""
        raise NotImplementedError


def warn_behind(lag: str) -> None:
    """Warn the caller who closes a library or memory that Chroma is behind; "": it is not."""
    if lag:
        warnings.warn(lag, ChromaBehind, stacklevel=3)


def _described(error: BaseException) -> str:
    return (
        str(error) if isinstance(error, ServerAway) else described(error)
    )  # its message is a whole sentence
