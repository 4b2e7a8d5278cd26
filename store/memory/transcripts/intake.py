"""Import recorded sessions: new messages and events, cut into chunks that wait for a vector."""

import json
import sqlite3
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self
from uuid import NAMESPACE_URL, uuid5

from store.disk.sqlite_values import marks
from store.memory.engine import foreign_metadata
from store.memory.engine.entries import Entries
from store.memory.engine.inputs import as_json, comparable_json
from store.memory.text.extraction import extract_all_embeddable_content, readable
from store.memory.text.secrets import told
from store.memory.text.token_chunks import chunk_text
from store.memory.transcripts import events
from store.memory.transcripts.files import NAMED, Session
from store.memory.transcripts.messages import Message
from store.memory.transcripts.session_ids import SessionIds
from store.memory.transcripts.tables import KIND
from store.outcome import Refusal
from store.progress import Progress, batches

_MESSAGES, _CHARACTERS = 2_000, 8_000_000  # of one transaction, whichever comes first
_WAITING = 2  # transactions
_LOOKED_UP = 200  # messages, in one question whether they are there
_AT_ONCE = 1_000  # rows of one statement
_EVENTS = 5_000
_COLUMNS = (
    "id", "user_id", "session_id", "project_slug", "sequence", "role", "content", "turn", "ts",
    "text_content",
)  # fmt: skip
_CHANGED = "INSERT OR REPLACE INTO changes (kind, tbl, id) VALUES (?, ?, ?)"
_KINDS = 8  # of records without a message, named in one note


@dataclass(slots=True)
class TranscriptReport:
    """The result of an import; `present` counts messages and events that existed already.

    `messages` and `changed` count what can be found by its text, `without_text` new messages that have none.
    """

    sessions: list[str] = field(default_factory=list)
    messages: int = 0
    changed: int = 0  # messages that say something else than at the last import
    events: int = 0
    present: int = 0
    refused: list[Refusal] = field(default_factory=list)
    without_text: int = 0  # new messages of pictures alone, of hidden thoughts, or empty ones
    notes: list[str] = field(default_factory=list)  # what a person should know, a sentence each
    skipped: Counter[str] = field(default_factory=Counter)  # records without a message, by what they are
    masked: Counter[str] = field(default_factory=Counter)  # secrets of what is new, by what they are
    embedded: bool = True  # False: `embed_new` goes on

    def tell(self) -> None:
        """Note how many records hold no message, and which secrets are masked."""
        if self.masked:
            self.notes.append(told(self.masked))
        if count := self.skipped.total():
            kinds = sorted(self.skipped)
            more = ", …" if len(kinds) > _KINDS else ""
            lines = f"{count:,} line{'' if count == 1 else 's'} without a message"
            self.notes.append(f"{lines} ({', '.join(kinds[:_KINDS])}{more})")

    @property
    def summary(self) -> str:
        """The counts as one line for people."""
        count = len({*self.sessions})  # several files may be one session
        without = f", {self.without_text:,} without text" if self.without_text else ""
        return (
            f"{count:,} session{'' if count == 1 else 's'}: {self.messages:,} new messages{without}, "
            f"{self.changed:,} changed, {self.events:,} new events, {self.present:,} were there"
        )


