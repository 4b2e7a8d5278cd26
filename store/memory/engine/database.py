"""One SQLite file of the text memory: what all kinds share, one writer, many readers."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from store.catalog import checksums
from store.catalog.catalog import readable
from store.disk.files import Disk, refused
from store.disk.sqlite import SqliteFile, not_written
from store.disk.sqlite_identity import MEMORY_ID, identify, move_foreign_logs, to_inspect
from store.errors import CatalogDamaged, CatalogTooNew, ForeignFile, NotWritten, ReadOnly
from store.memory.engine.commits import deciding
from store.memory.engine.kind import MemoryKind

VERSION = 6
NUMBERED = "numbered_after"  # in `meta`: decisions above it are numbered in one sequence with other kinds'

# What tells the rows of tables apart that have a checksum since version 6, besides `id` of the kind's own.
_SUMMED = {
    "meta": "key", "decisions": "number", "history": "number", "pending": "id", "recall": "id",
    "kept_vectors": "json_array(id, model, text_hash)",
}  # fmt: skip

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

# Of version 2: vectors by another model than the row's own has by now, and what they were made of. Nothing
# throws one away but `memory delete-vectors`.
_KEPT = """
CREATE TABLE kept_vectors (
    id TEXT NOT NULL, model TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (id, model, text_hash)
) STRICT, WITHOUT ROWID;
"""

# Of version 3: who wrote a state of an entry and through what; what waits for a person's decision; which
# entries are in every context, or in none.
_TRUST = """
ALTER TABLE history ADD COLUMN agent TEXT NOT NULL DEFAULT '';
ALTER TABLE history ADD COLUMN via TEXT NOT NULL DEFAULT '';
CREATE TABLE pending (
    id TEXT PRIMARY KEY,
    target TEXT NOT NULL,               -- the entry's id
    row TEXT,                           -- the entry as JSON, without its vector; NULL: to be removed
    verb TEXT NOT NULL, who TEXT NOT NULL, agent TEXT NOT NULL, via TEXT NOT NULL, at REAL NOT NULL
) STRICT;
CREATE TABLE recall (
    id TEXT PRIMARY KEY,                -- of the entry
    state TEXT NOT NULL                 -- pinned or never
) STRICT;
"""

# Of version 5, for kinds that have them: each token's state, for late interaction (`late_interaction.py`).
# Derived: triggers delete an entry's with its text.
_TOKEN_STATES = """
CREATE TABLE IF NOT EXISTS token_states (
    id TEXT PRIMARY KEY, model TEXT NOT NULL, dimensions INTEGER NOT NULL, states BLOB NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS token_states_removed AFTER DELETE ON {table} BEGIN
    DELETE FROM token_states WHERE id = old.id; END;
CREATE TRIGGER IF NOT EXISTS token_states_changed AFTER UPDATE OF {text} ON {table}
    WHEN old.{text} IS NOT new.{text} BEGIN
    DELETE FROM token_states WHERE id = old.id; END;
"""

# Full-text rows keep no text of their own; triggers keep them equal to the table.
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


def summed(kind: MemoryKind) -> dict[str, str]:
    """The tables whose rows have a checksum, each with what tells its rows apart."""
    return {**_SUMMED, **dict.fromkeys(kind.tables, "id")}


def words_of(table: str, text: str, *, words: str = "words") -> str:
    """SQL that makes a full-text index over one column of a table."""
    return _WORDS.format(table=table, text=text, words=words)


def schema(kind: MemoryKind) -> str:
    """SQL that makes the tables of a new file of this kind."""
    return _COMMON + kind.schema + words_of(kind.table, kind.text) + _KEPT + _TRUST + _token_states(kind)


def _token_states(kind: MemoryKind) -> str:
    return _TOKEN_STATES.format(table=kind.table, text=kind.text) if kind.has_token_states else ""


class Database(SqliteFile):
    """The texts of one kind, their vectors and their history."""

    def __init__(self, path: Path, kind: MemoryKind, *, disk: Disk, writable: bool, fault: str = "") -> None:
        """`fault` says why this database replaces the kind's own file, which cannot be used."""
        super().__init__(path, disk=disk)
        self.fault = fault
        self._summed = summed(kind)
        try:
            if writable:
                with deciding(path.parent):  # one process makes it, or brings it up to date
                    self._open_to_write(kind)
            elif _version(path, kind) < VERSION:
                raise ReadOnly(f"{path} has to be made, or brought up to date, by a process that may write")
            with self.reading() as db:
                db.execute("SELECT count(*) FROM meta").fetchone()
        except sqlite3.DatabaseError as error:
            self.close()
            if isinstance(error, sqlite3.OperationalError) and not _is_of_schema(error):
                raise NotWritten(f"{path} cannot be opened: {refused(error, path)}") from error
            raise CatalogDamaged(
                f"{path} cannot be read ({error}); `memory doctor --repair` makes a new one from what it "
                "still says and from its last copy, and keeps it"
            ) from error
        except BaseException:
            self.close()
            raise

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Run the block as one transaction, the whole write path of data that is only here.

        Raises NotWritten if the disk refuses, ReadOnly if opened for reading.
        """
        try:
            with super().writing() as db:
                yield db
        except (OSError, sqlite3.OperationalError) as error:
            raise not_written(error, refused(error, self.path)) from error

    @contextmanager
    def recording(self) -> Iterator[sqlite3.Connection]:
        """A transaction that a power cut may lose, so that no caller waits for the disk.

        Raises ReadOnly if opened for reading, NotWritten if the disk refuses.
        """
        self.check_writable()
        with self.lock:
            self._writer.execute("PRAGMA synchronous = NORMAL")
            try:
                with self.writing() as db:
                    yield db
            finally:
                self._writer.execute("PRAGMA synchronous = FULL")

    def check_writable(self) -> None:
        """Raises LoginEnded or ReadOnly if this actor may not write, CatalogDamaged for an unusable file."""
        self.actor.permit()
        if self.fault:
            raise CatalogDamaged(self.fault)
        if self._connections.writer is None:
            raise ReadOnly("the text memory was opened for reading; close the process that writes first")

    def _open_to_write(self, kind: MemoryKind) -> None:
        version = _version(self.path, kind)
        move_foreign_logs(self.path, disk=self._disk)
        self._connections.writer = self._connect()
        if version < VERSION:
            self._prepare(kind, version)
        elif not self._writer.execute("PRAGMA application_id").fetchone()[0]:
            self._writer.execute(f"PRAGMA application_id = {MEMORY_ID}")
        checksums.follow(self._writer, self._summed)

    def _connect(self) -> sqlite3.Connection:
        db = super()._connect()
        checksums.install(db)
        db.text_factory = readable  # one damaged text must not stop a list; its checksum tells
        db.execute("PRAGMA secure_delete = 1")  # what is deleted is overwritten, not only unlinked
        return db

    def _take_over(self, kind: MemoryKind) -> None:
        """Upgrade another program's file. Raises ForeignFile for what no check has foreseen."""
        try:
            kind.upgrade(self._writer, lambda name: self._disk.step(name, self.path))
        except (ValueError, TypeError, KeyError, sqlite3.IntegrityError) as error:
            raise ForeignFile(
                f"{self.path} is of another program and cannot be used here ({error}); move it away, "
                "then `python -m store adopt FILE` takes over what can be read"
            ) from error

    def _prepare(self, kind: MemoryKind, version: int) -> None:
        """Create the tables, or upgrade older ones, in one transaction."""
        db = self._writer
        db.execute("BEGIN EXCLUSIVE")
        try:
            if version == 0:
                self._take_over(kind)
            missing = (_KEPT if version < 2 else "") + (_TRUST if version < 3 else "")
            missing += (kind.added if version < 4 else "") + _token_states(kind)
            for statement in statements(missing if version else schema(kind)):
                self._disk.step("schema", self.path)
                db.execute(statement)
            if version == 0:
                db.execute("INSERT INTO changes (tbl, id) SELECT ?, id FROM " + kind.table, [kind.table])
                db.execute("INSERT INTO meta VALUES ('epoch', ?)", [str(time.time_ns())])
            checksums.begin(db, self._summed)
            db.execute(f"PRAGMA application_id = {MEMORY_ID}")
            db.execute(f"PRAGMA user_version = {VERSION}")
            self._disk.step("commit", self.path)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def _version(path: Path, kind: MemoryKind) -> int:
    """The version that wrote this file, read without writing; 0 if there is none, or for one to upgrade."""
    found = identify(path)
    if found is None:
        return 0
    known = {"meta", "changes", kind.table} if found.version else set(kind.takes_over)
    is_known = found.application_id == MEMORY_ID or (found.application_id == 0 and known)
    if not (is_known and (found.tables >= known or found.version > VERSION)):
        raise ForeignFile(
            f"{path} is {found.summary}; it was not touched: move it away to start {kind.name} empty"
        )
    if found.version > VERSION:
        raise CatalogTooNew(
            f"{path} was written by a newer Memedex (version {found.version}, this one knows {VERSION}); "
            "it was not touched: update the program"
        )
    with closing(sqlite3.connect(to_inspect(path), uri=True)) as db:
        kind.check(db)
    return found.version


def _is_of_schema(error: sqlite3.OperationalError) -> bool:
    """Whether the file's tables are the reason (SQLITE_ERROR), not the disk or another process."""
    code = getattr(error, "sqlite_errorcode", None)  # None: a test's disk
    return code == sqlite3.SQLITE_ERROR or "no such table" in str(error)


def statements(script: str) -> Iterator[str]:
    """The statements of an SQL script, one by one."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
