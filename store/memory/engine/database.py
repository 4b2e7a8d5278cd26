"""The text memory's SQLite file, which all kinds share: one writer at a time, many readers."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from copy import copy
from pathlib import Path
from typing import Self

from store.catalog import checksums, snapshots
from store.disk.files import Disk, refused
from store.disk.sqlite import SqliteFile, bring_up_to_date, not_written, readable, versions_in
from store.disk.sqlite_identity import MEMORY_ID, identify, move_foreign_logs
from store.errors import CatalogDamaged, CatalogTooNew, ForeignFile, NotWritten, ReadOnly
from store.memory.engine.kind import MemoryKind, add_functions


class Places:
    """`memory/` below one root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = folder = root / "memory"
        self.database = folder / "memory.sqlite3"  # of all kinds
        self.lock = folder / "writer.lock"  # its own: two processes may write coins and memory
        self.chroma = folder / "chroma"  # derived; may be deleted at any time
        self.worlds = folder / "worlds"  # a YAML file for each: the source of truth of its base lore
        self.originals = folder / "originals"  # imported documents as they came, by SHA-256
        self.template = folder / "context-template.txt"  # of a model's context, if one was saved
        self.retrievals = folder / "retrievals.sqlite3"  # if a setting asks to log or keep what is handed out

    def former(self, file: str) -> Path:
        """The SQLite file that one kind had up to version 1.2."""
        return self.folder / f"{file}.sqlite3"


VERSIONS = versions_in(Path(__file__).parent / "schema")  # one that was ever released is never changed
VERSION = len(VERSIONS)
ERASING = "forgetting"  # in `meta`: something was deleted for good, and files may still have copies of it
_DAMAGED = -1  # a checksum that fits no row
_CACHE = 65_536  # KiB at most for a writer: ids of imported rows are in no order, each needs another page
_OWN = {"meta", "changes", "decisions", "history"}  # tables of ours, whatever the number of its version

# The tables whose rows have a checksum, each with what tells its rows apart (SQL).
SUMMED = {
    "meta": "key", "decisions": "number", "history": "number", "pending": "id",
    "recall": "json_array(kind, id)",
    "memories": "id", "documents": "id", "sources": "id", "world_lore": "id", "worlds": "id",
    "session_memory": "id", "transcript_vectors": "id", "transcripts": "id", "events": "id",
    "memories_vectors": "key", "documents_vectors": "key", "world_lore_vectors": "key",
    "session_memory_vectors": "key", "transcript_vectors_vectors": "key",
}  # fmt: skip


class Database(SqliteFile):
    """The texts of all kinds, their vectors and their history; `of` is what one kind uses."""

    def __init__(
        self, path: Path, *, disk: Disk, writable: bool, fault: str = "", version: int = VERSION
    ) -> None:
        """A new file is made as of `version`. `fault`: why this replaces the memory's own file."""
        super().__init__(path, disk=disk)
        self.fault = fault
        self._kind: MemoryKind | None = None
        try:
            is_made = _check_is_ours(path)
            if writable:
                self._open_to_write(is_made=is_made, version=version)
            elif not is_made:
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

    def of(self, kind: MemoryKind, *, fault: str = "") -> Self:
        """The same file as one kind uses it: values of `meta` are its own. `fault`: why it reads as empty."""
        used = copy(self)
        used._kind, used._is_own, used.fault = kind, False, fault or self.fault
        return used

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Run the block as one transaction. Raises NotWritten if the disk refuses, ReadOnly if only read."""
        try:
            with super().writing() as db:
                yield db
        except (OSError, sqlite3.OperationalError) as error:
            raise not_written(error, refused(error, self.path)) from error

    @contextmanager
    def recording(self) -> Iterator[sqlite3.Connection]:
        """As `writing`, for what a power cut may lose, so that no caller waits for the disk."""
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

    def meta(self, key: str) -> str:
        """The value stored under this key, of the kind if it is one's view; "" if there is none."""
        return super().meta(self._key(key))

    def set_meta(self, key: str, value: str) -> None:
        """Store a value under this key, of the kind if it is one's view, in its own transaction."""
        super().set_meta(self._key(key), value)

    @contextmanager
    def attached(self, files: Mapping[str, Path]) -> Iterator[None]:
        """Let transactions of this block read these databases by name, while nothing else uses the file."""
        self.check_writable()
        with self.lock:
            for name, file in files.items():
                self._writer.execute(f"ATTACH ? AS {name}", [str(file)])
            try:
                yield
            finally:
                for name in files:
                    self._writer.execute(f"DETACH {name}")

    def step(self, name: str) -> None:
        """Called before a step of what changes much; a test stops the program here."""
        self._disk.step(name, self.path)

    def follow_again(self) -> None:
        """Keep checksums of tables that were made again. Raises ReadOnly if opened for reading."""
        self.check_writable()
        with self.lock:
            checksums.follow(self._writer, SUMMED)

    def _key(self, key: str) -> str:
        return self._kind.key(key) if self._kind else key

    def _open_to_write(self, *, is_made: bool, version: int) -> None:
        move_foreign_logs(self.path, disk=self._disk)
        self._connections.writer = db = self._connect()
        db.execute(f"PRAGMA cache_size = -{_CACHE}")
        if not is_made:
            prepare(db, version=version, before=lambda: self._disk.step("schema", self.path))
        checksums.follow(db, _summed(db))

    def _connect(self) -> sqlite3.Connection:
        db = super()._connect()
        install(db)
        db.text_factory = readable  # one damaged text must not stop a list; its checksum tells
        return db


