"""What this process writes to: one library and one text memory for each folder, whoever asks."""

import atexit
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from store.lock import WriterLock


class Writer(Protocol):
    """What holds a folder's lock."""

    def close(self) -> None: ...

    def forget(self) -> None:
        """In a forked child: leave everything to the parent."""


W = TypeVar("W", bound=Writer)


class Writers(Generic[W]):
    """All of one sort that are open here; closed when the process ends, and never inherited by a child."""

    _all: ClassVar[list["Writers[Any]"]] = []

    def __init__(self) -> None:
        self._all.append(self)
        self._open: dict[Path, W] = {}
        self._opening = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget_all)
        atexit.register(self._close_all)

    def open(self, root: Path, make: Callable[[WriterLock], W], *, lock: Path) -> W:
        """The one of this folder, made if there is none; LibraryInUse while another process has the lock."""
        with self._opening:
            if root not in self._open:
                held = WriterLock(lock)
                held.acquire()
                try:
                    self._open[root] = make(held)
                except BaseException:
                    held.release()
                    raise
            return self._open[root]

    def close(self, root: Path, writer: W, *, end: Callable[[], None]) -> None:
        """End this one, which lets go of its lock; nothing where that was done before."""
        with self._opening:  # nobody here may find it closed, nor wait in vain for the lock
            if self._open.get(root) is writer:
                try:
                    end()
                finally:
                    del self._open[root]

    def _forget_all(self) -> None:
        """A forked child has neither the parent's lock nor its threads: it must open for itself."""
        self._opening = threading.Lock()  # another thread of the parent may have held it
        inherited = list(self._open.values())
        self._open.clear()
        for writer in inherited:
            writer.forget()

    def _close_all(self) -> None:
        for writer in list(self._open.values()):
            writer.close()


def close_all() -> None:
    """Leave everything as it should be left: for a server that is told to end, which runs no `atexit`."""
    for writers in Writers._all:
        writers._close_all()
