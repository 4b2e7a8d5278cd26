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

# What each version adds to the one before; a version that was ever released is never changed.
_FIRST = """
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

_DUPLICATES = """
CREATE TABLE verdicts (                 -- what somebody said about two records; the last of a pair stands
    id INTEGER PRIMARY KEY,
    decision TEXT NOT NULL,
    first TEXT NOT NULL,                -- the smaller of the two addresses
    second TEXT NOT NULL,
    at REAL NOT NULL,
    who TEXT NOT NULL,
    before TEXT,                        -- what the first is to the second; NULL: nothing was said
    after TEXT
) STRICT;
CREATE INDEX verdicts_by_first ON verdicts (first, second, id);
CREATE INDEX verdicts_by_second ON verdicts (second, id);
CREATE INDEX verdicts_by_decision ON verdicts (decision);

-- All below is derived from pictures, names and verdicts.
CREATE TABLE fingerprints (
    number INTEGER PRIMARY KEY,
    image_hash TEXT NOT NULL UNIQUE,
    print BLOB NOT NULL,                -- empty: nothing to see
    compared INTEGER NOT NULL DEFAULT 0 -- whether lookalikes has all that it resembles
) STRICT;
CREATE TABLE lookalikes (               -- pictures by their hash, each pair in both directions
    picture TEXT NOT NULL,
    other TEXT NOT NULL,
    distance INTEGER NOT NULL,          -- differing bits of 256
    mirrored INTEGER NOT NULL,
    PRIMARY KEY (picture, other)
) STRICT, WITHOUT ROWID;
CREATE TABLE spellings (                -- what a record is compared by
    record INTEGER PRIMARY KEY,
    image_hash TEXT NOT NULL,
    name TEXT NOT NULL,
    name_skeleton TEXT NOT NULL,
    ticker TEXT NOT NULL,
    ticker_skeleton TEXT NOT NULL
) STRICT;
CREATE INDEX spellings_by_name ON spellings (name_skeleton);
CREATE INDEX spellings_by_ticker ON spellings (ticker_skeleton);
CREATE INDEX spellings_by_picture ON spellings (image_hash);
CREATE TABLE suspicions (               -- the most likely original or copy of a record that nobody judged yet
    record INTEGER PRIMARY KEY, sure REAL NOT NULL, kind TEXT NOT NULL
) STRICT;
CREATE INDEX suspicions_by_certainty ON suspicions (sure);
CREATE TABLE unexamined (record INTEGER PRIMARY KEY) STRICT;
"""

_JOBS = """
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,                 -- empty: work that ends with the program
    name TEXT NOT NULL,
    who TEXT NOT NULL,
    decision TEXT NOT NULL,
    state TEXT NOT NULL,
    options TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '{}',
    error TEXT NOT NULL DEFAULT '',
    total INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0,
    made_at REAL NOT NULL,
    ended_at REAL NOT NULL DEFAULT 0,
    worked REAL NOT NULL DEFAULT 0      -- seconds
) STRICT;
CREATE INDEX jobs_by_state ON jobs (state, id);
CREATE TABLE job_items (
    job INTEGER NOT NULL,
    position INTEGER NOT NULL,
    key TEXT NOT NULL,                  -- mostly a record's address
    payload TEXT,
    state TEXT NOT NULL DEFAULT 'waiting',
    reason TEXT NOT NULL DEFAULT '',
    at REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (job, position),
    UNIQUE (job, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_items_by_state ON job_items (job, state, position);
"""

_DRAFTS = """
ALTER TABLE drafts RENAME TO drafts_of_all;
CREATE TABLE drafts (                   -- what is being typed, one for each coin and person
    address TEXT NOT NULL, fields TEXT NOT NULL, who TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (address, who)
) STRICT;
INSERT INTO drafts SELECT * FROM drafts_of_all;
DROP TABLE drafts_of_all;
CREATE TABLE sources (                  -- texts that a model wrote; without one, a person did
    decision TEXT NOT NULL,
    address TEXT NOT NULL,
    facet TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    edited INTEGER NOT NULL,            -- whether a person changed it before saving
    PRIMARY KEY (decision, address, facet)
) STRICT;
"""

_DRAFTING = """
CREATE TABLE suggestions (              -- what a model proposes; nothing of it is the record's yet
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    facet TEXT NOT NULL,                -- of the caption, or tags, or new_tags (the taxonomy knows none)
    text TEXT NOT NULL,                 -- tags are separated by commas
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,               -- name and version; empty where no language model was asked
    hint TEXT NOT NULL,
    who TEXT NOT NULL,                  -- who asked for it
    job INTEGER,
    at REAL NOT NULL,
    state TEXT NOT NULL,                -- open, taken, refused, replaced (by a newer one), trial
    settled_at REAL NOT NULL DEFAULT 0,
    settled_by TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX suggestions_by_address ON suggestions (address, state);
CREATE INDEX suggestions_by_state ON suggestions (state, address);
CREATE INDEX suggestions_by_job ON suggestions (job);
CREATE TABLE prompts (                  -- every version that was ever saved or asked with
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    who TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (name, version)
) STRICT, WITHOUT ROWID;
"""

_QUEUE = """
CREATE TABLE taxonomies (               -- what somebody made of the taxonomy: the whole text
    number INTEGER PRIMARY KEY,
    decision TEXT NOT NULL UNIQUE,
    at REAL NOT NULL,
    who TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL
) STRICT;
CREATE TABLE troubles (                 -- why a record cannot go on; stands while it has this revision
    address TEXT PRIMARY KEY, revision INTEGER NOT NULL, reason TEXT NOT NULL, at REAL NOT NULL
) STRICT;
CREATE TABLE inbox (                    -- what arrived in the watched folder, so that nothing is taken twice
    path TEXT PRIMARY KEY,              -- below the folder
    stat TEXT NOT NULL,                 -- its size and time when it was looked at
    reason TEXT NOT NULL,               -- why it, or something in it, was refused; empty: taken
    at REAL NOT NULL
) STRICT;
"""

_SEARCHING = """
CREATE TABLE golden (                   -- questions with their right answers; also files in golden/
    line TEXT PRIMARY KEY,
    answers TEXT NOT NULL,              -- addresses, as JSON
    collection TEXT NOT NULL,
    who TEXT NOT NULL,
    at REAL NOT NULL
) STRICT;
CREATE TABLE judgements (               -- what somebody said of one result of a question
    line TEXT NOT NULL,
    address TEXT NOT NULL,
    good INTEGER NOT NULL,
    who TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (line, address)
) STRICT, WITHOUT ROWID;
CREATE TABLE calibrations (             -- of one model each; the newest version stands
    version INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    at REAL NOT NULL,
    who TEXT NOT NULL,
    records INTEGER NOT NULL,
    questions TEXT NOT NULL,
    figures TEXT NOT NULL               -- kind of question → facet → mean and deviation, as JSON
) STRICT;
CREATE TABLE evaluations (              -- the last one of each model
    model TEXT PRIMARY KEY, at REAL NOT NULL, who TEXT NOT NULL, report TEXT NOT NULL
) STRICT;
CREATE TABLE maps (                     -- where records lie in two dimensions; derived
    name TEXT PRIMARY KEY,              -- facet or fused, and how it was made
    fingerprint TEXT NOT NULL,
    at REAL NOT NULL,
    addresses TEXT NOT NULL,
    points BLOB NOT NULL                -- (n, 2) float32
) STRICT;
"""

_REVIEWING = """
CREATE INDEX history_of_imports ON history (reason, address) WHERE verb = 'import';
CREATE INDEX history_by_person ON history (who, at);
"""

_VERSIONS = (_FIRST, _DUPLICATES, _JOBS, _DRAFTS, _DRAFTING, _QUEUE, _SEARCHING, _REVIEWING)
VERSION = len(_VERSIONS)


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
    """Whether there is a catalog with all its tables: not one cut short in the making, nor an older one's."""
    if not path.exists():
        return False
    db = sqlite3.connect(path, timeout=30)
    try:
        return int(db.execute("PRAGMA user_version").fetchone()[0]) >= VERSION
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
