"""A SQLite file with one writing connection, under a lock, and a pool of reading ones; and values for SQL.

In a replica Litestream follows a writer on another machine (`litestream restore -f`). It takes SQLite's own
locks while it changes pages, but SQLite notices changed pages only by page 1, which most commits leave alone.
So a replica is read through a new connection every time, which has cached nothing, and whose lock is held
until its reader is done.
"""

import errno
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Self, TypeGuard
from weakref import WeakSet

from store.disk.files import Disk, identity
from store.errors import InvalidRecord, MaybeWritten, NotWritten, ReadOnly
from store.permissions import OPERATOR, Actor


def is_replica(path: Path) -> bool:
    """Whether Litestream follows a writer into this file, so that nothing else may write to it."""
    return path.with_name(f"{path.name}-txid").exists()


def refuse_replica(path: Path) -> None:
    """Raises ReadOnly for a replica, with the remedy."""
    if is_replica(path):
        raise ReadOnly(
            f"{path} is a replica that Litestream writes to; decide on the machine that it follows. To write "
            f"here instead, end Litestream and delete {path.name}-txid"
        )


@contextmanager
def held(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Lend a new connection to a replica, which does not change until the block ends; then close it."""
    with closing(db), closing(db.execute("SELECT 1 FROM sqlite_master")) as reading:
        reading.fetchone()  # of many rows: as long as it is not read to its end, SQLite keeps its lock
        yield db


_LOG = 67_108_864  # bytes that the log keeps on the disk once it was emptied
_GONE = "it was removed or replaced while the program had it open; put it back, or restart the program"
# The transaction is in the log as a whole, but perhaps not on the disk.
_AFTER_COMMIT = (sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC)


class UnknownCommit(sqlite3.OperationalError):
    """The disk failed after a transaction was written: the next opening may find it, or not."""


def not_written(error: Exception, cause: str, *, what: str = "") -> NotWritten:
    """The error that says of `what` whether something was changed, where that is known, and why not."""
    if isinstance(error, UnknownCommit):
        return MaybeWritten(
            f"nobody knows whether {what or 'this'} was kept: the disk failed at the last moment ({cause}); "
            "check the disk, open it again and look"
        )
    return NotWritten(f"{what} could not be kept: {cause}" if what else f"nothing was changed: {cause}")


def _rule_out(db: sqlite3.Connection) -> None:
    """Write another transaction in the place of a failed one, lest it comes back. Raises UnknownCommit."""
    try:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        db.execute("BEGIN IMMEDIATE")
        try:
            db.execute(f"PRAGMA user_version = {version}")
            db.execute("COMMIT")
        except sqlite3.Error:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
    except sqlite3.Error as error:
        raise UnknownCommit(str(error)) from error


@dataclass(eq=False)
class _Connections:
    """What all actors that use one file share."""

    pool: list[sqlite3.Connection] = field(default_factory=list)  # to read by
    lent: dict[sqlite3.Connection, int] = field(default_factory=dict)  # … now, with the thread that reads
    writer: sqlite3.Connection | None = None
    opened: tuple[int, int] | None = None  # which file it was, once it is open
    lock: threading.RLock = field(default_factory=threading.RLock)
    is_closed: bool = False
    is_only_read: bool = False  # a full disk has no room for SQLite's files next to an open one

    def close_pool(self) -> None:
        """Close the connections that are no longer used for reading."""
        while self.pool:
            with suppress(IndexError):  # another thread was quicker
                self.pool.pop().close()

    def leave_to_parent(self) -> None:
        """In a forked child: use reading connections of its own, and do not write.

        SQLite forbids carrying a connection across a fork; closing one here would release the parent's locks.
        """
        self._inherited = self.writer, self.pool
        self.writer, self.pool, self.lent, self.lock = None, [], {}, threading.RLock()


class SqliteFile:
    """A SQLite file whose readers see whole transactions and whose commits survive a power cut.

    Its table `meta` keeps named values. Used by an actor: `reading` requires a valid login, every write a
    permission.
    """

    def __init__(self, path: Path, *, disk: Disk) -> None:
        self.path = path
        self.actor: Actor = OPERATOR
        self._disk = disk
        self._connections = _Connections()
        self._is_own = True  # opened here, not borrowed from another reader
        _all.add(self._connections)

    def for_actor(self, actor: Actor) -> Self:
        """The same file with this person's permissions; connections and lock are shared."""
        used = copy(self)
        used.actor, used._is_own = actor, False
        return used

    @property
    def lock(self) -> threading.RLock:
        """The lock that a writer holds."""
        return self._connections.lock

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that cannot write, until the block ends. Raises LoginEnded for an ended login."""
        self.actor.check_login()
        if self._is_replica:
            with held(self._connect()) as db:
                yield db
            return
        shared = self._connections
        pool, lent = shared.pool, shared.lent  # a child forked meanwhile has others
        try:
            db = pool.pop()
        except IndexError:
            db = self._connect_to_read()
            db.execute("PRAGMA query_only = 1")
        if shared.opened is None:
            shared.opened = identity(self.path)
        lent[db] = threading.get_ident()
        try:
            yield db
        finally:
            del lent[db]
            pool.append(db)
            if shared.is_closed:  # while this was read
                shared.close_pool()

    def rows(self, sql: str, values: Any = ()) -> list[Any]:
        """All rows that one question finds; raises as `reading` does."""
        with self.reading() as db:
            return db.execute(sql, values).fetchall()

    def row(self, sql: str, values: Any = ()) -> Any:
        """The first row that one question finds, None if there is none; raises as `reading` does."""
        with self.reading() as db:
            return db.execute(sql, values).fetchone()

    @contextmanager
    def one_moment(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that sees the file as it is at one moment, until the block ends."""
        with self.reading() as db:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Run the block as one transaction: durable when it ends, rolled back if it raises.

        Within another one of the same thread it is a part of that. Raises ReadOnly if this process does not
        write here, FileNotFoundError if the file was removed or replaced, UnknownCommit if the disk failed so
        late that nobody can know whether it counts.
        """
        self.check_writable()
        with self.lock:
            if not self.is_in_place:  # SQLite would write to the removed file, and all of it be lost
                raise FileNotFoundError(errno.ENOENT, _GONE, str(self.path))
            db = self._writer
            if db.in_transaction:
                yield db
                return
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                self._disk.step("commit", self.path)
                db.execute("COMMIT")
            except BaseException as error:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                if getattr(error, "sqlite_errorcode", None) in _AFTER_COMMIT:
                    _rule_out(db)
                raise

    def interrupt(self, thread: int | None) -> None:
        """End what this thread reads now: it raises sqlite3.OperationalError there."""
        for db, reader in self._connections.lent.copy().items():
            if reader == thread:
                db.interrupt()

    @property
    def can_write(self) -> bool:
        """Whether this process writes here, and this actor may."""
        return self._connections.writer is not None and self.actor.can_write

    def check_writable(self) -> None:
        """Raises LoginEnded or ReadOnly unless this actor may write, and this process is the one to."""
        self.actor.permit()
        if self._connections.writer is None:
            name = self.actor.name
            raise ReadOnly(f"{name} may look at this library, not change it: it is not open for writing here")

    @property
    def is_in_place(self) -> bool:
        """Whether the opened file is still at its path; always true for a replica."""
        opened = self._connections.opened
        return opened is None or opened == identity(self.path)

    def rewrite(self) -> None:
        """Rewrite the file without deleted data, and empty the write-ahead log.

        `secure_delete` overwrites deleted rows in place, but SQLite also leaves copies in unused parts of
        pages when it moves rows; only rewriting all pages removes them for sure. Raises NotWritten while
        another process is reading.
        """
        self._execute_alone("VACUUM")
        self.empty_log()

    def empty_log(self) -> None:
        """Write the write-ahead log into the file. Raises NotWritten while another process is reading."""
        self._execute_alone("PRAGMA wal_checkpoint(TRUNCATE)")

    def _execute_alone(self, step: str) -> None:
        self.check_writable()
        with self.lock:
            try:
                self._disk.step(step, self.path)
                row = self._writer.execute(step).fetchone()
            except (OSError, sqlite3.OperationalError) as error:
                raise NotWritten(f"{self.path.name} could not be rewritten: {error}") from error
        if row and row[0]:
            raise NotWritten(f"{self.path.name} is being read by another process; try again")

    def meta(self, key: str) -> str:
        """The value stored under this key; "" if there is none."""
        row = self.row("SELECT value FROM meta WHERE key = ?", [key])
        return str(row[0]) if row else ""

    def set_meta(self, key: str, value: str) -> None:
        """Store a value under this key, in its own transaction."""
        with self.writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, value])

    def close(self) -> None:
        """Close the file; does nothing for an actor's view of it."""
        if not self._is_own:
            return
        shared = self._connections
        with self.lock:
            shared.is_closed = True
            shared.close_pool()
            if shared.writer:
                shared.writer.close()
            shared.writer = None

    @property
    def _is_replica(self) -> bool:
        """Whether the file follows a writer elsewhere; one that is written here never does."""
        return self._connections.writer is None and is_replica(self.path)

    @property
    def _writer(self) -> sqlite3.Connection:
        """The one writing connection; only used after `check_writable`."""
        assert self._connections.writer is not None, "opened for reading"
        return self._connections.writer

    def _connect_to_read(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.OperationalError:
            log = self.path.with_name(f"{self.path.name}-wal")
            if self._connections.writer or not _is_full(self.path) or (log.exists() and log.stat().st_size):
                raise
            self._connections.is_only_read = True  # no process writes, and SQLite has no room for its index
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        return connect(self.path, is_only_read=self._connections.is_only_read)


_all: "WeakSet[_Connections]" = WeakSet()


def _leave_all_to_parent() -> None:
    for connections in [*_all]:
        connections.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all_to_parent)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raises sqlite3.DatabaseError where Python cannot decode what SQLite says of a damaged schema."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise sqlite3.DatabaseError(error.object.decode(errors="replace")) from error


def to_read(path: Path) -> str:
    """The URI with which SQLite only reads a file, even on a read-only disk."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    if os.access(path.parent, os.W_OK):
        return uri
    try:
        has_log = path.with_name(f"{path.name}-wal").stat().st_size > 0  # it has to be read as well
    except FileNotFoundError:  # another process may just have removed it
        has_log = False
    return uri if has_log else f"{uri}&immutable=1"


class _Connection(sqlite3.Connection):
    """Raises InvalidRecord for values that no database can hold."""

    def execute(self, sql: str, values: Any = (), /) -> sqlite3.Cursor:
        """Execute a statement. Raises InvalidRecord for an unpaired surrogate and for an endless number."""
        try:
            with plain_errors():
                return super().execute(sql, values)
        except (UnicodeEncodeError, OverflowError) as error:
            raise _cannot_be_stored(error) from error

    def executemany(self, sql: str, values: Iterable[Any], /) -> sqlite3.Cursor:
        """Execute a statement for each of the values; raises as `execute`."""
        try:
            with plain_errors():
                return super().executemany(sql, values)
        except (UnicodeEncodeError, OverflowError) as error:
            raise _cannot_be_stored(error) from error


def _cannot_be_stored(error: Exception) -> InvalidRecord:
    if isinstance(error, OverflowError):
        return InvalidRecord("a number of more than 64 bits cannot be looked up or stored")
    return InvalidRecord("a text with an unpaired surrogate (invalid Unicode) cannot be looked up or stored")


def _is_full(path: Path) -> bool:
    """Whether the disk has no room for 64 KB, of which SQLite's index of its log takes 32."""
    return shutil.disk_usage(path.parent).free < 65_536


def connect(path: Path, *, is_only_read: bool = False) -> sqlite3.Connection:
    """Connect to one of our files; to a replica or on a read-only disk, without trying to write."""
    can_write = os.access(path.parent, os.W_OK) and not is_replica(path) and not is_only_read
    target = str(path) if can_write or not path.exists() else to_read(path)
    target += "&immutable=1" if is_only_read and "immutable" not in target else ""
    db = sqlite3.connect(
        target,
        timeout=30,
        isolation_level=None,
        check_same_thread=False,
        uri=target != str(path),
        factory=_Connection,
    )
    db.row_factory = sqlite3.Row
    if can_write:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA journal_size_limit = {_LOG}")
    db.execute("PRAGMA synchronous = FULL")  # what was decided or answered must outlive a power cut
    return db


def readable(content: bytes) -> str:
    """A stored text, damaged bytes of it replaced."""
    return content.decode(errors="replace")


def versions_in(folder: Path) -> tuple[str, ...]:
    """What each version of a database adds to the one before: the folder's scripts, by their numbers."""
    return tuple(file.read_text("utf-8") for file in sorted(folder.glob("*.sql")))


def statements(script: str) -> Iterator[str]:
    """The statements of an SQL script, one by one."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement


def bring_up_to_date(
    db: sqlite3.Connection,
    versions: Sequence[str],
    *,
    application_id: int,
    begin: Callable[[sqlite3.Connection], None] = lambda db: None,
    around: Callable[[sqlite3.Connection], AbstractContextManager[None]] = lambda db: nullcontext(),
    before: Callable[[], None] = lambda: None,
) -> None:
    """Run the scripts of the versions that a database lacks, in one transaction.

    `begin` fills a new database; `around` is entered before the scripts and left after them; `before` runs
    before each statement. What another process does at the same time is waited for.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        (found,) = db.execute("PRAGMA user_version").fetchone()
        with around(db) if found < len(versions) else nullcontext():
            for statement in chain.from_iterable(map(statements, versions[found:])):
                before()
                db.execute(statement)
        if not found:
            begin(db)
        db.execute(f"PRAGMA application_id = {application_id}")
        db.execute(f"PRAGMA user_version = {len(versions)}")
        before()
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def renamed(row: sqlite3.Row, **columns: str) -> dict[str, Any]:
    """The row as keyword arguments; `actor="who"` gives the column `who` the name `actor`."""
    fields = dict(row)
    for name, column in columns.items():
        fields[name] = fields.pop(column)
    return fields


_AT_ONCE = 1_000  # rows of one statement


def marks(values: Sized) -> str:
    """A question mark for each of these values, as in `IN (?, ?, ?)`."""
    return ", ".join("?" * len(values))


def insert_rows(
    db: sqlite3.Connection,
    table: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    verb: str = "INSERT",
) -> None:
    """Insert many rows in few statements: full text writes a segment for each, which has to be merged."""
    one = f"({marks(columns)})"
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        db.execute(
            f"{verb} INTO {table} ({', '.join(columns)}) VALUES {', '.join([one] * len(part))}",
            [value for row in part for value in row],
        )


def is_integer(value: object) -> TypeGuard[int]:
    """Whether this is an integer that SQLite can store."""
    return type(value) is int and -(1 << 63) <= value < 1 << 63
