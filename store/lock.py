"""One process writes: an exclusive lock on the library's folder, and who holds it."""

import contextlib
import errno
import json
import os
import time
from pathlib import Path

from filelock import FileLock, Timeout

from store.errors import LibraryInUse, ReadOnly

_PATIENCE = 2.0  # seconds; longer than a command that only looks, shorter than anybody's patience


class WriterLock:
    """Held by the one process that may write; released by the system if that process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Not thread-local: whichever thread closes the library must be able to release it.
        self._lock = FileLock(path, thread_local=False)

    def acquire(self) -> None:
        """Take the lock or raise LibraryInUse, naming the holder; ReadOnly where nothing can be written."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=_PATIENCE)
        except Timeout:
            raise LibraryInUse(
                f"the library in {self._path.parent} is in use by {holder(self._path)}; close that one first "
                "(a dashboard: Ctrl-C in its terminal), or only read: list, show, search, history, export "
                "and doctor work beside it"
            ) from None
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
                raise
            raise ReadOnly(
                f"nothing can be written in {self._path.parent} ({error.strerror}): list, show, search, "
                "history and export work there; mend the permission to change anything"
            ) from error
        with contextlib.suppress(OSError):  # a full disk must not keep a library from opening
            self._holder.write_text(json.dumps({"process": os.getpid(), "since": time.time()}))

    def release(self) -> None:
        with contextlib.suppress(OSError):
            self._holder.unlink()
        self._lock.release()

    def is_free(self) -> bool:
        """Whether nobody writes at the moment."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except (Timeout, OSError):
            return False
        self._lock.release()
        return True

    def forget(self) -> None:
        """In a forked child: close our copy without unlocking the parent's."""
        descriptor = self._lock._context.lock_file_fd
        if descriptor is not None:
            os.close(descriptor)
            self._lock._context.lock_file_fd = None

    @property
    def _holder(self) -> Path:
        return holder_file(self._path)


def holder_file(lock: Path) -> Path:
    """Beside the lock, since Windows forbids reading a locked file."""
    return lock.with_suffix(".holder")


def holder(lock: Path) -> str:
    """Who writes to the library, in words."""
    try:
        known = json.loads(holder_file(lock).read_text())
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(known["since"]))
        return f"process {known['process']} since {since}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
