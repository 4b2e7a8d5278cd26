"""What was handed out for which question, in one file below the root, made when a setting first asks for it.

`retrievals` is a log: one row for each answer, with the question and the texts if they are asked for.
`contexts` keeps each answer as ids and versions, so that it can be asked again (`trust/replay.py`). What is
deleted for good takes every row with it that names it, and those of all kinds with the same question.
"""

import json
import logging
import os
import sqlite3
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from store.disk.files import Disk, identity, refused
from store.disk.sqlite import SqliteFile, not_written, readable, statements
from store.disk.sqlite_identity import MEMORY_ID
from store.errors import CatalogDamaged, InvalidRecord, MemedexError
from store.permissions import Actor

log = logging.getLogger(__name__)

_DAY = 86_400.0  # seconds
_VERSION = 1
_SCHEMA = """
CREATE TABLE retrievals (
    at TEXT NOT NULL,                   -- 2026-01-31T10:00:00Z
    kind TEXT NOT NULL, scope TEXT NOT NULL, actor TEXT NOT NULL, question TEXT NOT NULL,
    hits TEXT NOT NULL                  -- JSON: [{"id": …, "score": …, "text": …}]
) STRICT;
CREATE TABLE contexts (
    at REAL NOT NULL,                   -- UNIX seconds
    kind TEXT NOT NULL, scope TEXT NOT NULL, actor TEXT NOT NULL, question TEXT NOT NULL,
    hits TEXT NOT NULL,                 -- JSON: [{"id": …, "version": …, "score": …}]
    id TEXT NOT NULL, agent TEXT NOT NULL, via TEXT NOT NULL, n INTEGER NOT NULL,
    filters TEXT NOT NULL,              -- JSON
    threshold REAL                      -- percent
) STRICT;
CREATE INDEX contexts_by_time ON contexts (at);
"""
_TABLES = ("retrievals", "contexts")  # versions up to 1.2 have a .jsonl file of each name


@dataclass(frozen=True, slots=True)
class KeptEntry:
    """One entry of a context, in the version that was handed out."""

    id: str
    version: int
    score: float


@dataclass(frozen=True, slots=True)
class KeptContext:
    """The entries that were handed out for one question from one kind of memory."""

    id: str
    created_at: float  # UNIX seconds
    kind: str
    scope: str
    actor: str
    agent: str
    via: str
    question: str
    n: int
    where: dict[str, Any]
    threshold: float | None  # percent
    hits: tuple[KeptEntry, ...]


