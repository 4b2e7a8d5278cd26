"""The catalog: the library's SQLite file, and its versions."""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any
from uuid import uuid4

from store.catalog import checksums, pages, snapshots
from store.disk.file_system import refuse_network
from store.disk.files import Disk, refused
from store.disk.sqlite import (
    SqliteFile,
    bring_up_to_date,
    is_replica,
    not_written,
    readable,
    to_read,
    versions_in,
)
from store.disk.sqlite_identity import CATALOG_ID, identify, move_foreign_logs
from store.errors import CatalogDamaged, CatalogTooNew, ForeignFile, NotPermitted, NotWritten
from store.operations import CaptionSource, DecisionIntent
from store.progress import Progress
from store.records import Facet

DISK_ERRORS = (OSError, sqlite3.Error)  # by the disk: full, not permitted, broken

# What each version adds to the one before, a file each; one that was ever released is never changed.
_VERSIONS = versions_in(Path(__file__).parent / "schema")
VERSION = len(_VERSIONS)
OWNER = "owner"  # in `meta`; a catalog that was salvaged begins with another one
REMOVALS, WORD_EDITS = "removals", "word edits"  # in `meta`: changes that leave no row with a generation
_OWN = {"meta", "sidecars", "records"}  # tables of every version, also before there was an application_id
_CERTAIN = _OWN | {"embeddings", "journal", "decisions", "history"}  # ours even if its number is damaged
_FORMAT = "unsupported file format"  # SQLite's words for a damaged header
_SCHEMA = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"


class Catalog(SqliteFile):
    """The SQLite file with journal, history, vectors, drafts, jobs, and the rows behind lists."""

    def __init__(self, path: Path, *, disk: Disk, writable: bool) -> None:
        super().__init__(path, disk=disk)
        if path.is_dir():
            raise damaged(path, IsADirectoryError("there is a folder in its place"))
        try:
            check_is_ours(path)
            if writable:
                refuse_network(path.parent)
                move_foreign_logs(path, disk=disk)
                self._connections.writer = self._connect()
                _prepare(self._writer, path)
            with self.reading() as db:
                check_schema(db)
                db.execute("SELECT EXISTS (SELECT 1 FROM meta, journal, labels)").fetchone()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and str(error) != _FORMAT:
                raise
            raise damaged(path, error) from error

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that cannot write, until the block ends. Raises CatalogDamaged."""
        try:
            with super().reading() as db:
                yield db
        except sqlite3.DatabaseError as error:
            if type(error) is sqlite3.DatabaseError:  # malformed; all else has a class of its own
                raise damaged(self.path, error) from error
            raise

    @contextmanager
    def scratch(self) -> Iterator[sqlite3.Connection]:
        """Lend an empty database in memory, next to which this one can be read, until the block ends."""
        self.actor.check_login()
        with closing(sqlite3.connect(":memory:", isolation_level=None, uri=True)) as db:
            db.row_factory, db.text_factory = sqlite3.Row, readable
            db.execute("ATTACH ? AS kept", [to_read(self.path)])
            yield db

    @property
    def owner(self) -> str:
        """The token that marks files derived from, or staged for, this catalog as its own."""
        if not (owner := self.meta(OWNER)) and self.can_write:
            owner = token_hex(8)
            self.set_meta(OWNER, owner)
        return owner

    def decide(
        self,
        verb: str,
        *,
        actor: str = "",
        reason: str = "",
        reverses: str | None = None,
        sources: Mapping[Facet, CaptionSource] | None = None,
        id: str | None = None,
    ) -> DecisionIntent:
        """Start a decision of this actor, or a further part of the one with this id. Raises NotPermitted."""
        self.check_writable()
        person = actor or self.actor.name
        if id is not None:
            row = self.row("SELECT who FROM decisions WHERE id = ?", [id])
            if row and row["who"] != person:
                raise NotPermitted("another user made a decision with this id")
        return DecisionIntent(
            verb,
            person,
            reason=reason,
            reverses=reverses,
            sources=sources or {},
            id=id or uuid4().hex,
            moment=self.actor.moment,
        )

    def first_fault(self) -> str:
        """A page that SQLite's check finds malformed, or a row that its checksum does not match; "" if none.

        Tables are read one by one, so that what Litestream writes to a replica never waits for all of them.
        """
        try:
            with self.reading() as db:
                parts = pages.parts(db)
            for part in parts:
                with self.reading() as db:
                    if faults := pages.faults(db, part):
                        return faults[0]
            with self.reading() as db:
                return checksums.first_fault(db)
        except CatalogDamaged as error:
            return str(error.__cause__)

    def backup(self, target: Path) -> None:
        """Write a consistent copy with SQLite's backup interface."""
        copy = sqlite3.connect(target)
        try:
            with self.reading() as db:
                db.backup(copy)
        finally:
            copy.close()

    def keep_snapshot(self, reason: snapshots.Why, *, progress: Progress | None = None) -> None:
        """Copy the catalog next to it, daily only if that is due; it only reads, so writers do not wait."""
        self.check_writable()
        snapshots.keep(self, reason, progress=progress)

    def _connect(self) -> sqlite3.Connection:
        db = super()._connect()
        checksums.install(db)
        # One damaged text must not stop a list: hashes and checksums tell what is not what was written.
        db.text_factory = readable
        db.execute("PRAGMA mmap_size = 1073741824")
        return db