def install(db: sqlite3.Connection) -> None:
    """Let this connection use the tables: they need functions, and what is deleted is overwritten."""
    checksums.install(db)
    add_functions(db)
    db.execute("PRAGMA secure_delete = 1")


def prepare(
    db: sqlite3.Connection, *, version: int = VERSION, before: Callable[[], None] = lambda: None
) -> None:
    """Make the tables, or bring them up to date."""
    install(db)
    versions = VERSIONS[:version]
    bring_up_to_date(db, versions, application_id=MEMORY_ID, around=_summed_again, before=before)


def bring_copy_up_to_date(path: Path, version: int = VERSION) -> None:
    """Give a copy of before an upgrade the tables of a version. Raises sqlite3.Error for a damaged one."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.row_factory = sqlite3.Row
        if db.execute("PRAGMA user_version").fetchone()[0] < version:
            prepare(db, version=version)


def _summed(db: sqlite3.Connection) -> dict[str, str]:
    """The tables with checksums that this version has."""
    there = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    return {table: key for table, key in SUMMED.items() if table in there}


@contextmanager
def _summed_again(db: sqlite3.Connection) -> Iterator[None]:
    """Make the checksums again after an upgrade; none fits a row that was damaged before."""
    tables = _summed(db)
    copies = snapshots.kept(Path(db.execute("PRAGMA database_list").fetchone()["file"])) if tables else ()
    for one in snapshots.restore_rows(db, copies, tables):
        db.execute("INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)", [one.table, one.key, _DAMAGED])
    yield
    damaged = []
    if tables:
        damaged = db.execute("SELECT name, key, sum FROM checksums WHERE sum = ?", [_DAMAGED]).fetchall()
    checksums.begin(db, _summed(db))
    db.executemany("INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)", damaged)


def _check_is_ours(path: Path) -> bool:
    """Whether this file is of this version; writes nothing. Raises ForeignFile or CatalogTooNew."""
    found = identify(path)
    if found is None:
        return False
    if found.application_id != MEMORY_ID and not found.tables >= _OWN:
        raise ForeignFile(
            f"{path} is {found.summary}; it was not touched: move it away to start the text memory empty"
        )
    if found.version > VERSION:
        raise CatalogTooNew(
            f"{path} was written by a newer Memedex (version {found.version}, this one knows {VERSION}); "
            "it was not touched: update the program"
        )
    return found.version == VERSION and found.application_id == MEMORY_ID


def _is_of_schema(error: sqlite3.OperationalError) -> bool:
    """Whether the file's tables are the reason (SQLITE_ERROR), not the disk or another process."""
    code = getattr(error, "sqlite_errorcode", None)  # None: a test's disk
    return code == sqlite3.SQLITE_ERROR or "no such table" in str(error)
