"""One SQLite file of the text memory: what all kinds have in common, one writer, readers beside it."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from store.errors import CatalogDamaged, CatalogTooNew, NotWritten, ReadOnly
from store.files import Disk, refused
from store.memory.kind import Kind
from store.sqlite_file import SqliteFile, to_read

VERSION = 1

_COMMON = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- The last change of every row that has a history, in order; a row that is gone keeps its line.
-- Resident vectors and Chroma are behind by what stands above the number they know.
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tbl TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 0, -- which state the row is in; undo brings back an earlier one's
    UNIQUE (tbl, id)
) STRICT;

CREATE TABLE decisions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    verb TEXT NOT NULL,
    who TEXT NOT NULL,
    at REAL NOT NULL,
    count INTEGER NOT NULL DEFAULT 0,
    reverses INTEGER,                   -- for undo and redo: the decision taken back
    reversed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX decisions_by_person ON decisions (who, number);
CREATE TABLE history (
    number INTEGER PRIMARY KEY,
    decision INTEGER NOT NULL,
    tbl TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,           -- the row's afterwards: still so, if nothing came after
    before_version INTEGER NOT NULL,
    before TEXT,                        -- the row it replaced, as JSON; NULL: there was none
    vector BLOB                         -- … and its vector
) STRICT;
CREATE INDEX history_by_decision ON history (decision);
CREATE INDEX history_by_id ON history (id, number);

CREATE TABLE queried (scope TEXT PRIMARY KEY, times INTEGER NOT NULL, last REAL NOT NULL) STRICT;
CREATE TABLE new_vectors (              -- of a change of model, until it is complete
    id TEXT PRIMARY KEY, text_hash TEXT NOT NULL, vector BLOB NOT NULL
) STRICT, WITHOUT ROWID;
"""

# Full-text rows keep no text of their own; triggers hold them to the table, whoever writes.
_WORDS = """
CREATE VIRTUAL TABLE {words} USING fts5 (
    {text}, content = '{table}', tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
CREATE TRIGGER {words}_added AFTER INSERT ON {table} BEGIN
    INSERT INTO {words} (rowid, {text}) VALUES (new.rowid, new.{text}); END;
CREATE TRIGGER {words}_removed AFTER DELETE ON {table} BEGIN
    INSERT INTO {words} ({words}, rowid, {text}) VALUES ('delete', old.rowid, old.{text}); END;
CREATE TRIGGER {words}_changed AFTER UPDATE OF {text} ON {table} BEGIN
    INSERT INTO {words} ({words}, rowid, {text}) VALUES ('delete', old.rowid, old.{text});
    INSERT INTO {words} (rowid, {text}) VALUES (new.rowid, new.{text}); END;
INSERT INTO {words} ({words}) VALUES ('rebuild');
"""


def words_of(table: str, text: str, *, words: str = "words") -> str:
    """The statements that make a full-text index over one column of a table."""
    return _WORDS.format(table=table, text=text, words=words)


class Database(SqliteFile):
    """The texts of one kind, their vectors and what was done to them."""

    def __init__(self, path: Path, kind: Kind, *, disk: Disk, writable: bool) -> None:
        super().__init__(path, disk=disk)
        try:
            version = _version(path, kind)
            if writable:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._writer = self._connect()
                if version == 0:
                    self._prepare(kind)
            elif version == 0:
                raise ReadOnly(f"{path} has to be made, or brought up to date, by a process that may write")
            with self.reading() as db:
                db.execute("SELECT count(*) FROM meta").fetchone()
        except sqlite3.DatabaseError as error:
            self.close()
            if isinstance(error, sqlite3.OperationalError) and "no such table" not in str(error):
                raise NotWritten(f"{path} cannot be opened: {refused(error, path)}") from error
            raise CatalogDamaged(
                f"{path} cannot be read ({error}); restore it from a backup, or move it away to begin anew"
            ) from error
        except BaseException:
            self.close()
            raise

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, the whole write path of what is only here: its commit decides, and its failure
        leaves nothing behind.

        NotWritten when the disk refuses, ReadOnly when opened for reading.
        """
        try:
            with super().writing() as db:
                yield db
        except (OSError, sqlite3.OperationalError) as error:
            raise NotWritten(f"nothing was changed: {refused(error, self.path)}") from error

    @contextmanager
    def noting(self) -> Iterator[sqlite3.Connection]:
        """A transaction for what may be lost in a power cut, at no cost to whoever waits for an answer."""
        with self.lock:
            assert self._writer is not None, "opened for reading"
            self._writer.execute("PRAGMA synchronous = NORMAL")
            try:
                with self.writing() as db:
                    yield db
            finally:
                self._writer.execute("PRAGMA synchronous = FULL")

    def rewrite(self) -> None:
        """Write the file anew without what was deleted, and empty the write-ahead log.

        `secure_delete` overwrites what is deleted where it stood, but SQLite also leaves copies of rows in
        the unused parts of pages when it moves them; only writing all pages anew is sure to lose them.
        NotWritten while another process reads at this very moment.
        """
        assert self._writer is not None, "opened for reading"
        with self.lock:
            try:
                for step in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                    self._disk.step(step, self.path)
                    row = self._writer.execute(step).fetchone()
                    if row and row[0]:
                        raise NotWritten(f"{self.path.name} is being read by another process; try again")
            except (OSError, sqlite3.OperationalError) as error:
                raise NotWritten(f"{self.path.name} could not be written anew: {error}") from error

    def check_writable(self) -> None:
        """ReadOnly when opened for reading."""
        if self._writer is None:
            raise ReadOnly("the text memory was opened for reading; close the process that writes first")

    def _connect(self) -> sqlite3.Connection:
        db = super()._connect()
        db.execute("PRAGMA secure_delete = 1")  # what is deleted is overwritten, not only unlinked
        return db

    def _prepare(self, kind: Kind) -> None:
        """Make the tables, and bring older ones up to date, in one transaction: all of it or nothing."""
        db = self._writer
        assert db is not None
        db.execute("BEGIN EXCLUSIVE")
        try:
            kind.upgrade(db, lambda name: self._disk.step(name, self.path))
            common = _COMMON + kind.schema + words_of(kind.table, kind.text)
            for statement in _statements(common):
                self._disk.step("schema", self.path)
                db.execute(statement)
            db.execute("INSERT INTO changes (tbl, id) SELECT ?, id FROM " + kind.table, [kind.table])
            db.execute("INSERT INTO meta VALUES ('epoch', ?)", [str(time.time_ns())])
            db.execute(f"PRAGMA user_version = {VERSION}")
            self._disk.step("commit", self.path)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def _version(path: Path, kind: Kind) -> int:
    """Which version wrote this file, found without writing to it; 0 for none, or for one to upgrade."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(to_read(path), uri=True)) as db:
        found = int(db.execute("PRAGMA user_version").fetchone()[0])
        if found > VERSION:
            raise CatalogTooNew(
                f"{path} was written by a newer Memedex (version {found}, this one knows {VERSION}); "
                "it was not touched: update the program"
            )
        kind.check(db)
    return found


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
