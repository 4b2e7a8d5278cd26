"""Import recorded sessions: new messages and events, cut into chunks that wait for a vector."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Protocol
from uuid import NAMESPACE_URL, uuid5

from store.disk.sqlite_values import insert_rows, marks
from store.memory.engine.database import Database
from store.memory.engine.entries import Entries
from store.memory.engine.foreign import kept_fields
from store.memory.engine.inputs import as_json, comparable_json
from store.memory.text.extraction import extract_all_embeddable_content, readable
from store.memory.text.secrets import told
from store.memory.text.token_chunks import chunk_text
from store.memory.transcripts import events
from store.memory.transcripts.files import read_sessions
from store.memory.transcripts.messages import NAMED, Message, Session
from store.memory.transcripts.session_ids import SessionIds
from store.memory.transcripts.tables import KIND
from store.outcome import Refusal
from store.progress import Progress, batches

# Of one transaction, whichever comes first. Ids are in no order, so each writes most pages of their indexes.
_MESSAGES, _CHARACTERS = 16_000, 16_000_000
_LOOKED_UP = 200  # messages, in one question whether they are there
_EVENTS = 5_000
COLUMNS = (
    "id", "user_id", "session_id", "project_slug", "sequence", "role", "content", "turn", "ts",
    "text_content",
)  # fmt: skip
CHUNK_COLUMNS = (
    "id", "parent_id", "user_id", "session_id", "project_slug", "content_type", "chunk_index",
    "total_chunks", "span_start", "span_end", "token_count", "source_text",
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

    def add(self, other: "TranscriptReport") -> None:
        """Count what another one says as well."""
        self.sessions += other.sessions
        self.messages += other.messages
        self.changed += other.changed
        self.events += other.events
        self.present += other.present
        self.refused += other.refused
        self.without_text += other.without_text
        self.notes += other.notes
        self.skipped += other.skipped
        self.masked += other.masked

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


class Write(Protocol):
    """What is written in one transaction."""

    def into(self, entries: Entries, report: TranscriptReport) -> None:
        """Write it, and count it in the report."""


class Intake:
    """Sessions on their way in: what is new in them is handed out to be written."""

    def __init__(
        self,
        database: Database,
        report: TranscriptReport,
        progress: Progress,
        *,
        write: Callable[[Write], None],
        settle: Callable[[], None] = lambda: None,
    ) -> None:
        """`write` may return before it has written; `settle` returns when all is written."""
        self._database, self._report, self._progress = database, report, progress
        self._write, self._are_written = write, settle
        self._ids = SessionIds(database)
        self._fresh: list[FreshMessage] = []
        self._present: list[str] = []
        self._size = 0  # characters of them

    def take_all(self, paths: Iterable[Path], *, user_id: str, only_known: bool = False) -> None:
        """Add what is new in all sessions of these folders and files; if cancelled, those added stay.

        With `only_known`, in those of the programs in the table of sources alone.
        """
        for session in chain.from_iterable(read_sessions(path, only_known=only_known) for path in paths):
            if self._progress.cancelled:
                break
            if isinstance(session, Refusal):
                self._report.refused.append(session)
                continue
            session.user_id = session.user_id or user_id
            self._take(session)
        self._flush()

    def _take(self, session: Session) -> None:
        report, progress = self._report, self._progress
        if self._ids.may_be_waiting(session):  # what it is compared with has to be there
            self._flush()
            self._are_written()
            self._ids.all_are_written()
        if said := self._ids.choose(session):
            report.notes.append(said)
        progress.what, before = f"reading {session.session_id}", progress.done
        for batch in batches(enumerate(session.messages()), _LOOKED_UP, progress):
            self._take_messages(session, batch)
        for lines in batches(enumerate(session.events()), _EVENTS, progress):
            self._write(_Events(session.user_id, session.session_id, lines))
        report.refused += session.refused
        report.skipped += session.skipped
        report.notes += session.unread[:NAMED]
        if (more := len(session.unread) - NAMED) > 0:
            report.notes.append(f"{session.session_id}: {more:,} more values that cannot be read")
        if progress.done > before:
            report.sessions.append(session.session_id)
            facts = {"title": session.title, "models": session.models}
            if known := {name: value for name, value in facts.items() if value}:
                self._write(SessionFacts(session.user_id, session.session_id, known))
        elif not (session.refused or session.unread or session.skipped or progress.cancelled):
            report.refused.append(Refusal(session.session_id, "it holds no message and no event"))

    def _take_messages(self, session: Session, batch: Sequence[tuple[int, Message]]) -> None:
        with self._database.reading() as db:
            known = {
                row["sequence"]: row
                for row in db.execute(
                    "SELECT id, sequence, role, content, text_content FROM transcripts "
                    "WHERE user_id = ? AND session_id = ? AND sequence BETWEEN ? AND ?",
                    [session.user_id, session.session_id, batch[0][0], batch[-1][0]],
                )
            }
        for sequence, message in batch:
            model = message.get("model") if message["role"] == "assistant" else None
            if model and (not session.models or session.models[-1][1] != model):
                session.models.append([sequence, model])
            before, content, text = known.get(sequence), as_json(message.get("content")), readable(message)
            if before is None or _says_otherwise(before, message, content, text):
                id = before["id"] if before else id_of(session, sequence)
                row = (
                    id, session.user_id, session.session_id, session.project_slug, sequence,
                    message["role"], content, message["turn"], message["ts"], text,
                )  # fmt: skip
                self._fresh.append(
                    FreshMessage(row, _chunks(row, message), message.get("masked", {}), before is not None)
                )
                self._size += len(content)
            else:
                self._present.append(before["id"])
        if len(self._fresh) + len(self._present) >= _MESSAGES or self._size >= _CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        if self._fresh or self._present:
            self._write(Messages(self._fresh, self._present))
            self._fresh, self._present, self._size = [], [], 0


@dataclass(frozen=True, slots=True)
class FreshMessage:
    """A message that is new, or says something else than before."""

    row: tuple[Any, ...]  # as `COLUMNS`
    chunks: Sequence[tuple[Any, ...]]  # as `CHUNK_COLUMNS`
    masked: Mapping[str, int]
    is_change: bool

    @property
    def id(self) -> str:
        return str(self.row[0])

    @property
    def has_text(self) -> bool:
        return bool(self.row[-1])


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages of one or several sessions."""

    fresh: Sequence[FreshMessage]
    present: Sequence[str]  # ids of those that are stored as they are

    def into(self, entries: Entries, report: TranscriptReport) -> None:
        """Write those that are new or say something else."""
        report.present += len(self.present)
        if not self.fresh:
            return
        now = _now(entries)
        with entries.database.writing() as db:
            ids = [one.id for one in self.fresh]
            query = f"SELECT id FROM transcripts WHERE id IN ({marks(ids)})"
            there = {row[0] for row in db.execute(query, ids)}
            kept = [one for one in self.fresh if one.is_change or one.id not in there]
            report.present += len(self.fresh) - len(kept)  # another import of the same session was quicker
            for one in kept:
                if one.is_change:
                    _remove_chunks(db, one.id)
                    db.execute("DELETE FROM transcripts WHERE id = ?", [one.id])
            insert_rows(db, "transcripts", (*COLUMNS, "synced_at"), [(*one.row, now) for one in kept])
            chunks = [(*row, now) for one in kept for row in one.chunks]
            insert_rows(db, KIND.table, (*CHUNK_COLUMNS, "created_at"), chunks)
            changed = [(KIND.name, KIND.table, row[0]) for row in chunks]
            insert_rows(db, "changes", ("kind", "tbl", "id"), changed, verb="INSERT OR REPLACE")
        report.changed += sum(one.is_change for one in kept)
        report.messages += sum(one.has_text for one in kept if not one.is_change)
        report.without_text += sum(not one.has_text for one in kept if not one.is_change)
        for one in kept:
            report.masked += Counter(one.masked)


