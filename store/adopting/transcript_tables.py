"""The tables of a transcript database, in SQLite or DuckDB, of any version."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from store.disk.sqlite_identity import CATALOG_ID, MEMORY_ID, check_size
from store.disk.sqlite_values import marks
from store.errors import BadSource, ModelUnavailable
from store.memory.text.extraction import CONTENT_TYPES

NEWEST = 3
_LOGS = ("-wal", "-journal")
_SQLITE, _DUCK = b"SQLite format 3\0", b"DUCK"  # DuckDB's is at byte 8
_BATCH = 100

Row = dict[str, Any]


class Source(Protocol):
    """A database that answers SQL."""

    def columns(self, table: str) -> frozenset[str]:
        """The names of a table's columns; empty if there is no such table."""

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows that a query finds, read one by one."""


class _Sqlite:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        db.row_factory = sqlite3.Row
        db.text_factory = lambda text: text.decode("utf-8", "replace")

    def columns(self, table: str) -> frozenset[str]:
        return frozenset(row[1] for row in self._db.execute(f"PRAGMA table_info({table})"))

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        for row in self._db.execute(query, [*values]):
            yield dict(row)


class _Duck:
    def __init__(self, db: Any) -> None:
        self._db = db

    def columns(self, table: str) -> frozenset[str]:
        query = "SELECT column_name FROM information_schema.columns WHERE table_name = ?"
        return frozenset(row["column_name"] for row in self.rows(query, [table]))

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        found = self._db.cursor().execute(query, [*values])
        names = [column[0] for column in found.description]
        while part := found.fetchmany(_BATCH):
            for row in part:
                yield dict(zip(names, row, strict=True))


@dataclass(frozen=True)
class TranscriptTables:
    """The reader of such a database."""

    source: Source

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns of the table of messages."""
        return self.source.columns("transcripts")

    @property
    def is_known(self) -> bool:
        """Whether it has the table of messages at all."""
        return self.columns >= {"id", "session_id", "sequence", "role"} and bool(
            self.columns & {"content", "content_json"}
        )

    @cached_property
    def version(self) -> str:
        """The version that it names, or that its tables show: "0" one vector a message, "1" four."""
        if self.source.columns("schema_meta"):
            for row in self.source.rows("SELECT value FROM schema_meta WHERE key = 'version'"):
                return str(row["value"])
        if self.source.columns("transcript_vectors"):
            return "2"
        return "1" if self.inline else "0"

    @property
    def fault(self) -> str:
        """Why it cannot be read; "" if it can."""
        if self.version.isdecimal() and int(self.version) <= NEWEST:
            return ""
        return f"it has the schema version {self.version}, and {NEWEST} is the newest known"

    @cached_property
    def inline(self) -> dict[str, str]:
        """The columns of vectors in a message's row, by content type; of version 1."""
        named = {kind: (f"{kind}_vector_json", f"{kind}_vector") for kind in CONTENT_TYPES}
        return {
            kind: column for kind, columns in named.items() for column in columns if column in self.columns
        }

    @property
    def single(self) -> str:
        """The column of a message's only vector; of version 0. "" if there is none."""
        return next((name for name in ("embedding_json", "embedding") if name in self.columns), "")

    @cached_property
    def vector(self) -> str:
        """The column of vectors in the table of vectors; "" if there is none."""
        columns = self.source.columns("transcript_vectors")
        return next((name for name in ("vector", "vector_json") if name in columns), "")

    def count(self, table: str) -> int:
        """How many rows a table has; 0 if there is none."""
        if not self.source.columns(table):
            return 0
        return int(next(self.source.rows(f"SELECT count(*) AS count FROM {table}"))["count"])

    def messages(self) -> Iterator[Row]:
        """The rows of the messages."""
        return self.source.rows("SELECT * FROM transcripts")

    def events(self) -> Iterator[Row]:
        """The rows of the events; none without their table."""
        return self.source.rows("SELECT * FROM events") if self.source.columns("events") else iter(())

    def sessions(self) -> Iterator[Row]:
        """The rows of the sessions; none without their table."""
        return self.source.rows("SELECT * FROM sessions") if self.source.columns("sessions") else iter(())

    def vectors_of(self, parents: Sequence[str]) -> Iterator[Row]:
        """The rows of the table of vectors that belong to these messages."""
        if self.vector and parents:
            yield from self.source.rows(
                f"SELECT * FROM transcript_vectors WHERE parent_id IN ({marks(parents)})", parents
            )

    def orphans(self) -> int:
        """How many vectors belong to no message."""
        if not self.vector:
            return 0
        query = (
            "SELECT count(*) AS count FROM transcript_vectors v "
            "WHERE NOT EXISTS (SELECT 1 FROM transcripts t WHERE t.id = v.parent_id)"
        )
        return int(next(self.source.rows(query))["count"])


def is_database(path: Path) -> bool:
    """Whether the file begins like SQLite's or DuckDB's."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError:
        return False
    return head == _SQLITE or head[8:12] == _DUCK


@contextmanager
def opened(path: Path) -> Iterator[TranscriptTables]:
    """Open the database for reading, without writing a byte next to it.

    Raises BadSource for what is damaged or is no such database, ModelUnavailable without the duckdb package.
    """
    with path.open("rb") as file:
        is_duck = file.read(16)[8:12] == _DUCK
    with _duck(path) if is_duck else _sqlite(path) as source:
        yield TranscriptTables(source)


@contextmanager
def _sqlite(path: Path) -> Iterator[Source]:
    logs = [path.with_name(f"{path.name}{ending}") for ending in _LOGS]
    with tempfile.TemporaryDirectory(prefix="memedex-") as place:
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        if any(log.is_file() and log.stat().st_size for log in logs):  # its writer may be at work
            for file in (path, *logs):
                if file.is_file():
                    shutil.copyfile(file, Path(place) / file.name)
            uri = (Path(place) / path.name).as_uri()
        try:
            check_size(path)
            with closing(sqlite3.connect(uri, uri=True)) as db:
                (application,) = db.execute("PRAGMA application_id").fetchone()
                if application in (CATALOG_ID, MEMORY_ID):
                    raise BadSource(f"{path.name} is a database of Memedex; `restore-backup` takes those")
                yield _Sqlite(db)
        except sqlite3.Error as error:
            raise BadSource(f"{path.name} cannot be read: {error}") from error


@contextmanager
def _duck(path: Path) -> Iterator[Source]:
    try:
        import duckdb
    except ImportError as error:
        raise ModelUnavailable(
            f"{path.name} is a DuckDB file; `pip install duckdb==2.0.0` reads those"
        ) from error
    try:
        with closing(duckdb.connect(str(path), read_only=True)) as db:
            yield _Duck(db)
    except duckdb.Error as error:
        raise BadSource(f"{path.name} cannot be read: {error}") from error
