"""The libraries and text memories that this process has open for writing, one for each folder."""

import atexit
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from store.disk.lock import WriterLock

_ENDING = 10.0  # seconds that a program which ends waits for each Chroma: who ends it has no long patience


class Writer(Protocol):
    """An object that holds the lock of a folder."""

    def close(self, *, longest: float) -> None:
        """Finish writing, wait for Chroma so many seconds at most, and let another process write."""

    def detach_after_fork(self) -> None:
        """In a forked child: leave files and lock to the parent."""


W = TypeVar("W", bound=Writer)


class Writers(Generic[W]):
    """The open writers of one kind, by folder; closed at exit, never inherited by a forked child."""

    _all: ClassVar[list["Writers[Any]"]] = []

    def __init__(self) -> None:
        self._all.append(self)
        self._open: dict[Path, W] = {}
        self._opening = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget_all)
        atexit.register(self._close_all)

    def open(
        self,
        root: Path,
        make: Callable[[WriterLock], W],
        *,
        lock: Path,
        acquire: Callable[[WriterLock], object] = WriterLock.acquire,
    ) -> W:
        """The writer of this folder, made if none is open.

        Raises what `acquire` raises: by default LibraryInUse if another process holds the lock.
        """
        with self._opening:
            if root not in self._open:
                held = WriterLock(lock)
                acquire(held)
                try:
                    self._open[root] = make(held)
                except BaseException:
                    held.release()
                    raise
            return self._open[root]

    def has(self, root: Path) -> bool:
        """Whether a writer of this folder is open."""
        return root in self._open

    def close(self, root: Path, writer: W, *, end: Callable[[], None]) -> None:
        """Close this writer with `end`, which releases its lock; does nothing if it is closed already."""
        with self._opening:  # no thread may find it closed, nor wait in vain for the lock
            if self._open.get(root) is writer:
                try:
                    end()
                finally:
                    del self._open[root]

    def _forget_all(self) -> None:
        """In a forked child: drop all writers. The child has neither the parent's lock nor its threads."""
        self._opening = threading.Lock()  # another thread of the parent may have held it
        inherited = list(self._open.values())
        self._open.clear()
        for writer in inherited:
            writer.detach_after_fork()

    def _close_all(self) -> None:
        for writer in list(self._open.values()):
            writer.close(longest=_ENDING)


def close_all() -> None:
    """Close all writers. For a server that ends by a signal, when `atexit` does not run."""
    for writers in Writers._all:
        writers._close_all()