@dataclass(frozen=True, slots=True)
class _Events:
    user: str
    session: str
    lines: Sequence[tuple[int, Mapping[str, Any]]]

    def into(self, entries: Entries, report: TranscriptReport) -> None:
        now, rows = _now(entries), list[tuple[Any, ...]]()
        for place, line in self.lines:
            try:
                row = events.row_of(line, user=self.user, session=self.session, sequence=place, synced_at=now)
                rows.append(row)
            except ValueError as error:
                item = f"{self.session}: event {place + 1}"
                report.refused.append(Refusal(item, f"left out: {error}"))
        with entries.database.writing() as db:
            added = events.insert(db, rows)
        for _, line in self.lines if added else ():
            report.masked += line.get("masked", {})
        report.events += added
        report.present += len(rows) - added


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What is known of a session besides its messages: its `title`, and the `models` that answered."""

    user: str
    session: str
    known: Mapping[str, Any]

    def into(self, entries: Entries, report: TranscriptReport) -> None:
        """Write it, unless it is there."""
        id = facts_id(self.user, self.session)
        with entries.database.writing() as db:
            facts = kept_fields(db, KIND, [id]).get(id, {})
            if not self.known.items() <= facts.items():
                text = json.dumps({**facts, **self.known})
                db.execute(
                    "INSERT OR REPLACE INTO adopted (kind, id, metadata) VALUES (?, ?, ?)",
                    [KIND.name, id, text],
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


def _chunks(row: tuple[Any, ...], message: Message) -> list[tuple[Any, ...]]:
    """The rows of a message's chunks, as `CHUNK_COLUMNS`."""
    parent, user, session, project, *_ = row
    rows = []
    for content_type, text in extract_all_embeddable_content(message).items():
        if text:
            chunks = chunk_text(text, content_type)
            rows += [
                (
                    f"{parent}_{content_type}_{index}", parent, user, session, project, content_type, index,
                    len(chunks), one.start, one.end, one.tokens, text[one.start : one.end],
                )
                for index, one in enumerate(chunks)
            ]  # fmt: skip
    return rows


def _remove_chunks(db: sqlite3.Connection, parent: str) -> None:
    ids = db.execute("SELECT id FROM transcript_vectors WHERE parent_id = ?", [parent]).fetchall()
    db.executemany(_CHANGED, [(KIND.name, KIND.table, id[0]) for id in ids])
    db.execute("DELETE FROM transcript_vectors WHERE parent_id = ?", [parent])