class Retrievals:
    """The log and the contexts of one kind, in a file that other kinds and other processes use too."""

    def __init__(self, path: Path, *, kind: str, detail: str, days: int) -> None:
        """`detail` is "" for no log, "ids", or "texts"; contexts are kept for some days, 0 for none."""
        self.path = path
        self._kind = kind
        self.detail = detail
        self.days = days
        self._lock = threading.Lock()
        self._file: _RetrievalsFile | None = None  # once it was needed

    def record(
        self, question: str, hits: Sequence[tuple[str, float, str]], *, scope: str, actor: str, at: float
    ) -> None:
        """Log one answer (ids, scores, texts); a full disk must not prevent an answer."""
        has_texts = self.detail == "texts"
        logged = [
            {"id": id, "score": round(score, 4)} | ({"text": text} if has_texts else {})
            for id, score, text in hits
        ]
        self._add(
            "retrievals",
            at=f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}",
            scope=scope, actor=actor, question=question if has_texts else "", hits=_json(logged),
        )  # fmt: skip

    def keep(
        self,
        question: str,
        hits: Sequence[KeptEntry],
        *,
        scope: str,
        n: int,
        where: Mapping[str, Any],
        threshold: float | None,
        actor: Actor,
        at: float,
    ) -> None:
        """Keep one context, and drop those that are too old; a full disk must not prevent an answer."""
        self._add(
            "contexts", first=at - self.days * _DAY, at=at, scope=scope, actor=actor.name,
            question=question, hits=_json([asdict(hit) for hit in hits]), id=uuid4().hex,
            agent=actor.agent, via=actor.via, n=n, filters=_json(dict(where)), threshold=threshold,
        )  # fmt: skip

    def keep_only(self, ids: Collection[str], *, scopes: Collection[str]) -> None:
        """Delete every row of this kind that names another entry or scope, from every byte of the file.

        With them goes every other row with the same question, which may quote what was forgotten. Raises
        NotWritten while another process reads the file.
        """
        if not _is_there(self.path):
            return
        try:
            with _errors(self.path):
                file = self._opened()
                with file.writing() as db:
                    count = self._delete_others(db, ids, scopes)
                if count:
                    file.empty_log()  # over the deleted rows where they are; a rewritten file is cut
                    file.rewrite()
        except CatalogDamaged:  # its contents are unknown
            self.close()
            for ending in ("-wal", "-shm", ""):
                _erase(self.path.with_name(f"{self.path.name}{ending}"))

    def close(self) -> None:
        """Close the file; what is kept afterwards opens it again."""
        with self._lock:
            if self._file:
                self._file.close()
            self._file = None

    def _opened(self) -> "_RetrievalsFile":
        with self._lock:
            if self._file is None or not (self._file.can_write and self._file.is_in_place):
                if self._file:  # of before a fork, or of before a backup was restored
                    self._file.close()
                self._file = _RetrievalsFile(self.path)
            return self._file

    def _add(self, table: str, *, first: float | None = None, **row: str | float | None) -> None:
        try:
            with _errors(self.path), self._opened().writing() as db:
                if first is not None:
                    db.execute(f"DELETE FROM {table} WHERE at < ?", [first])
                _insert(db, table, {"kind": self._kind, **row})
        except MemedexError as error:
            log.warning("what was handed out could not be kept: %s", error)

    def _delete_others(self, db: sqlite3.Connection, ids: Collection[str], scopes: Collection[str]) -> int:
        known, questions, count = {*ids}, set[str](), 0
        for table in _TABLES:
            gone = [
                row
                for row in db.execute(f"SELECT rowid, * FROM {table} WHERE kind = ?", [self._kind])
                if row["scope"] not in scopes or not known.issuperset(_ids(row["hits"]))
            ]
            questions |= {row["question"] for row in gone} - {""}
            db.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(row["rowid"],) for row in gone])
            count += len(gone)
        for table in _TABLES:
            db.executemany(f"DELETE FROM {table} WHERE question = ?", [(one,) for one in questions])
        return count


def kept_contexts(path: Path) -> list[KeptContext]:
    """The kept contexts of all kinds, newest first."""
    if not _is_there(path):
        return []
    with _errors(path), closing(_RetrievalsFile(path)) as file, file.reading() as db:
        rows = db.execute("SELECT * FROM contexts ORDER BY rowid DESC").fetchall()
    found = []
    for one in rows:
        with suppress(ValueError, TypeError):  # JSON that is damaged
            where, hits = json.loads(one["filters"]), json.loads(one["hits"])
            context = KeptContext(
                one["id"], one["at"], one["kind"], one["scope"], one["actor"], one["agent"], one["via"],
                one["question"], one["n"], where, one["threshold"], tuple(KeptEntry(**hit) for hit in hits),
            )  # fmt: skip
            found.append(context)
    return found


@dataclass(frozen=True, slots=True)
class Answers:
    """What was handed out of one kind: which entries ever, and how many at a time, newest first."""

    ids: frozenset[str]
    handed_out: list[tuple[float, int]]  # UNIX seconds and hits, of the log or the contexts


def answers_about(path: Path, kind: str) -> Answers:
    """What was handed out of this kind, by the log or the contexts, whichever has more hits."""
    if not _is_there(path):
        return Answers(frozenset(), [])
    ids, fuller, most = set[str](), list[tuple[float, int]](), 0
    with _errors(path), closing(_RetrievalsFile(path)) as file, file.reading() as db:
        for table, moment in (("retrievals", "unixepoch(at)"), ("contexts", "at")):
            rows = db.execute(
                f"SELECT {moment}, hits FROM {table} WHERE kind = ? ORDER BY rowid DESC", [kind]
            )
            handed_out = [(float(at or 0), _ids(hits) - {""}) for at, hits in rows]
            ids.update(*(found for _, found in handed_out))
            if (count := sum(len(found) for _, found in handed_out)) > most:
                fuller, most = [(at, len(found)) for at, found in handed_out], count
    return Answers(frozenset(ids), fuller)


