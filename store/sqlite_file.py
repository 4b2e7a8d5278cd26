"""One SQLite file of ours: one connection writes, under a lock; readers have their own."""

import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from store.errors import ReadOnly
from store.files import Disk

_GONE = "it was removed or replaced while the program had it open; put it back, or start the program anew"


class SqliteFile:
    """Readers see whole transactions; a commit outlives a power cut. Its table `meta` keeps named values."""

    def __init__(self, path: Path, *, disk: Disk) -> None:
        self.path = path
        self._disk = disk
        self._pool: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None  # which file it was, once it is open
        self.lock = threading.RLock()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that cannot write, for the length of the block."""
        try:
            db = self._pool.pop()
        except IndexError:
            db = self._connect()
            db.execute("PRAGMA query_only = 1")
        if self._opened is None:
            self._opened = _identity(self.path)
        try:
            yield db
        finally:
            self._pool.append(db)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: durable when the block ends, as if it never began when the block raises."""
        self.check_writable()
        assert self._writer is not None
        with self.lock:
            if not self.is_in_place:  # SQLite would write to the removed file, and all of it be lost
                raise FileNotFoundError(errno.ENOENT, _GONE, str(self.path))
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._disk.step("commit", self.path)
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def check_writable(self) -> None:
        """ReadOnly unless this process is the one that writes."""
        if self._writer is None:
            raise ReadOnly(f"{self.path} is not open for writing here; a forked process opens it anew")

    @property
    def is_in_place(self) -> bool:
        """Whether the file that was opened still lies where it lay: not removed, not replaced."""
        return self._opened is None or self._opened == _identity(self.path)

    def meta(self, key: str) -> str:
        """What is kept under this key; "" when nothing is."""
        with self.reading() as db:
            row = db.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchone()
        return str(row[0]) if row else ""

    def set_meta(self, key: str, value: str) -> None:
        with self.writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, value])

    def close(self) -> None:
        with self.lock:
            for db in [*self._pool, *([self._writer] if self._writer else [])]:
                db.close()
            self._pool.clear()
            self._writer = None

    def _connect(self) -> sqlite3.Connection:
        return connect(self.path)


def connect(path: Path) -> sqlite3.Connection:
    """A connection to one of our files; where nothing can be written, one that does not try to."""
    can_write = os.access(path.parent, os.W_OK)
    target = str(path) if can_write or not path.exists() else to_read(path)
    db = sqlite3.connect(
        target, timeout=30, isolation_level=None, check_same_thread=False, uri=target != str(path)
    )
    db.row_factory = sqlite3.Row
    if can_write:
        db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")  # what was decided or answered must outlive a power cut
    return db


def to_read(path: Path) -> str:
    """The URI by which SQLite only reads a file, also on a read-only disk, where it can make none."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    log = path.with_name(f"{path.name}-wal")
    has_log = log.exists() and log.stat().st_size > 0  # what is in it has to be read as well
    return uri if has_log or os.access(path.parent, os.W_OK) else f"{uri}&immutable=1"


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells this file from another one of its name; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
