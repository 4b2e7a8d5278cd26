"""The catalog: the SQLite file of the coins, and its versions."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_hex

from store.errors import CatalogDamaged, CatalogTooNew, NotWritten
from store.files import Disk, refused
from store.sqlite_file import SqliteFile, connect

REFUSALS = (OSError, sqlite3.Error)  # by the disk: full, not permitted, broken

# What each version adds to the one before, a file each; one that was ever released is never changed.
_VERSIONS = tuple(
    file.read_text("utf-8") for file in sorted((Path(__file__).parent / "schema").glob("*.sql"))
)
VERSION = len(_VERSIONS)


class Catalog(SqliteFile):
    """Journal, history, vectors, drafts, jobs, and the rows that lists are made of."""

    def __init__(self, path: Path, *, disk: Disk, writable: bool) -> None:
        super().__init__(path, disk=disk)
        try:
            if writable:
                self._writer = self._connect()
                _prepare(self._writer, path)
            with self.reading() as db:
                _check_version(db, path)
                db.execute("SELECT count(*) FROM meta, journal").fetchone()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "no such table" not in str(error):
                raise
            raise damaged(path, error) from error

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that cannot write, for the length of the block; CatalogDamaged, with the way out."""
        try:
            with super().reading() as db:
                yield db
        except sqlite3.DatabaseError as error:
            if type(error) is sqlite3.DatabaseError:  # malformed; all else has a class of its own
                raise damaged(self.path, error) from error
            raise

    def backup(self, target: Path) -> None:
        """A consistent copy by SQLite's own backup interface."""
        copy = sqlite3.connect(target)
        try:
            with self.reading() as db:
                db.backup(copy)
        finally:
            copy.close()

    def forget_writer(self) -> None:
        """In a forked child: leave writing to the parent, whose lock it is."""
        self._inherited = self._writer, self._pool  # SQLite must not close in a child what its parent opened
        self._writer, self._pool, self.lock = None, [], threading.RLock()

    def _connect(self) -> sqlite3.Connection:
        db = super()._connect()
        db.execute("PRAGMA mmap_size = 1073741824")
        return db


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """CatalogDamaged or NotWritten, with the way out, where the disk refuses; wrong SQL stays what it is."""
    try:
        yield
    except REFUSALS as error:
        if type(error) is sqlite3.DatabaseError:
            raise damaged(path, error) from error
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
            raise
        place = path.parent
        raise NotWritten(f"the library in {place} cannot be opened: {refused(error, place)}") from error


@contextmanager
def keeping(what: str) -> Iterator[None]:
    """NotWritten, in words about what could not be kept, where the disk refuses."""
    try:
        yield
    except REFUSALS as error:
        raise NotWritten(f"{what} could not be kept: {error}") from error


def damaged(path: Path, error: Exception) -> CatalogDamaged:
    """What to say, and do, when SQLite finds the file malformed."""
    return CatalogDamaged(
        f"the catalog {path} cannot be read ({error}); doctor --repair makes a new one from the sidecars and "
        "from what the old one still says, which is kept beside it"
    )


def is_made(path: Path) -> bool:
    """Whether there is a catalog with all its tables: not one cut short in the making, nor an older one's."""
    if not path.exists():
        return False
    try:
        with closing(connect(path)) as db:
            return int(db.execute("PRAGMA user_version").fetchone()[0]) >= VERSION
    except sqlite3.DatabaseError:  # damaged: whoever opens it says so
        return True


def next_generation(db: sqlite3.Connection) -> int:
    """A number above every earlier one, within the caller's transaction."""
    row = db.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation' RETURNING value").fetchone()
    return int(row[0])


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    _check_version(db, path)
    found = db.execute("PRAGMA user_version").fetchone()[0]
    if found == VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        for statements in _VERSIONS[found:]:
            for statement in statements.split(";\n"):
                db.execute(statement)
        if not found:
            start = {"generation": 0, "secret": token_hex(32), "made_at": int(time.time())}
            db.executemany("INSERT INTO meta VALUES (?, ?)", start.items())
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        db.close()  # as if it never began
        raise


def _check_version(db: sqlite3.Connection, path: Path) -> None:
    found = db.execute("PRAGMA user_version").fetchone()[0]
    if found > VERSION:
        raise CatalogTooNew(
            f"{path} was written by a newer Memedex (catalog version {found}, this one knows {VERSION}); "
            "it was not touched: update the program"
        )
