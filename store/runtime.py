"""The composition root: opens a library with its workers, jobs and inbox, and shuts them down."""

import contextlib
import sqlite3
import time
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Self
from warnings import catch_warnings, simplefilter

from store.catalog import checksums, replication, rows, snapshots
from store.catalog.catalog import DISK_ERRORS, Catalog, damaged, is_made, opening_errors
from store.chroma import catalog_source
from store.chroma.follower import warn_behind
from store.disk.exchange import finish_for_reading
from store.disk.files import Disk
from store.disk.layout import Layout
from store.disk.lock import FairLock, WriterLock, Writers
from store.disk.sqlite import is_replica, refuse_replica
from store.embedding.prefetch import EmbeddingPrefetcher
from store.embedding.protocol import Embedder, give_back_memory
from store.errors import ChromaBehind, LibraryInUse, MemedexError, ModelUnavailable, ReadOnly
from store.jobs import Jobs
from store.jobs.background_worker import Worker, close_all
from store.library import Library
from store.mcp import decisions
from store.pictures.shared_pictures import PictureSharing
from store.progress import Progress
from store.reading.reader import Reader, Status
from store.rules import copilot, running
from store.settings import settings
from store.tags import taxonomy_file
from store.tasks import KINDS, models
from store.tasks.inbox import Inbox, Watcher
from store.vectors.matrix_files import MatrixSaver
from store.writing import salvage, transitions
from store.writing.differences import is_large
from store.writing.reconcile import Fault, FileComparison, bring_up_to_date, is_stale, recover

_UNREADABLE = 60.0  # seconds until pictures that could not be read are looked at again
_NEW_PICTURES = 30.0  # seconds until pictures that came while others were read are read as well
_TIMEOUT = 10.0  # seconds at most that the end waits for a worker, which may wait for a network
_AGENTS = 0.25  # seconds between two looks for decisions of agents
_ASKING = 1800.0  # seconds between two looks whether memories are to be asked for
_STUCK = 5.0  # seconds at most until a decision that waits for the disk is tried again


