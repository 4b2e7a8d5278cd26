"""Import recorded sessions: new messages and events, cut into chunks that wait for a vector."""

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import NAMESPACE_URL, uuid5

from store.memory.engine import vector_cache
from store.memory.engine.inputs import as_json, comparable_json
from store.memory.engine.passages import Passages
from store.memory.text.extraction import extract_all_embeddable_content, readable
from store.memory.text.token_chunks import chunk_text
from store.memory.transcripts import events
from store.memory.transcripts.files import NAMED, Session
from store.memory.transcripts.messages import Message
from store.memory.transcripts.session_ids import SessionIds
from store.memory.transcripts.tables import KIND
from store.outcome import Refusal
from store.progress import Progress, batches

_MESSAGES = 200  # of one transaction
_EVENTS = 5_000
_KINDS = 8  # of records without a message, named in one note
_T = TypeVar("_T")


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
    embedded: bool = True  # False: cancelled before; `embed_new` goes on

    def tell_skipped(self) -> None:
        """Note how many records hold no message."""
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


def ingest(
    passages: Passages, session: Session, ids: SessionIds, report: TranscriptReport, progress: Progress
) -> None:
    """Add the new messages and events of one session; if cancelled, those added stay."""
    if said := ids.choose(session):
        report.notes.append(said)
    progress.what, before = f"reading {session.session_id}", progress.done
    _read(passages, session, report, progress)
    report.refused += session.refused
    report.skipped += session.skipped
    report.notes += session.unread[:NAMED]
    if (more := len(session.unread) - NAMED) > 0:
        report.notes.append(f"{session.session_id}: {more:,} more values that cannot be read")
    if progress.done > before:
        report.sessions.append(session.session_id)
    elif not (session.refused or session.unread or session.skipped or progress.cancelled):
        report.refused.append(Refusal(session.session_id, "it holds no message and no event"))


def _read(passages: Passages, session: Session, report: TranscriptReport, progress: Progress) -> None:
    for batch in batches(enumerate(session.messages()), _MESSAGES, progress):
        _take_messages(passages, session, batch, report)
    for lines in batches(enumerate(session.events()), _EVENTS, progress):
        _take_events(passages, session, lines, report)


def _take_messages(
    passages: Passages, session: Session, batch: Sequence[tuple[int, Message]], report: TranscriptReport
) -> None:
    with passages.database.reading() as db:
        known = {
            row["sequence"]: row
            for row in db.execute(
                "SELECT id, sequence, role, content, text_content FROM transcripts "
                "WHERE user_id = ? AND session_id = ? AND sequence BETWEEN ? AND ?",
                [session.user_id, session.session_id, batch[0][0], batch[-1][0]],
            )
        }
    fresh = {}
    for sequence, message in batch:
        before, content = known.get(sequence), as_json(message.get("content"))
        if before is None or _says_otherwise(before, message, content):
            id = before["id"] if before else id_of(session, sequence)
            fresh[id] = (sequence, message, content)
    report.present += len(batch) - len(fresh)
    now = _now(passages)
    chunks = {id: _vector_rows(id, session, row[1]) for id, row in fresh.items()}
    if not fresh:
        return
    with passages.database.writing() as db:
        for id, (sequence, message, content) in fresh.items():
            if sequence in known:
                _remove_chunks(db, id)
                report.changed += 1
            elif db.execute("SELECT 1 FROM transcripts WHERE id = ?", [id]).fetchone():
                report.present += 1  # another import of the same session was quicker
                continue
            elif readable(message):
                report.messages += 1
            else:
                report.without_text += 1
            db.execute(
                "INSERT INTO transcripts (id, user_id, session_id, project_slug, sequence, role, "
                "content, turn, ts, text_content, synced_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET role = excluded.role, content = excluded.content, "
                "turn = excluded.turn, ts = excluded.ts, text_content = excluded.text_content",
                [
                    id, session.user_id, session.session_id, session.project_slug, sequence,
                    message["role"], content, message["turn"], message["ts"], readable(message),
                    now,
                ],
            )  # fmt: skip
            _insert_chunks(db, chunks[id], now=now)


def _take_events(
    passages: Passages,
    session: Session,
    lines: Sequence[tuple[int, Mapping[str, Any]]],
    report: TranscriptReport,
) -> None:
    now = _now(passages)
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
    with passages.database.writing() as db:
        added = events.insert(db, rows)
    report.events += added
    report.present += len(rows) - added


def id_of(session: Session, sequence: int) -> str:
    """A unique id that is always the same for the same message of the same session."""
    return str(uuid5(NAMESPACE_URL, json.dumps([session.user_id, session.session_id, sequence])))


def _now(passages: Passages) -> str:
    return datetime.fromtimestamp(passages.clock(), UTC).isoformat(timespec="seconds")


def _says_otherwise(before: sqlite3.Row, message: Message, content: str) -> bool:
    """Whether this message is another than the stored one, or an earlier Memedex read less of it."""
    if before["role"] != message["role"] or before["text_content"] != readable(message):
        return True
    return before["content"] != content and comparable_json(before["content"]) != comparable_json(content)


def _vector_rows(id: str, session: Session, message: Message) -> list[dict[str, Any]]:
    rows = []
    for content_type, text in extract_all_embeddable_content(message).items():
        chunks = chunk_text(text, content_type) if text else []
        rows += [
            {
                "id": f"{id}_{content_type}_{index}",
                "parent_id": id,
                "user_id": session.user_id,
                "session_id": session.session_id,
                "project_slug": session.project_slug,
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


def _insert_chunks(db: sqlite3.Connection, rows: list[dict[str, Any]], *, now: str) -> None:
    for row in ({**one, "created_at": now} for one in rows):
        db.execute(
            f"INSERT INTO transcript_vectors ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
            [*row.values()],
        )
        _note_change(db, row["id"])


def _remove_chunks(db: sqlite3.Connection, parent: str) -> None:
    ids = db.execute("SELECT id FROM transcript_vectors WHERE parent_id = ?", [parent]).fetchall()
    for id in ids:
        _note_change(db, id[0])
    vector_cache.store(db, KIND, [id[0] for id in ids])
    db.execute("DELETE FROM transcript_vectors WHERE parent_id = ?", [parent])


def _note_change(db: sqlite3.Connection, id: str) -> None:
    db.execute("INSERT OR REPLACE INTO changes (kind, tbl, id) VALUES (?, ?, ?)", [KIND.name, KIND.table, id])