class Intake:
    """Sessions on their way in: while one batch is written, the next one is cut and another one read."""

    def __init__(self, entries: Entries, report: TranscriptReport, progress: Progress) -> None:
        self._entries, self._report, self._progress = entries, report, progress
        self._ids = SessionIds(entries)
        self._fresh: list[_Fresh] = []
        self._size = 0  # characters of them
        self._cutter, self._writing = ThreadPoolExecutor(1, "cutting"), ThreadPoolExecutor(1, "writing")
        self._written = deque[Future[None]]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._settle()
        finally:
            for pool in (self._cutter, self._writing):
                pool.shutdown(cancel_futures=True)

    def take(self, session: Session) -> None:
        """Add the new messages and events of one session; if cancelled, those added stay."""
        report, progress = self._report, self._progress
        if self._ids.may_be_waiting(session):  # what it is compared with has to be there
            self._settle()
        if said := self._ids.choose(session):
            report.notes.append(said)
        progress.what, before = f"reading {session.session_id}", progress.done
        for batch in batches(enumerate(session.messages()), _LOOKED_UP, progress):
            self._take_messages(session, batch)
        for lines in batches(enumerate(session.events()), _EVENTS, progress):
            self._write(_take_events, session, lines)
        report.refused += session.refused
        report.skipped += session.skipped
        report.notes += session.unread[:NAMED]
        if (more := len(session.unread) - NAMED) > 0:
            report.notes.append(f"{session.session_id}: {more:,} more values that cannot be read")
        if progress.done > before:
            report.sessions.append(session.session_id)
            if session.title:
                self._write(_store_title, session)
        elif not (session.refused or session.unread or session.skipped or progress.cancelled):
            report.refused.append(Refusal(session.session_id, "it holds no message and no event"))

    def _take_messages(self, session: Session, batch: Sequence[tuple[int, Message]]) -> None:
        with self._entries.database.reading() as db:
            known = {
                row["sequence"]: row
                for row in db.execute(
                    "SELECT id, sequence, role, content, text_content FROM transcripts "
                    "WHERE user_id = ? AND session_id = ? AND sequence BETWEEN ? AND ?",
                    [session.user_id, session.session_id, batch[0][0], batch[-1][0]],
                )
            }
        for sequence, message in batch:
            before, content, text = known.get(sequence), as_json(message.get("content")), readable(message)
            if before is None or _says_otherwise(before, message, content, text):
                id = before["id"] if before else id_of(session, sequence)
                row = (
                    id, session.user_id, session.session_id, session.project_slug, sequence,
                    message["role"], content, message["turn"], message["ts"], text,
                )  # fmt: skip
                self._fresh.append(_Fresh(id, row, message, is_change=before is not None))
                self._size += len(content)
            else:
                self._report.present += 1
        if len(self._fresh) >= _MESSAGES or self._size >= _CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        if fresh := self._fresh:
            self._fresh, self._size = [], 0
            self._write(_store_messages, fresh, self._cutter.submit(_cut, fresh))

    def _write(self, store: Callable[..., None], *arguments: Any) -> None:
        while len(self._written) >= _WAITING:
            self._written.popleft().result()
        self._written.append(self._writing.submit(store, self._entries, self._report, *arguments))

    def _settle(self) -> None:
        """Wait until all that was read is written."""
        self._flush()
        while self._written:
            self._written.popleft().result()
        self._ids.all_are_written()


@dataclass(frozen=True, slots=True)
class _Fresh:
    """A message that is new, or says something else than before."""

    id: str
    row: tuple[Any, ...]  # as `_COLUMNS`
    message: Message
    is_change: bool

    @property
    def text(self) -> str | None:
        return str(self.row[-1]) if self.row[-1] else None


def _cut(fresh: Sequence[_Fresh]) -> dict[str, list[dict[str, Any]]]:
    return {one.id: _vector_rows(one) for one in fresh}


def _store_messages(
    entries: Entries,
    report: TranscriptReport,
    fresh: Sequence[_Fresh],
    cut: "Future[dict[str, list[dict[str, Any]]]]",
) -> None:
    chunks, now = cut.result(), _now(entries)
    with entries.database.writing() as db:
        ids = [one.id for one in fresh]
        there = {row[0] for row in db.execute(f"SELECT id FROM transcripts WHERE id IN ({marks(ids)})", ids)}
        kept = [one for one in fresh if one.is_change or one.id not in there]
        report.present += len(fresh) - len(kept)  # another import of the same session was quicker
        for one in kept:
            if one.is_change:
                _remove_chunks(db, one.id)
                db.execute("DELETE FROM transcripts WHERE id = ?", [one.id])
        _insert(db, "transcripts", (*_COLUMNS, "synced_at"), [(*one.row, now) for one in kept])
        rows = [{**row, "created_at": now} for one in kept for row in chunks[one.id]]
        if rows:
            _insert(db, KIND.table, tuple(rows[0]), [tuple(row.values()) for row in rows])
        db.executemany(_CHANGED, [(KIND.name, KIND.table, row["id"]) for row in rows])
    report.changed += sum(one.is_change for one in kept)
    report.messages += sum(bool(one.text) for one in kept if not one.is_change)
    report.without_text += sum(not one.text for one in kept if not one.is_change)
    for one in kept:
        report.masked += one.message.get("masked", {})


