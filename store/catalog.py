"""The SQLite file: its tables, its one writer, its readers."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from store.errors import CatalogDamaged, CatalogTooNew, ReadOnly
from store.files import Disk

VERSION = 1

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;

-- Every sidecar there ever was, by its SHA-256: records, journal and history point here.
CREATE TABLE sidecars (hash TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;

CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL UNIQUE,
    folded TEXT NOT NULL UNIQUE,        -- lower case: two keys must not meet on a case-insensitive disk
    tier TEXT NOT NULL,
    came_from TEXT,
    revision INTEGER NOT NULL,
    sidecar_hash TEXT NOT NULL REFERENCES sidecars,
    image_hash TEXT NOT NULL,
    sidecar_stat TEXT NOT NULL,         -- size and time of the files, to notice changes from outside
    image_stat TEXT NOT NULL,
    name TEXT NOT NULL,
    ticker TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    captioned INTEGER NOT NULL,
    moved_at REAL NOT NULL,             -- when it came into its tier
    generation INTEGER NOT NULL         -- of its last change; grows over the whole catalog
) STRICT;
CREATE INDEX records_by_creation ON records (tier, created_at, address);
CREATE INDEX records_by_name ON records (tier, name COLLATE NOCASE, address);
CREATE INDEX records_by_move ON records (tier, moved_at, address);
CREATE INDEX records_by_generation ON records (generation);
CREATE INDEX records_by_image ON records (image_hash);

CREATE TABLE labels (                   -- kind: tag or category
    record INTEGER NOT NULL, kind TEXT NOT NULL, label TEXT NOT NULL, PRIMARY KEY (record, kind, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_by_label ON labels (kind, label, record);
CREATE VIRTUAL TABLE words USING fts5 (
    name, ticker, description, caption, tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);

CREATE TABLE vectors (key TEXT PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL) STRICT;
CREATE TABLE embeddings (
    record INTEGER NOT NULL, facet TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (record, facet)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (id TEXT PRIMARY KEY, operation TEXT NOT NULL) STRICT;
CREATE TABLE decisions (                -- what somebody did in one go
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    verb TEXT NOT NULL,
    who TEXT NOT NULL,
    at REAL NOT NULL,
    reverses TEXT,                      -- for undo and redo: the decision taken back
    reversed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX decisions_by_person ON decisions (who, number);
CREATE TABLE history (
    id INTEGER PRIMARY KEY,
    decision TEXT NOT NULL,
    verb TEXT NOT NULL,
    address TEXT NOT NULL,
    at REAL NOT NULL,
    who TEXT NOT NULL,
    reason TEXT NOT NULL,
    before TEXT,                        -- the state before and after, as JSON; NULL: was not there
    after TEXT
) STRICT;
CREATE INDEX history_by_decision ON history (decision);
CREATE INDEX history_by_address ON history (address, id);
CREATE INDEX history_by_time ON history (at);

CREATE TABLE chroma_queue (address TEXT PRIMARY KEY, generation INTEGER NOT NULL) STRICT;
CREATE TABLE drafts (
    address TEXT PRIMARY KEY, fields TEXT NOT NULL, who TEXT NOT NULL, at REAL NOT NULL
) STRICT;
"""


class Catalog:
    """One connection writes, under a lock; readers have their own and see whole transactions only."""

    def __init__(self, path: Path, *, disk: Disk, writable: bool) -> None:
        self._path = path
        self._disk = disk
        self._pool: list[sqlite3.Connection] = []
        self.lock = threading.RLock()
        try:
            self._writer = _connect(path) if writable else None
            if self._writer:
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
        """A connection that cannot write, for the length of the block."""
        try:
            db = self._pool.pop()
        except IndexError:
            db = _connect(self._path)
            db.execute("PRAGMA query_only = 1")
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
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._disk.step("commit", self._path)
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def meta(self, key: str) -> str | None:
        with self.reading() as db:
            row = db.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchone()
        return row[0] if row else None

    def set_meta(self, key: str, value: str) -> None:
        with self.writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, value])

    def backup(self, target: Path) -> None:
        """A consistent copy by SQLite's own backup interface."""
        copy = sqlite3.connect(target)
        try:
            with self.reading() as db:
                db.backup(copy)
        finally:
            copy.close()

    def check_writable(self) -> None:
        """ReadOnly unless this process is the one that writes."""
        if self._writer is None:
            raise ReadOnly(f"{self._path} is not open for writing here; a forked process opens it anew")

    def forget_writer(self) -> None:
        """In a forked child: leave writing to the parent, whose lock it is."""
        self._inherited = self._writer, self._pool  # SQLite must not close in a child what its parent opened
        self._writer, self._pool, self.lock = None, [], threading.RLock()

    def close(self) -> None:
        with self.lock:
            for db in [*self._pool, *([self._writer] if self._writer else [])]:
                db.close()
            self._pool.clear()


def damaged(path: Path, error: Exception) -> CatalogDamaged:
    """What to say, and do, when SQLite finds the file malformed."""
    return CatalogDamaged(
        f"the catalog {path} cannot be read ({error}); doctor --repair makes a new one from the sidecars and "
        "from what the old one still says, which is kept beside it"
    )


def is_made(path: Path) -> bool:
    """Whether there is a catalog; one whose making was cut short has no tables yet."""
    if not path.exists():
        return False
    db = sqlite3.connect(path, timeout=30)
    try:
        return bool(db.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.DatabaseError:  # damaged: whoever opens it says so
        return True
    finally:
        db.close()


def next_generation(db: sqlite3.Connection) -> int:
    """A number above every earlier one, within the caller's transaction."""
    row = db.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation' RETURNING value").fetchone()
    return int(row[0])


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(
        "PRAGMA synchronous = FULL"
    )  # a commit is the moment a decision is made: it must outlive a power cut
    db.execute("PRAGMA mmap_size = 1073741824")
    return db


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    _check_version(db, path)
    if db.execute("PRAGMA user_version").fetchone()[0] == 0:
        start = {"generation": 0, "secret": token_hex(32), "made_at": int(time.time())}
        db.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA.split(";\n"):
            db.execute(statement)
        db.executemany("INSERT INTO meta VALUES (?, ?)", start.items())
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")


def _check_version(db: sqlite3.Connection, path: Path) -> None:
    found = db.execute("PRAGMA user_version").fetchone()[0]
    if found > VERSION:
        raise CatalogTooNew(
            f"{path} was written by a newer Memedex (catalog version {found}, this one knows {VERSION}); "
            "it was not touched: update the program"
        )