def check_schema(db: sqlite3.Connection) -> None:
    """Raises sqlite3.DatabaseError if a table, index or trigger is not what the file's version made.

    SQLite accepts a damaged name of a column, and tells of it when something reads that column. A trigger
    that was removed by hand loses nothing: doctor compares the rows with their checksums.
    """
    (version,) = db.execute("PRAGMA user_version").fetchone()
    found = dict(db.execute(_SCHEMA).fetchall())
    if not version and found:
        raise sqlite3.DatabaseError("the number of its version is damaged")
    for name, sql in _schema_of(version).items():
        if found.get(name) != sql and (name in found or not sql.startswith("CREATE TRIGGER")):
            raise sqlite3.DatabaseError(f"{name} in its schema is damaged")


@cache
def _schema_of(version: int) -> dict[str, str]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        checksums.install(db)
        bring_up_to_date(db, _VERSIONS[:version], application_id=CATALOG_ID, begin=lambda db: None)
        return dict(db.execute(_SCHEMA).fetchall())


def read_json(text: str, what: str) -> Any:
    """Parse a JSON value of the catalog. Raises CatalogDamaged, with the remedy, if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise CatalogDamaged(f"{what} in the catalog is damaged; doctor --repair gives it back") from error


@contextmanager
def opening_errors(path: Path) -> Iterator[None]:
    """Raises CatalogDamaged or NotWritten, with the remedy, in place of the disk's errors; not of SQL's."""
    try:
        yield
    except DISK_ERRORS as error:
        if type(error) is sqlite3.DatabaseError:
            raise damaged(path, error) from error
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
            raise
        place = path.parent
        raise NotWritten(f"the library in {place} cannot be opened: {refused(error, place)}") from error


@contextmanager
def writing_errors(what: str) -> Iterator[None]:
    """Raises NotWritten, whose message begins with `what`, in place of errors of the disk."""
    try:
        yield
    except DISK_ERRORS as error:
        raise not_written(error, str(error), what=what) from error


def check_is_ours(path: Path) -> None:
    """Check the database at this path, writing nothing. Raises ForeignFile, CatalogTooNew, DatabaseError."""
    found = identify(path)
    if found is None:
        return
    own = _OWN if found.application_id == 0 else _CERTAIN
    if found.application_id != CATALOG_ID and not found.tables >= own:
        raise ForeignFile(
            f"{path} is {found.summary}; it was not touched. Move it away, or doctor --repair moves it aside "
            "whole and begins a new catalog from the sidecars"
        )
    if found.version > VERSION:
        raise CatalogTooNew(
            f"{path} was written by a newer Memedex (catalog version {found.version}, this one knows "
            f"{VERSION}); it was not touched: update the program. If no newer one was ever used here, this "
            "number is damaged: move the catalog away, and the next opening makes one from its last copy"
        )


def damaged(path: Path, error: Exception) -> CatalogDamaged:
    """The error, with the remedy, for a catalog that SQLite finds malformed."""
    if is_replica(path):
        return CatalogDamaged(
            f"the replica {path} is damaged ({error}), for example because Litestream was ended while it "
            f"wrote. Start `litestream restore -f` again; if that does not help, delete it with its -txid "
            "file before"
        )
    return CatalogDamaged(
        f"the catalog {path} cannot be read ({error}); doctor --repair makes a new one from the sidecars and "
        "from what the old one still says, which is kept next to it"
    )


def is_made(path: Path) -> bool:
    """Whether the catalog exists with all tables of this version."""
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        return False
    try:
        check_is_ours(path)
        found = identify(path)
    except (sqlite3.DatabaseError, CatalogTooNew, ForeignFile):  # opening it reports this
        return True
    return found is not None and found.version >= VERSION


def current_generation(db: sqlite3.Connection) -> int:
    """The library's generation: one more with each change of a record."""
    return int(db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])


def next_generation(db: sqlite3.Connection) -> int:
    """Increment the library's generation within the caller's transaction; returns the new number."""
    row = db.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation' RETURNING value").fetchone()
    return int(row[0])


def next_derived(db: sqlite3.Connection) -> None:
    """Signal that rows derived from the records changed while the records stayed the same."""
    count_up(db, "derived")


def next_word_edit(db: sqlite3.Connection) -> None:
    """Signal that words by which records are found changed while the records stayed the same."""
    count_up(db, WORD_EDITS)


def count_up(db: sqlite3.Connection, key: str) -> None:
    """Increment a number of `meta` within the caller's transaction; without one it becomes 1."""
    counted = "ON CONFLICT DO UPDATE SET value = CAST(value AS INTEGER) + 1"
    db.execute(f"INSERT INTO meta VALUES (?, 1) {counted}", [key])


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    found = db.execute("PRAGMA user_version").fetchone()[0]
    check_schema(db)
    if found == VERSION:
        if db.execute("PRAGMA application_id").fetchone()[0] != CATALOG_ID:
            db.execute(f"PRAGMA application_id = {CATALOG_ID}")
        return
    if found:
        snapshots.make(path, "upgrade")
    try:
        bring_up_to_date(db, _VERSIONS, application_id=CATALOG_ID, begin=_begin)
    except BaseException:
        db.close()  # as if it never began
        raise


def _begin(db: sqlite3.Connection) -> None:
    start = {"generation": 0, "secret": token_hex(32), "made_at": int(time.time())}
    db.executemany("INSERT INTO meta VALUES (?, ?)", start.items())