def _insert(
    db: sqlite3.Connection, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert many rows in few statements: full text writes a segment for each, which has to be merged."""
    one = f"({marks(columns)})"
    for part in batches(rows, _AT_ONCE):
        db.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([one] * len(part))}",
            [value for row in part for value in row],
        )


def _take_events(
    entries: Entries,
    report: TranscriptReport,
    session: Session,
    lines: Sequence[tuple[int, Mapping[str, Any]]],
) -> None:
    now = _now(entries)
    rows = []
    for sequence, line in lines:
        try:
            rows.append(
                events.row_of(
                    line,
                    user=session.user_id,
                    session=session.session_id,
                    sequence=sequence,
                    synced_at=now,
                )
            )
        except ValueError as error:
            item = f"{session.session_id}: event {sequence + 1}"
            report.refused.append(Refusal(item, f"left out: {error}"))
    with entries.database.writing() as db:
        added = events.insert(db, rows)
    for _, line in lines if added else ():
        report.masked += line.get("masked", {})
    report.events += added
    report.present += len(rows) - added


def _store_title(entries: Entries, _: TranscriptReport, session: Session) -> None:
    id = facts_id(session.user_id, session.session_id)
    with entries.database.writing() as db:
        facts = foreign_metadata.of(db, KIND, [id]).get(id, {})
        if facts.get("title") != session.title:
            text = json.dumps({**facts, "title": session.title})
            db.execute(
                "INSERT OR REPLACE INTO adopted (kind, id, metadata) VALUES (?, ?, ?)", [KIND.name, id, text]
            )


def facts_id(user: str, session: str) -> str:
    """Under which id it is stored what is known of a session besides its messages."""
    return f"session:{user}:{session}"


def id_of(session: Session, sequence: int) -> str:
    """A unique id that is always the same for the same message of the same session."""
    return str(uuid5(NAMESPACE_URL, json.dumps([session.user_id, session.session_id, sequence])))


def _now(entries: Entries) -> str:
    return datetime.fromtimestamp(entries.clock(), UTC).isoformat(timespec="seconds")


def _says_otherwise(before: sqlite3.Row, message: Message, content: str, text: str | None) -> bool:
    """Whether this message is another than the stored one, or an earlier Memedex read less of it."""
    if before["role"] != message["role"] or before["text_content"] != text:
        return True
    return before["content"] != content and comparable_json(before["content"]) != comparable_json(content)


def _vector_rows(one: _Fresh) -> list[dict[str, Any]]:
    _, user, session, project, *_ = one.row
    rows = []
    for content_type, text in extract_all_embeddable_content(one.message).items():
        chunks = chunk_text(text, content_type) if text else []
        rows += [
            {
                "id": f"{one.id}_{content_type}_{index}",
                "parent_id": one.id,
                "user_id": user,
                "session_id": session,
                "project_slug": project,
                "content_type": content_type,
                "chunk_index": index,
                "total_chunks": len(chunks),
                "span_start": chunk.start,
                "span_end": chunk.end,
                "token_count": chunk.tokens,
                "source_text": text[chunk.start : chunk.end] if text else "",
            }
            for index, chunk in enumerate(chunks)
        ]
    return rows


def _remove_chunks(db: sqlite3.Connection, parent: str) -> None:
    ids = db.execute("SELECT id FROM transcript_vectors WHERE parent_id = ?", [parent]).fetchall()
    db.executemany(_CHANGED, [(KIND.name, KIND.table, id[0]) for id in ids])
    db.execute("DELETE FROM transcript_vectors WHERE parent_id = ?", [parent])
