"""An exclusive lock on a library's folder, so that only one process writes; and what this one has open."""

import atexit
import contextlib
import errno
import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from filelock import FileLock, Timeout

from store.disk.aside import carry_out_moves, move_aside
from store.disk.exchange import finish_exchanges, is_interrupted
from store.disk.files import Disk
from store.errors import LibraryInUse, ReadOnly

_TIMEOUT = 2.0  # seconds; longer than a command that only looks, shorter than anybody's patience


class WriterLock:
    """The lock of the one process that may write; the system releases it if that process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Not thread-local: whichever thread closes the library must be able to release it.
        self._lock = FileLock(path, thread_local=False)

    @property
    def is_held(self) -> bool:
        """Whether this process has it, by this object."""
        return self._lock.is_locked

    def try_acquire(self) -> bool:
        """Take the lock if it is free; whether it was. Raises ReadOnly as `acquire` does."""
        try:
            self.acquire(timeout=0)
        except LibraryInUse:
            return False
        return True

    def acquire(self, *, timeout: float = _TIMEOUT) -> None:
        """Take the lock, waiting so many seconds at most. Raises LibraryInUse, or ReadOnly."""
        root = self._path.parent.parent
        try:
            while not self._lock.is_locked:
                finish_exchanges(root)  # before the folder is made whose place a restored one takes
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._make_way()
                self._lock.acquire(timeout=timeout)
                if is_interrupted(root):  # it began since, and this may be the lock of a folder that goes
                    self._lock.release()
        except Timeout:
            raise LibraryInUse(
                f"the library in {self._path.parent} is in use by {holder(self._path)}; close that one first "
                "(a dashboard: Ctrl-C in its terminal), or only read: list, show, search, history, export "
                "and doctor still work"
            ) from None
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
                raise
            raise ReadOnly(
                f"nothing can be written in {self._path.parent} ({error.strerror}): list, show, search, "
                "history and export work there; fix the permission to change anything"
            ) from error
        with contextlib.suppress(OSError):  # a full disk must not keep a library from opening
            self._holder.write_text(json.dumps({"process": os.getpid(), "since": time.time()}))

    def release(self) -> None:
        """Let other processes write; does nothing if another process has the lock."""
        if not self.is_held:
            return
        with contextlib.suppress(OSError):
            self._holder.unlink()
        self._lock.release()

    def is_free(self) -> bool:
        """Whether no process holds the lock now."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._is_foreign:
                return True
            self._lock.acquire(timeout=0)
        except (Timeout, OSError):
            return False
        self._lock.release()
        return True

    def detach_after_fork(self) -> None:
        """In a forked child: close the inherited descriptor without releasing the parent's lock."""
        descriptor = self._lock._context.lock_file_fd
        if descriptor is not None:
            os.close(descriptor)
            self._lock._context.lock_file_fd = None

    @property
    def _is_foreign(self) -> bool:
        """Whether the lock file has content: ours is empty, and locking another's would truncate it."""
        return self._path.is_file() and self._path.stat().st_size > 0

    def _make_way(self) -> None:
        names = [self._path.name] if self._is_foreign else []
        if self._holder.is_file() and self._holder.stat().st_size and not _since(self._holder):
            names.append(self._holder.name)
        if names:
            into, what = self._path.parent, f"files of other programs ({', '.join(names)})"
            move_aside(names, source=into, into=into, what=what, disk=Disk())
            carry_out_moves(into, disk=Disk())  # the history is written once there is one

    @property
    def _holder(self) -> Path:
        return holder_file(self._path)


def holder_file(lock: Path) -> Path:
    """The file that names the holder, apart from the lock because Windows forbids reading a locked file."""
    return lock.with_suffix(".holder")


def holder(lock: Path) -> str:
    """The process that holds the lock, described for people."""
    return _since(holder_file(lock)) or "another process"


def _since(file: Path) -> str:
    """The holder that this file describes; "" if the file is missing or was not written by Memedex."""
    try:
        known = json.loads(file.read_text())
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(known["since"]))
        return f"process {int(known['process'])} since {since}"
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return ""


class FairLock:
    """Runs one worker at a time, so that page requests keep half of the interpreter's time."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()

    @contextmanager
    def acquire(self, *, unless: Callable[[], bool]) -> Iterator[None]:
        """Wait until all that came before are done, or until `unless` holds after `recheck`."""
        mine = object()
        with self._changed:
            self._waiting.append(mine)
            self._changed.wait_for(lambda: self._waiting[0] is mine or unless())
        try:
            yield
        finally:
            with self._changed:
                self._waiting.remove(mine)
                self._changed.notify_all()

    def recheck(self) -> None:
        """Let all that wait look again whether they still want to."""
        with self._changed:
            self._changed.notify_all()


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
        """The writer of this folder, made if none is open. Raises what `acquire` raises."""
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