class LibraryRuntime(Library):
    """The library in the one process that may write to it, from taking its lock to releasing it."""

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        embedder: Embedder | None = None,
        disk: Disk | None = None,
        progress: Progress | None = None,
        files_later: bool = False,
    ) -> Self:
        """Open the library in this folder, or create it.

        With `files_later` a large library opens before its files are compared with its catalog, which then
        happens in the background (`Status.comparing`).

        Raises LibraryInUse if another process writes to it, ReadOnly if the settings forbid changes, and for
        a replica.
        """
        if settings().read_only:
            raise ReadOnly("nothing can be changed here while MEMEDEX_READ_ONLY is set")
        layout = Layout(Path(root).resolve())
        refuse_replica(layout.catalog)
        make = partial(cls, layout.root, embedder=embedder, disk=disk, progress=progress, later=files_later)
        with opening_errors(layout.catalog):
            held = _writers.open(layout.root, lambda lock: make(lock=lock), lock=layout.lock)
        assert isinstance(held, cls)
        return held

    @staticmethod
    def is_open(root: Path) -> bool:
        """Whether this process has the library in this folder open for writing."""
        return _writers.has(Path(root).resolve())

    @classmethod
    def can_open(cls, root: Path) -> bool:
        """Whether opening the library does not wait for another process that writes to it."""
        return cls.is_open(root) or WriterLock(Layout(root).lock).is_free()

    @staticmethod
    def open_for_reading(
        root: Path, *, embedder: Embedder | None = None, progress: Progress | None = None
    ) -> Library:
        """Open the library, brought up to date if no process writes; its verbs raise ReadOnly."""
        layout = Layout(Path(root).resolve())
        with opening_errors(layout.catalog):
            if is_replica(layout.catalog):
                _check_replica(layout.catalog)
                return Library(layout.root, embedder=embedder)
            finish_for_reading(layout.root)
            if not is_made(layout.catalog) or salvage.is_interrupted(layout):
                bring_up_to_date(layout, embedder, progress=progress)
            reader = Library(layout.root, embedder=embedder)
            try:
                if WriterLock(layout.lock).is_free() and is_stale(reader.catalog, layout):
                    with contextlib.suppress(LibraryInUse):  # another process was quicker, and does it
                        bring_up_to_date(layout, embedder, progress=progress)
            except BaseException:
                reader.close()
                raise
        return reader

    def __init__(
        self,
        root: Path,
        *,
        embedder: Embedder | None,
        disk: Disk | None,
        lock: WriterLock,
        progress: Progress | None,
        later: bool,
    ) -> None:
        self._lock = lock
        salvage.recover_lost(Layout(root))
        super().__init__(root, embedder=embedder, disk=disk, writes=True)
        try:
            self._begin(embedder, progress, later=later and is_large(self.catalog))
        except BaseException:
            self.catalog.close()
            raise

    def _begin(self, embedder: Embedder | None, progress: Progress | None, *, later: bool) -> None:
        catalog, layout = self.catalog, self.layout
        self._found[:] = recover(
            catalog, layout, self._journal, embedder,
            disk=self._disk, progress=progress, compares_files=not later,
        )  # fmt: skip
        taxonomy_file.finish(catalog, layout, self._disk)
        _ = self.taxonomy  # a broken one is said at once
        self._follower = follower = catalog_source.follower(
            catalog, layout, model=lambda: self.model, disk=self._disk
        )
        self._saver = MatrixSaver(catalog, layout, saved=self._resident.release)
        self._resident.on_refresh = self._saver.save_if_due
        self._prefetcher = EmbeddingPrefetcher(
            catalog, embedder=lambda: self.embedder, picture=self.picture, in_flight=self._in_flight
        )
        self._turn = FairLock()  # of workers that keep the interpreter busy
        self._workers: list[Worker] = []  # that work in the background, once they are wanted
        self._stamping = Worker("telling replicas the time", lambda _: self._stamp_for_replicas())
        self._deciding = Worker("carrying out decisions of agents", lambda _: self._carry_out_for_agents())
        self._asking = Worker("asking for memories", self._ask_for_memories, is_unhurried=True)
        self._watched: dict[str, Watcher] = {}  # by what is watched
        self._has_current_vectors = False  # as far as was looked
        self.jobs = Jobs.with_runner(catalog, KINDS, self)
        self.finish_erasing()  # what a crash interrupted
        follower.wake_if_needed()
        self.golden.apply_external_edits()
        self._comparison = (
            FileComparison(catalog, layout, applied=self._apply_compared, turn=self._turn) if later else None
        )
        if not later:
            self._embed_edited_records()
        with contextlib.suppress(MemedexError, *DISK_ERRORS):  # they wait
            decisions.carry_out_waiting(self)

    def work_in_background(self, *, after: float = 0.0) -> None:
        """Do a dashboard's background work, now and after each change, until the library is closed.

        What is not urgent begins `after` so many seconds, so that the first page has the processor to itself.
        Workers look for duplicates, embed pictures without a vector, read pictures, learn from decisions and
        advise if the co-pilot is on, apply the rules that act by themselves, copy the catalog once a day
        (`store/catalog/snapshots.py`), finish decisions that the disk kept waiting, carry out those of agents
        (`store/mcp/decisions.py`), ask for memories once a night, and supply dashboards on other machines
        (`docs/scaling.md`).
        """
        self.catalog.check_writable()
        if not self._workers:
            busy = partial(Worker, is_unhurried=True, turn=self._turn)
            self._copies = busy("looking for copies", self._look_for_copies)
            self._embedding = busy("embedding what is new", self._look_at_what_is_new)
            self._reading = Worker("reading pictures", self._read_pictures, is_unhurried=True)
            self._workers += (self._copies, self._embedding, self._reading)
            self._learning = busy("learning from decisions", self._learn)
            self._rules = busy("applying rules", lambda _: running.run_by_themselves(self))
            self._workers += (
                self._learning,
                self._rules,
                Worker(
                    "copying the catalog",
                    lambda progress: self.catalog.keep_snapshot("daily", progress=progress),
                    is_unhurried=True,
                ),
                Worker("finishing what is decided", lambda _: self._finish_decided(), longest=_STUCK),
            )
            if place := self._shared_pictures:
                sharing = PictureSharing(self.catalog, place, picture=self.picture)
                self._workers.append(
                    Worker(f"copying pictures to {place.address}", sharing.copy_new, is_unhurried=True)
                )
            self._stamping.wake()
            self._asking.wake(after=_ASKING)
            if settings().agents:
                self._deciding.wake()
        for worker in self._workers:
            worker.wake(after=after if worker.is_unhurried else 0.0)

    def _stamp_for_replicas(self) -> None:
        replication.stamp(self.catalog, now=time.time())
        self._stamping.wake(after=replication.EVERY)

    @classmethod
    def carry_out_for_agents(cls, root: Path) -> bool:
        """Carry out what agents decided; False if another process, or another part of this one, has it open.

        That one does so. Chroma follows when the library is opened for longer.
        """
        if cls.is_open(root) or not WriterLock(Layout(Path(root).resolve()).lock).is_free():
            return False
        with catch_warnings():
            simplefilter("ignore", ChromaBehind)
            try:
                cls.open(root).close(longest=0)
            except LibraryInUse:  # another process was quicker
                return False
        return True

    def _carry_out_for_agents(self) -> None:
        decisions.carry_out_waiting(self)
        self._deciding.wake(after=_AGENTS)

    def _ask_for_memories(self, progress: Progress) -> None:
        from store.memory.memory import Memory, has_memory  # a dashboard needs it later

        if has_memory(self.layout.root):  # not closed: pages of this process use the same memory
            Memory.open(self.layout.root).ask_nightly(progress=progress)
        self._asking.wake(after=_ASKING)

    def watch_inbox(self, folder: Path) -> None:
        """Import files that are put into this folder, until the library is closed."""
        self.catalog.check_writable()
        if "inbox" not in self._watched:
            self._watched["inbox"] = Watcher(Inbox(self, folder))

    def watch_papers(self, folder: Path) -> None:
        """Import papers that are saved in this folder into the text memory, until the library is closed."""
        from store.memory.memory import Memory  # only a dashboard with such a folder needs it here
        from store.tasks.inbox import PaperFolder

        self.catalog.check_writable()
        if "papers" not in self._watched:
            # Not closed with the library: pages of this process use the same memory.
            papers = PaperFolder(lambda: Memory.open(self.layout.root), folder)
            self._watched["papers"] = Watcher(papers, name="the folder of papers")

    def status(self) -> Status:
        """The health of the library, and what prevents it from working, if anything."""
        return replace(
            super().status(),
            chroma_fault=self._follower.fault if self._follower else "",
            stuck=self._journal.stuck,
            faults=tuple(": ".join(filter(None, (one.address, one.reason))) for one in self._found),
            comparing=self._comparison.under_way if self._comparison else None,
            unreadable=tuple(f"{one.address}: {one.reason}" for one in self._prefetcher.unreadable),
        )

    # -- the end ------------------------------------------------------------------------------------------

    def close(self, *, progress: Progress | None = None, longest: float = inf) -> None:
        """Finish the current work, let Chroma catch up, and release the lock.

        It waits for Chroma while that gets on, `longest` seconds at most; `progress` says how far it is and
        can be cancelled. Warns with ChromaBehind if Chroma has not caught up.
        """
        lag: list[str] = []
        _writers.close(self.layout.root, self, end=lambda: lag.append(self._end(progress, longest)))
        warn_behind("".join(lag))

    def detach_after_fork(self) -> None:
        """In a forked child: leave the lock to the parent, as SQLite files do."""
        self._lock.detach_after_fork()

    def _end(self, progress: Progress | None, longest: float) -> str:
        try:
            for watcher in self._watched.values():
                watcher.stop()
            workers = [self._stamping, self._deciding, self._asking, self._saver.worker, *self._workers]
            if self._comparison:
                workers.append(self._comparison.worker)
            close_all(workers, timeout=_TIMEOUT, interrupt=self.catalog.interrupt)
            for watcher in self._watched.values():
                watcher.close()
            self.jobs.close()
            return self._follower.close(progress, longest=longest) if self._follower else ""
        finally:
            self._keep_copy()
            super().close()
            self._lock.release()

    def _keep_copy(self) -> None:
        """Leave a copy of a small catalog as it is now; of a large one the last daily copy has to do."""
        with contextlib.suppress(MemedexError, *DISK_ERRORS):
            if self.catalog.path.stat().st_size <= snapshots.COPIED_AT_EACH_END:
                snapshots.keep_current(self.catalog, checksums.TABLES)

    def _changed(self) -> None:
        if self._follower:
            self._follower.wake_if_behind()
        for worker in self._workers:
            worker.wake()

    def _look_for_copies(self, progress: Progress) -> int:
        if examined := self.duplicates.examine(progress=progress):
            give_back_memory()
        return examined

    def _look_at_what_is_new(self, progress: Progress) -> int:
        if not self._has_current_vectors:
            with contextlib.suppress(ModelUnavailable):
                models.start_if_outdated(self)
                self._has_current_vectors = True
        if embedded := self._prefetcher.embed_next(progress):
            give_back_memory()
        self._copies.wake()  # what is embedded now can be compared by its vector …
        self._learning.wake()  # … and advised on
        if self._prefetcher.unreadable:
            self._embedding.wake(after=_UNREADABLE)
        return embedded

    def _learn(self, progress: Progress) -> int:
        advised = copilot.keep_up(self, progress=progress)
        if advised:
            self._rules.wake()
        return advised

    def embed_new(self, *, progress: Progress) -> int:
        """Embed pictures that have no vector yet; returns how many."""
        self.catalog.check_writable()
        return self._prefetcher.embed_next(progress)

    def _read_pictures(self, progress: Progress) -> None:
        self.picture_faults.look(progress=progress)
        self.unfit.bring_up_to_date(progress=progress)
        if settings().read_pictures and self.picture_texts.unread():
            models.read_new_pictures(self)
            if any(job.kind == models.READ_PICTURES.name for job in self.jobs.under_way()):
                self._reading.wake(after=_NEW_PICTURES)
        else:
            self.picture_texts.release()

    def _finish_decided(self) -> None:
        """Finish decisions that wait for the disk. Raises LibraryStuck as long as it refuses."""
        if self._journal.stuck:
            with self.catalog.lock:
                self._journal.finish_all()

    def _apply_compared(self, faults: list[Fault]) -> None:
        """Go on with what was changed outside, now that all files are compared."""
        self._found[:] = faults
        self._embed_edited_records()
        self._changed()

    def _embed_edited_records(self) -> None:
        """Embed library records edited outside; large numbers are left to `doctor --repair`."""
        with self.catalog.reading() as db:
            missing = rows.without_vectors(db)
        if 0 < missing <= transitions.OPERATION:
            with contextlib.suppress(MemedexError, *DISK_ERRORS):  # no model, or stuck: doctor says so
                self.embed_all(self.embedder, progress=Progress())


def _check_replica(path: Path) -> None:
    if not is_made(path):
        raise ReadOnly(
            f"{path} is a replica that is not complete yet, or of an older Memedex: update the program that "
            "writes, and wait for Litestream"
        )


def has_unfinished_jobs(root: Path) -> bool:
    """Whether the library in this folder has jobs that go on once it is open; it stays closed."""
    layout = Layout(root.resolve())
    if not is_made(layout.catalog):
        return False
    reader = Reader(layout.root)
    try:
        states = {job.state for job in reader.jobs.open() if not job.is_ephemeral}
    finally:
        reader.close()
    return not states.isdisjoint({"waiting", "running", "interrupted"})


def check_replica(catalog: Catalog) -> None:
    """Check the pages and rows that Litestream wrote. Raises CatalogDamaged with the remedy."""
    if fault := catalog.first_fault():
        raise damaged(catalog.path, sqlite3.DatabaseError(fault))


_writers: Writers[LibraryRuntime] = Writers()

open_library = LibraryRuntime.open
open_reader = LibraryRuntime.open_for_reading
