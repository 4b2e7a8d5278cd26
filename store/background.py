"""Work that begins when something may be new, in a thread of its own, behind whatever people do."""

import contextlib
import logging
import os
import sqlite3
import sys
import threading
from collections.abc import Callable

from store.errors import MemedexError
from store.progress import Progress

log = logging.getLogger(__name__)

_LATER = 10  # by how much its thread stands behind the others, where the system lets threads do so


class Background:
    """Runs `work` whenever it is woken, until it is closed; what is left waits where the work finds it."""

    def __init__(self, name: str, work: Callable[[Progress], object]) -> None:
        self._name = name
        self._work = work
        self._wanted = threading.Event()
        self._progress = Progress()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Work on what is there, and from now on whenever woken."""
        if self._thread is None:
            self._progress = Progress()
            self._thread = threading.Thread(target=self._follow, name=f"memedex-{self._name}", daemon=True)
            self._thread.start()
        self.wake()

    def wake(self) -> None:
        """Something may be new."""
        self._wanted.set()

    def close(self) -> None:
        """Stop before the next batch."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._progress.cancel()
            self._wanted.set()
            thread.join()

    def _follow(self) -> None:
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LATER)
        while not self._progress.cancelled:
            self._wanted.wait()
            self._wanted.clear()
            try:
                self._work(self._progress)
            except (MemedexError, OSError, sqlite3.Error):  # a full disk: tried again with the next change
                log.warning("%s stopped", self._name, exc_info=True)
