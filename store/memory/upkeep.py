"""What keeps a memory in order: its maintainer, and Chroma in step with SQLite."""

from abc import ABC, abstractmethod
from contextlib import suppress

from store.catalog.catalog import DISK_ERRORS
from store.disk.aside import Aside
from store.disk.files import Disk
from store.disk.lock import WriterLock
from store.errors import MemedexError
from store.memory.chroma.follower import MemoryFollower, behind
from store.memory.decisions import Decisions
from store.memory.engine.passages import Passages
from store.memory.maintainer import MemoryMaintainer
from store.progress import Progress


class MemoryUpkeep(Decisions, ABC):
    """A memory's maintainer, in the process that has one, and what it does in Chroma."""

    _maintainer: MemoryMaintainer | None
    _disk: Disk | None

    @property
    def usable(self) -> list[Passages]:
        """The kinds whose files can be used."""
        return [passages for passages in self.passages.values() if not passages.fault]

    def wait_for_chroma(self, timeout: float | None = None) -> bool:
        """Wait until Chroma has every decision (True), fails, or takes too long (False).

        Chroma of a memory that another process keeps is not waited for.
        """
        return (follower := self._follower) is None or follower.wait(timeout)

    def follow_chroma(self, progress: Progress | None = None, *, patience: float | None = None) -> str:
        """As `ChromaFollower.follow`; "" where another process keeps the memory."""
        return follower.follow(progress, patience=patience) if (follower := self._follower) else ""

    def check_chroma(self) -> list[str]:
        """Differences between Chroma and SQLite, one sentence each; only in the process that keeps it."""
        self.actor.check_login()
        return follower.check() if (follower := self._follower) else []

    def rebuild_chroma(self) -> None:
        """Rebuild Chroma from SQLite's vectors; needs no model."""
        self.actor.permit()
        if follower := self._follower:
            follower.rebuild()

    @abstractmethod
    def _recover(self) -> None:
        """Finish what earlier processes left."""

    def _note_aside(self, aside: Aside) -> None:
        self.usable[0].record_aside(aside, root=self.places.root)

    @property
    def _follower(self) -> MemoryFollower | None:
        return self._maintainer.follower if self._maintainer else None

    def _wake(self) -> None:
        if self._maintainer:
            self._maintainer.wake()

    def _finish_erasing(self, passages: Passages) -> None:
        if self._maintainer:
            self._maintainer.finish_erasing(passages)
            return
        maintainer = self._new_maintainer(WriterLock(self.places.lock))  # for this alone
        try:
            maintainer.finish_erasing(passages)
        finally:
            maintainer.close()
            maintainer.release()

    def _follow_if_free(self, progress: Progress | None, longest: float) -> str:
        """Let Chroma follow what was written here, unless another process keeps the memory and does so."""
        if not any(map(behind, self.usable)):
            return ""
        maintainer = self._new_maintainer(WriterLock(self.places.lock))
        try:
            with suppress(MemedexError, *DISK_ERRORS):  # the next opening does it
                maintainer.maintain()
            return maintainer.close(progress, longest=longest)
        finally:
            maintainer.release()

    def _new_maintainer(self, lock: WriterLock) -> MemoryMaintainer:
        return MemoryMaintainer(
            lock, self.places, self.database, self.usable,
            follower=lambda: MemoryFollower(
                self.places, self.usable, note=self._note_aside, disk=self._disk
            ),
            recover=self._recover,
        )  # fmt: skip