def take_in_lines(path: Path) -> None:
    """Take in what versions up to 1.2 wrote as lines of JSON, and erase their files."""
    if any(map(Path.exists, _lines_of(path))):
        try:
            with _errors(path):
                _RetrievalsFile(path).close()
        except MemedexError as error:  # the next opening does it
            log.warning("%s", error)


class _RetrievalsFile(SqliteFile):
    def __init__(self, path: Path) -> None:
        super().__init__(path, disk=Disk())
        if not path.exists():
            path.touch(mode=0o600)  # SQLite gives its log the same permissions
        self._connections.writer = self._connect()
        self._connections.opened = identity(path)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        db = super()._connect()
        db.text_factory = readable
        db.execute("PRAGMA secure_delete = 1")
        db.execute("PRAGMA synchronous = NORMAL")  # a power cut may lose the last rows; no caller waits
        return db

    def _prepare(self) -> None:
        """Make the tables and take earlier lines in, in one transaction: never twice."""
        left = [lines for lines in _lines_of(self.path) if lines.exists()]
        version = "PRAGMA user_version"
        if not self._writer.execute(version).fetchone()[0]:
            with self.writing() as db:
                if not db.execute(version).fetchone()[0]:  # no other process was quicker
                    for statement in statements(_SCHEMA):
                        db.execute(statement)
                    for lines in left:
                        _take_in(db, lines)
                    db.execute(f"PRAGMA application_id = {MEMORY_ID}")
                    db.execute(f"{version} = {_VERSION}")
        for lines in left:
            _erase(lines)
            lines.with_suffix(".lock").unlink(missing_ok=True)


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Raises NotWritten if the disk refuses, CatalogDamaged for a damaged file."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        raise not_written(error, refused(error, path)) from error
    except sqlite3.DatabaseError as error:
        raise CatalogDamaged(f"{path} cannot be read ({error}); delete it to keep contexts again") from error


def _is_there(path: Path) -> bool:
    return path.exists() or any(map(Path.exists, _lines_of(path)))


def _lines_of(path: Path) -> list[Path]:
    return [path.with_name(f"{table}.jsonl") for table in _TABLES]


def _take_in(db: sqlite3.Connection, lines: Path) -> None:
    for line in lines.read_bytes().splitlines():
        with suppress(sqlite3.IntegrityError, InvalidRecord):  # a value of another type
            if row := _row(line, lines.stem):
                _insert(db, lines.stem, row)


def _row(line: bytes, table: str) -> dict[str, Any] | None:
    """The row of a line; None for a damaged one."""
    try:
        found = json.loads(line)
        row = {name: found[name] for name in ("at", "kind", "scope", "actor")}
        row |= {"question": found.get("question", ""), "hits": _json(found["hits"])}
        if table == "contexts":
            row |= {name: found[name] for name in ("id", "agent", "via", "n", "threshold")}
            row["filters"] = _json(found["where"])
            tuple(KeptEntry(**hit) for hit in found["hits"])
        return row if all(isinstance(hit["id"], str) for hit in found["hits"]) else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _insert(db: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    values = [_storable(one) if isinstance(one, str) else one for one in row.values()]
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)


def _ids(hits: str) -> set[str]:
    """The entries that these hits name; one that does not exist if they are damaged."""
    try:
        return {one["id"] for one in json.loads(hits)}
    except (ValueError, KeyError, TypeError):
        return {""}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _erase(path: Path) -> None:
    """Remove a file; what is only unlinked keeps its bytes on the disk."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
        file.flush()
        os.fsync(file.fileno())
    path.unlink()
