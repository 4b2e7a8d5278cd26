"""Import recorded sessions: new messages and events, cut into chunks that wait for a vector.

A session is stored under its own id, unless another conversation has it already. Two files may say the same
id, as copies that were continued apart do, and many are called alike: `chat.jsonl` of two projects. So what
a file says is compared with the sessions that are stored under its name.
"""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from uuid import NAMESPACE_URL, uuid5

from store.disk.sqlite import insert_rows, marks
from store.memory.engine.database import Database
from store.memory.engine.entries import Entries
from store.memory.engine.foreign import kept_fields
from store.memory.engine.inputs import as_json, comparable_json
from store.memory.text.extraction import ContentType, texts_of
from store.memory.text.secrets import told
from store.memory.text.tokens import chunk_text
from store.memory.transcripts import events
from store.memory.transcripts.files import read_sessions
from store.memory.transcripts.messages import NAMED, Message, Session
from store.memory.transcripts.tables import KIND
from store.outcome import Refusal
from store.progress import Progress, batches

_MESSAGES, _CHARACTERS = 16_000, 8_000_000  # of one transaction, whichever comes first
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
    """What an import counted: `present` already, by text new or `changed`, and `without_text`."""

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
        """Add what is new in all sessions of these folders and files; if cancelled, those added stay."""
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
        known = {
            row["sequence"]: row
            for row in self._database.rows(
                "SELECT id, sequence, role, content, text_content FROM transcripts "
                "WHERE user_id = ? AND session_id = ? AND sequence BETWEEN ? AND ?",
                [session.user_id, session.session_id, batch[0][0], batch[-1][0]],
            )
        }
        ids = _ids_of(session)
        for sequence, message in batch:
            model = message.get("model") if message["role"] == "assistant" else None
            if model and (not session.models or session.models[-1][1] != model):
                session.models.append([sequence, model])
            before, content = known.get(sequence), as_json(message.get("content"))
            texts, text = texts_of(message)
            if before is None or _says_otherwise(before, message, content, text):
                id = before["id"] if before else f"{ids}{sequence:08x}"
                row = (
                    id, session.user_id, session.session_id, session.project_slug, sequence,
                    message["role"], content, message["turn"], message["ts"], text,
                )  # fmt: skip
                self._fresh.append(
                    FreshMessage(row, _chunks(row, texts), message.get("masked", {}), before is not None)
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


class FreshMessage(NamedTuple):
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
            report.masked.update(one.masked)


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


def _ids_of(session: Session) -> str:
    """How the ids of a session's messages begin, always the same; its place ends each.

    So they are together in every index, and an import writes few pages of them.
    """
    return str(uuid5(NAMESPACE_URL, json.dumps([session.user_id, session.session_id])))[:-8]


def _now(entries: Entries) -> str:
    return datetime.fromtimestamp(entries.clock(), UTC).isoformat(timespec="seconds")


def _says_otherwise(before: sqlite3.Row, message: Message, content: str, text: str | None) -> bool:
    """Whether this message is another than the stored one, or an earlier Memedex read less of it."""
    if before["role"] != message["role"] or before["text_content"] != text:
        return True
    return before["content"] != content and comparable_json(before["content"]) != comparable_json(content)


def _chunks(row: tuple[Any, ...], texts: Mapping[ContentType, str | None]) -> list[tuple[Any, ...]]:
    """The rows of a message's chunks, as `CHUNK_COLUMNS`."""
    parent, user, session, project, *_ = row
    rows = []
    for content_type, text in texts.items():
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


_HASHED = 200  # messages, or events, from the beginning
_HASH = re.compile(r"(-[0-9a-f]{16})?")
_EARLIER_HASH = re.compile(r"-[0-9a-f]{8}")  # of version 1.1.1; a file's own name may end so: log-20240101
_SAYS_NOTHING = ("null", '""', "[]")
_EVENT = ("event", "ts", "turn", "data_size_bytes")
_TABLES = ("transcripts", "events")
# One look-up in the index for each session, however many messages it has.
_NAMED_ALIKE = """
WITH RECURSIVE found (one) AS (
    SELECT min(session_id) FROM {0} WHERE user_id = :user AND session_id >= :name AND session_id < :end
    UNION ALL
    SELECT (SELECT min(session_id) FROM {0} WHERE user_id = :user AND session_id > one AND session_id < :end)
    FROM found WHERE one IS NOT NULL
) SELECT one FROM found WHERE one IS NOT NULL
"""


class _Piece(NamedTuple):
    """A message; many conversations share those that do not tell which one it is."""

    key: int
    tells: bool


@dataclass(frozen=True, slots=True)
class _Conversation:
    """The messages of a session in their order, its events by their places, and its project."""

    messages: Sequence[_Piece]
    events: Mapping[int, int]
    project: str | None


class SessionIds:
    """The ids of the sessions of one import; what is stored is read once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read: dict[tuple[str, str], _Conversation] = {}  # by user and id
        self._given: set[tuple[str, str]] = set()  # users and ids
        self._waiting: set[tuple[str, str]] = set()  # users and names, perhaps not written yet

    def may_be_waiting(self, session: Session) -> bool:
        """Whether a session of this name, or of its earlier one, was chosen and may not be written yet."""
        return bool(
            self._waiting & {(session.user_id, session.session_id), (session.user_id, session.earlier_id)}
        )

    def all_are_written(self) -> None:
        """Tell that every session chosen so far is in the database."""
        self._waiting.clear()

    def choose(self, session: Session) -> str:
        """Give the session its id: its own, or with a hash if another conversation is stored under it.

        A stored session is the same if the file has everything that it would replace there, single edited
        messages aside; one of this import has to be there whole. Returns a sentence if the session is kept
        under a new name, else "".
        """
        own, said = session.session_id, ""
        session.session_id, is_new = self._id(session)
        if is_new:
            said = f"another conversation is stored as {own}; this one is kept as {session.session_id}"
        self._given.add((session.user_id, session.session_id))
        self._waiting |= {(session.user_id, own), (session.user_id, session.session_id)}
        self._read.pop((session.user_id, session.session_id), None)  # it is about to change
        return said

    def _id(self, session: Session) -> tuple[str, bool]:
        """The id, and whether it was made up now."""
        user, name, earlier = session.user_id, session.session_id, session.earlier_id
        with self._database.reading() as db:
            found = _named_alike(db, user, name)
            if not found and not (earlier and _is_there(db, user, earlier)):
                return name, False
            text, given = _read(session)
            known = [id for id in found if _is_of_name(id, name, found, text)]
            likeness = {id: self._likeness(self._stored(db, user, id), given, (user, id)) for id in known}
            best = max(known, key=lambda id: likeness[id], default=name)
            if likeness.get(best, -1) >= 0:
                return best, False
            if earlier and self._stored(db, user, earlier) == given:
                return earlier, False
        if name not in known:
            return name, False
        ids = (f"{name}-{_hash(text + ' ' * number)[:16]}" for number in count())
        return next(id for id in ids if id not in known), True

    def _likeness(self, stored: _Conversation, given: _Conversation, of: tuple[str, str]) -> int:
        """How much of what would be replaced there is given too; −1 if it is another conversation."""
        if stored.project and given.project and stored.project != given.project:
            return -1
        if any(given.events.get(place, key) != key for place, key in stored.events.items()):
            return -1  # events are never replaced
        replaced = stored.messages[: len(given.messages)]
        telling = _telling(replaced)
        lost = _lost(replaced, given.messages, among=telling)
        is_edited = of not in self._given and 2 * len(lost) < len(telling)
        if lost and not (is_edited and all(_is_single(place, replaced, given.messages) for place in lost)):
            return -1
        return len(telling) - 2 * len(lost)

    def _stored(self, db: sqlite3.Connection, user: str, id: str) -> _Conversation:
        if (user, id) not in self._read:
            where = "WHERE user_id = ? AND session_id = ? ORDER BY sequence"
            messages, project = list[_Piece](), None
            query = f"SELECT role, content, project_slug FROM transcripts {where}"
            for row in db.execute(query, [user, id]):
                messages.append(_piece((row["role"], comparable_json(row["content"]))))
                project = project or row["project_slug"]
            rows = db.execute(f"SELECT sequence, {', '.join(_EVENT)} FROM events {where}", [user, id])
            events_by_place = {place: hash(tuple(rest)) for place, *rest in rows}
            self._read[user, id] = _Conversation(messages, events_by_place, project)
        return self._read[user, id]


def _read(session: Session) -> tuple[str, _Conversation]:
    """What a hash is made of, and the whole session, which is read again when it is stored."""
    refused, unread, skipped = [*session.refused], [*session.unread], session.skipped.copy()
    said = [_message(one) for one in islice(session.messages(), _HASHED)]
    happened = [*filter(None, map(_event, islice(session.events(), _HASHED)))]
    text = as_json([session.project_slug, said or happened])
    messages = [_piece(_message(one)) for one in session.messages()]
    lines = {place: row for place, line in enumerate(session.events()) if (row := _event(line))}
    session.refused[:], session.unread[:], session.skipped = refused, unread, skipped
    events_by_place = {place: hash(row) for place, row in lines.items()}
    return text, _Conversation(messages, events_by_place, session.project_slug)


def _lost(before: Sequence[_Piece], after: Sequence[_Piece], *, among: Sequence[int]) -> list[int]:
    """The places of messages, among these, that the other side does not have anywhere."""
    rest = Counter(after)
    rest.subtract(old for old, new in zip(before, after, strict=False) if old == new)
    lost = []
    for place in among:
        if before[place] != after[place]:
            rest[before[place]] -= 1
            if rest[before[place]] < 0:
                lost.append(place)
    return lost


def _is_single(place: int, before: Sequence[_Piece], after: Sequence[_Piece]) -> bool:
    """Whether the messages around this one are the same: where two branches part, they are not."""
    around = [one for one in (place - 1, place + 1) if one >= 0]
    return all(one < len(before) and before[one] == after[one] for one in around)


def _named_alike(db: sqlite3.Connection, user: str, name: str) -> list[str]:
    """The sessions of this name, and those whose name is longer by what may be a hash."""
    given = {"user": user, "name": name, "end": f"{name}-g"}
    found = {row[0] for table in _TABLES for row in db.execute(_NAMED_ALIKE.format(table), given)}
    longer = (_HASH, _EARLIER_HASH)
    return sorted(id for id in found if any(one.fullmatch(id, len(name)) for one in longer))


def _is_of_name(id: str, name: str, found: Sequence[str], text: str) -> bool:
    """Whether this id was made of the name: version 1.1.1 made hashes of eight digits, as names may end."""
    is_earlier = _EARLIER_HASH.fullmatch(id, len(name))
    return not is_earlier or name in found or id == f"{name}-{_hash(text)[:8]}"


def _is_there(db: sqlite3.Connection, user: str, id: str) -> bool:
    query = "SELECT 1 FROM {} WHERE user_id = ? AND session_id = ?"
    return any(db.execute(query.format(table), [user, id]).fetchone() for table in _TABLES)


def _message(given: Message) -> tuple[str, str]:
    return given["role"], comparable_json(as_json(given.get("content")))


def _event(given: Mapping[str, Any]) -> tuple[Any, ...] | None:
    try:
        row = events.row_of(given, user="", session="", sequence=0, synced_at="")
    except ValueError:  # it will be refused
        return None
    return tuple(row[events.COLUMNS.index(name)] for name in _EVENT)


def _piece(message: tuple[str, str]) -> _Piece:
    if message[1] in _SAYS_NOTHING:
        return _Piece(0, False)
    return _Piece(hash(message), message[0] != "system")


def _telling(pieces: Sequence[_Piece]) -> Sequence[int]:
    """The places of those that tell which conversation it is; of all that say something, if none does."""
    return [place for place, piece in enumerate(pieces) if piece.tells] or [
        place for place, piece in enumerate(pieces) if piece.key
    ]


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
