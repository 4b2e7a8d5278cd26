"""Whoever holds a library's folder: what is opened, mended, kept running and closed around its verbs."""

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Self

from store import switching, taxonomy_edits
from store.background import Background
from store.catalog import REFUSALS, is_made, opening
from store.chroma.follower import Follower
from store.embedding import Embedder
from store.errors import LibraryInUse, MemedexError, ReadOnly
from store.files import Disk
from store.in_hand import InHand
from store.inbox import Watcher
from store.jobs import Jobs
from store.kinds import KINDS
from store.layout import Layout
from store.lock import WriterLock
from store.looking import Onlooker
from store.opening import is_stale, settle
from store.progress import Progress
from store.reading import Reader, Status
from store.search.matrix_files import MatrixSaver
from store.settings import settings
from store.writers import Writers
from store.writing import changing
from store.writing.changing import Changing
from store.writing.recovery import bring_up_to_date, recover
from store.writing.undoing import Undoing
from store.writing.write_path import WritePath


class Holder(Reader):
    """The one process that may write to a library, from the taking of its lock to its release."""

    can_write = True

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        embedder: Embedder | None = None,
        disk: Disk | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """The library in this folder, made if there is none; LibraryInUse while another process writes.

        ReadOnly where the settings say that nobody changes anything.
        """
        if settings().read_only:
            raise ReadOnly("nothing can be changed here while MEMEDEX_READ_ONLY is set")
        layout = Layout(Path(root).resolve())
        with opening(layout.catalog):
            held = _writers.open(
                layout.root,
                lambda lock: cls(layout.root, embedder=embedder, disk=disk, lock=lock, progress=progress),
                lock=layout.lock,
            )
        assert isinstance(held, cls)
        return held

    @staticmethod
    def open_for_reading(
        root: Path, *, embedder: Embedder | None = None, progress: Progress | None = None
    ) -> Reader:
        """The library as its catalog knows it; brought up to date first when nobody else is writing."""
        layout = Layout(Path(root).resolve())
        with opening(layout.catalog):
            if not is_made(layout.catalog):
                bring_up_to_date(layout, embedder, progress=progress)
            reader = Reader(layout.root, embedder=embedder)
            if WriterLock(layout.lock).is_free() and is_stale(reader.catalog, layout):
                with contextlib.suppress(LibraryInUse):  # somebody was quicker, and does it
                    bring_up_to_date(layout, embedder, progress=progress)
        return reader

    def __init__(
        self,
        root: Path,
        *,
        embedder: Embedder | None,
        disk: Disk | None,
        lock: WriterLock,
        progress: Progress | None,
    ) -> None:
        self._lock = lock
        super().__init__(root, embedder=embedder, disk=disk)
        try:
            self._begin(embedder, progress)
        except BaseException:
            self.catalog.close()
            raise

    def _begin(self, embedder: Embedder | None, progress: Progress | None) -> None:
        catalog, layout = self.catalog, self.layout
        self._journal, self._found = recover(catalog, layout, self._disk, embedder, progress=progress)
        taxonomy_edits.finish(catalog, layout, self._disk)
        _ = self.taxonomy  # a broken one is said at once
        in_hand = InHand()
        path = WritePath(catalog, layout, self._journal, embedder=lambda: self.embedder, in_hand=in_hand)
        self._changing = Changing(catalog, path, changed=self._wake)
        self._undoing = Undoing(catalog, layout, self._disk, self._changing)
        self._follower = Follower(catalog, layout, model=lambda: self.model)
        self._saver = MatrixSaver(catalog, layout, saved=self._resident.let_go)
        self._resident.on_refresh = self._saver.look
        self._onlooker = Onlooker(
            catalog, embedder=lambda: self.embedder, picture=self.picture, in_hand=in_hand
        )
        self._watchers = (
            Background("duplicates", lambda progress: self.duplicates.examine(progress=progress)),
            Background("looks", self._onlooker.look),
        )
        self._inbox: Watcher | None = None
        self.jobs = Jobs.to_do(catalog, KINDS, self)
        self._embed_taken_in()
        self._follower.wake_if_needed()
        self.golden.take_in_changes()

    # -- model, Chroma, files -----------------------------------------------------------------------------

    def embed_all(self, embedder: Embedder, *, progress: Progress) -> bool:
        """Embed what lacks a vector of this model, then make it the library's; False when cancelled."""
        with self.catalog.lock:
            self._journal.finish_all()
        done = switching.embed_all(self.catalog, self.layout, embedder, progress=progress)
        if done:
            self._model.use(embedder)
            self._follower.wake_if_needed()
        return done

    def watch_for_duplicates(self) -> None:
        """Look for duplicates in the background, now and after each change, until the library is closed.

        Pictures without a vector are embedded as well: by embedding, too, they may look like others.
        """
        for watcher in self._watchers:
            watcher.start()

    def wait_for_chroma(self, timeout: float | None = None) -> bool:
        """Until Chroma has all that was decided (True), or fails or takes too long (False)."""
        return self._follower.wait(timeout)

    def check_chroma(self) -> list[str]:
        """What Chroma says otherwise than the catalog, in plain words."""
        return self._follower.check()

    def rebuild_chroma(self) -> None:
        """Make Chroma anew from the catalog's vectors; no model is needed."""
        self._follower.rebuild()

    def take_in_changes(self) -> None:
        """Finish what was decided, and let files that were changed outside win."""
        with self.catalog.lock:
            self._journal.finish_all()
            self._found = settle(self.catalog, self.layout)

    def finish_without_lost_files(self) -> list[str]:
        """Finish what waits for files that somebody removed; what was done about each, in plain words."""
        return self._journal.finish_without_lost()

    def status(self) -> Status:
        """Whether all is well, and what is in the way where it is not."""
        return replace(
            super().status(),
            chroma_fault=self._follower.fault,
            stuck=self._journal.stuck,
            faults=tuple(f"{fault.address}: {fault.reason}" for fault in self._found),
        )

    # -- the end ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Finish what is at hand and let another process write."""
        _writers.close(self.layout.root, self, end=self._end)

    def forget(self) -> None:
        """In a forked child: leave the lock and the catalog to the parent."""
        self._lock.forget()
        self.catalog.forget_writer()

    def _end(self) -> None:
        try:
            if self._inbox:
                self._inbox.close()
            self.jobs.close()
            self._saver.close()
            for watcher in self._watchers:
                watcher.close()
            self._follower.close()
        finally:
            super().close()
            self._lock.release()

    def _wake(self) -> None:
        """Something was changed: whoever follows has work."""
        self._follower.wake_if_needed()
        for watcher in self._watchers:
            watcher.wake()

    def _embed_taken_in(self) -> None:
        """Library records whose sidecars were changed outside have no vectors yet; many wait for doctor."""
        with self.catalog.reading() as db:
            (bare,) = db.execute(
                "SELECT count(*) FROM records WHERE tier = 'library' "
                "AND id NOT IN (SELECT record FROM embeddings)"
            ).fetchone()
        if 0 < bare <= changing.OPERATION:
            with contextlib.suppress(MemedexError, *REFUSALS):  # no model, or stuck: doctor says so
                self.embed_all(self.embedder, progress=Progress())


_writers: Writers[Holder] = Writers()
