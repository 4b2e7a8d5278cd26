"""The one process that keeps the text memory in order, while any number of processes write to it.

Every process commits to SQLite by itself. The one that holds `memory/writer.lock` also does what only one
may do: finish what a crash interrupted, tidy up, lead Chroma, and make tables again after a deletion for
good. If it ends, another one that has the memory open takes over.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf

from store.catalog import snapshots
from store.catalog.catalog import DISK_ERRORS
from store.chroma.follower import ChromaFollower
from store.disk.lock import WriterLock, holder
from store.embedding.protocol import Embedder
from store.errors import MemedexError, ModelUnavailable, NotWritten
from store.jobs.background_worker import Worker
from store.memory.engine import reembedding
from store.memory.engine.database import SUMMED, Database
from store.memory.engine.entries import Entries
from store.memory.engine.erasing import ERASING
from store.memory.engine.places import Places
from store.memory.engine.settings import DEFAULT, DEFAULTS, LOCAL, memory_settings
from store.memory.engine.stored_entries import StoredEntries
from store.progress import Progress

PERIOD = 1.0  # seconds between two looks at what other processes wrote
PATIENCE = 60.0  # seconds that a deletion for good waits for the process that keeps the files
_STEP = 0.02
_COPIES = 3600.0  # seconds between two looks whether daily copies are due; closing looks as well


class MemoryMaintainer:
    """This process's part in keeping one memory."""

    def __init__(
        self,
        lock: WriterLock,
        places: Places,
        database: Database,
        kinds: Sequence[Entries],
        *,
        follower: Callable[[], ChromaFollower],
        recover: Callable[[], None],
        models: Callable[[str], Embedder],
    ) -> None:
        """`recover` finishes what earlier processes left; called once, when this process takes over.

        `models` opens a model by its name.
        """
        self.follower: ChromaFollower | None = None  # once this process keeps the memory
        self._lock = lock
        self._places = places
        self._database = database
        self._kinds = kinds
        self._follow = follower
        self._recover = recover
        self._models = models
        self._copies_due = time.monotonic() + _COPIES
        self._turn = threading.RLock()  # its own thread, and those that delete for good
        self._watch = Worker("keeping the text memory in order", self.maintain)
        self._renewal = Worker("embedding texts by the model's new version", self._renew, is_unhurried=True)

    def begin(self) -> None:
        """Take over if this process holds the lock, and look from time to time from now on."""
        if self._lock.is_held:
            self._take_over()
        self._watch.wake(after=PERIOD)

    def wake(self) -> None:
        """Tell Chroma that there is something to follow; a maintainer in another process sees it alone."""
        if self.follower:
            self.follower.wake_if_behind()

    def finish_erasing(self, entries: StoredEntries) -> None:
        """Leave nothing of what was deleted for good; returns when that is done.

        Raises NotWritten if the process that keeps the files does not come to it.
        """
        until = time.monotonic() + PATIENCE
        while entries.database.meta(ERASING):
            if self._may_keep():
                self._tidy_up()
            elif time.monotonic() > until:
                raise NotWritten(
                    f"it is deleted, but copies may be left in files that {holder(self._places.lock)} keeps; "
                    "they go when that one has time, or ends"
                )
            else:
                time.sleep(_STEP)

    def close(self, progress: Progress | None = None, *, longest: float = inf) -> str:
        """Finish the current work as `ChromaFollower.close`, also what another process left to do."""
        self._renewal.close()
        self._watch.close()
        if self._watch.has_begun:
            with suppress(MemedexError, *DISK_ERRORS):  # the next opening does it
                if self._may_keep():
                    self._tidy_up()
        lag = self.follower.close(progress, longest=longest) if self.follower else ""
        if self._watch.has_begun:
            self._keep_copies()
        return lag

    def release(self) -> None:
        """Let another process take over."""
        self._lock.release()

    def detach_after_fork(self) -> None:
        """In a forked child: leave the lock to the parent."""
        self._lock.detach_after_fork()

    def _keep_copies(self) -> None:
        """Have a copy of the file, if this process keeps the memory (`store/catalog/snapshots.py`)."""
        self._copies_due = time.monotonic() + _COPIES
        if self.follower and not self._database.fault:
            with suppress(MemedexError, *DISK_ERRORS):  # no room, or damaged: doctor says so
                snapshots.keep_current(self._database, SUMMED)

    def _may_keep(self) -> bool:
        """Whether this process keeps the memory; it takes over if no other does."""
        with self._turn:
            if self.follower is None and (self._lock.is_held or self._lock.try_acquire()):
                self._take_over()
            return self.follower is not None

    def _take_over(self) -> None:
        self._recover()
        self.follower = self._follow()
        self._tidy_up()  # what a crash interrupted
        self._renewal.wake(after=PERIOD)

    def _renew(self, progress: Progress) -> None:
        """Embed again what another version of the program embedded with other numbers, or by its default.

        A new default is given once: who goes back to the former one keeps that.
        """
        for entries in self._kinds:
            default = DEFAULTS.get(entries.kind.name, LOCAL)
            has_former = entries.model == LOCAL != default == memory_settings().embedder_of(entries.kind.name)
            with suppress(ModelUnavailable):
                if has_former and entries.database.meta(DEFAULT) != default:
                    if reembedding.reembed(entries, self._models(default), progress=progress):
                        entries.database.set_meta(DEFAULT, default)
                elif reembedding.is_outdated(entries):
                    reembedding.embed_new(entries, progress=progress)

    def _tidy_up(self) -> None:
        """Finish deletions, whichever process began them, and let Chroma follow what was written."""
        with self._turn:
            assert self.follower is not None, "only the process that keeps the memory"
            for entries in self._kinds:
                if entries.erase_traces(self.follower.purge):  # the copies lack this kind
                    self._copies_due = time.monotonic()
            self.follower.wake_if_needed()

    def maintain(self, _: Progress | None = None) -> None:
        """Do what other processes left to do, or take over from one that ended; done from time to time."""
        if self._may_keep():
            self._tidy_up()
            if time.monotonic() >= self._copies_due:
                self._keep_copies()
        self._watch.wake(after=PERIOD)
