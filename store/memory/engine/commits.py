"""A short lock over each decision, so that the decisions of several processes share one sequence of numbers.

SQLite's own locks keep the transactions on one file apart. Decisions of all kinds share one sequence of
numbers, and each kind is a file of its own, so the number is chosen and committed under this lock.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from store.errors import NotWritten, ReadOnly

_POLL = 0.002  # seconds; a decision holds it for some milliseconds


@contextmanager
def deciding(folder: Path) -> Iterator[None]:
    """Hold the lock of this memory's folder; the same thread may do so several times.

    Raises ReadOnly if the folder cannot be written to, NotWritten if the disk refuses.
    """
    lock = FileLock(folder / "commits.lock", poll_interval=_POLL, is_singleton=True, preserve_lock_file=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        is_closed = error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
        kind = ReadOnly if is_closed else NotWritten
        raise kind(f"nothing was changed in {folder}: {error.strerror or error}") from error
    try:
        yield
    finally:
        lock.release()
