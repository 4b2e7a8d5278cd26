"""Whose a SQLite file is, and how to read one that may not be ours without changing it."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from store.disk.aside import carry_out_moves, move_aside
from store.disk.files import Disk
from store.disk.sqlite import is_replica, plain_errors, to_read
from store.errors import ForeignFile

# `PRAGMA application_id` of what Memedex makes; files from before it was set have 0.
CATALOG_ID = int.from_bytes(b"Mmdc", "big")
MEMORY_ID = int.from_bytes(b"Mmdm", "big")
_BEGINNINGS = {  # of SQLite's logs, by the ending of their names
    "-wal": (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"),
    "-journal": (b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", bytes(8)),
}
_SMALLEST = 512  # bytes of the smallest page
_INDEX = 32_768  # bytes of the smallest index of a log; a full disk leaves the beginning of one
_NAMED = 6  # tables named in a sentence


@dataclass(frozen=True, slots=True)
class Identity:
    """How a database identifies itself."""

    application_id: int
    version: int
    tables: frozenset[str]

    @property
    def summary(self) -> str:
        """A description for people, for a database of another program."""
        some = sorted(self.tables)
        more = f" and {len(some) - _NAMED} more" if len(some) > _NAMED else ""
        named = f" (tables {', '.join(some[:_NAMED])}{more})" if some else ""
        return f"a database of another program{named}"


def identify(path: Path) -> Identity | None:
    """Identify the database at this path without writing to it; None if there is no file or it is empty.

    Raises sqlite3.DatabaseError if it is damaged or not a database, ForeignFile for all but a file.
    """
    if path.is_dir():
        raise ForeignFile(f"{path} is a folder; move it away, one of Memedex's own files belongs there")
    if path.is_symlink() and not path.exists():
        raise ForeignFile(
            f"{path} is a link to {path.readlink()}, which is not there; restore it, or remove the link"
        )
    if not path.exists():
        return None
    if not path.is_file():  # reading a pipe would wait for ever
        raise ForeignFile(f"{path} is no file; move it away, one of Memedex's own files belongs there")
    if not path.stat().st_size:  # SQLite would delete its log
        return None
    check_size(path)
    with closing(sqlite3.connect(to_inspect(path), uri=True)) as db, plain_errors():
        (application_id,), (version,) = (
            db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
        )
        (pages,) = db.execute(
            "PRAGMA page_count"
        ).fetchone()  # one: begun, and ended before there were tables
        tables = frozenset(row[0] for row in db.execute("SELECT name FROM sqlite_schema"))
    is_something = bool(tables or application_id or version or pages > 1)
    return Identity(application_id, version, tables) if is_something else None


def check_size(path: Path) -> None:
    """Raises sqlite3.DatabaseError for a file too short to be a database; a missing or empty one is valid.

    SQLite takes a file of a few bytes for an empty one and overwrites it; all else it checks itself. No other
    code may open the file: when a process closes a file, it loses all its POSIX locks on it, SQLite's as
    well, and the next process that closes the database deletes the log that this one writes to
    (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    if path.is_file() and 0 < path.stat().st_size < _SMALLEST:
        raise sqlite3.DatabaseError("file is not a database")


def is_log(path: Path) -> bool:
    """Whether the file begins like a write-ahead log of SQLite."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(8).startswith(_BEGINNINGS["-wal"])


def move_foreign_logs(path: Path, *, disk: Disk) -> None:
    """Move aside files that are named like this database's logs but are not. SQLite would overwrite them."""
    is_empty = not path.exists() or (path.is_file() and not path.stat().st_size)
    names = []
    for ending, beginnings in _BEGINNINGS.items():
        log = path.with_name(f"{path.name}{ending}")
        if log.is_file() and log.stat().st_size:
            with log.open("rb") as file:
                if is_empty or not file.read(8).startswith(beginnings):
                    names.append(log.name)
    if names:
        move_aside(
            names,
            source=path.parent,
            into=path.parent,
            what=f"a log without its database ({', '.join(names)})",
            disk=disk,
        )
        carry_out_moves(path.parent, disk=disk)


def to_inspect(path: Path) -> str:
    """The URI with which SQLite reads a file without leaving other files; others may have it open."""
    uri = to_read(path)
    is_open = _size(f"{path}-shm") >= _INDEX or _size(f"{path}-wal") > 0
    return uri if is_open or is_replica(path) or "immutable" in uri else f"{uri}&immutable=1"


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        return 0


@contextmanager
def opened_foreign(path: Path) -> Iterator[sqlite3.Connection]:
    """Another program's database for reading, without writing a byte next to it.

    It is a copy if there is a log, whose writer may be at work, or was killed: SQLite may have to recover it.
    Raises sqlite3.DatabaseError if it is damaged.
    """
    check_size(path)
    logs = [path.with_name(f"{path.name}{ending}") for ending in _BEGINNINGS]
    with ExitStack() as stack:
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        if any(log.is_file() and log.stat().st_size for log in logs):
            copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memedex-")))
            for file in (path, *logs):
                if file.is_file():
                    shutil.copyfile(file, copy / file.name)
            uri = (copy / path.name).as_uri()
        yield stack.enter_context(closing(sqlite3.connect(uri, uri=True)))
