"""The id under which a session is stored: its own, unless another conversation has it already.

Two files may say the same id, as copies that were continued apart do, and many are called alike: `chat.jsonl`
of two projects. So what a file says is compared with the sessions that are stored under its name.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import count, islice
from typing import Any, NamedTuple

from store.memory.engine.database import Database
from store.memory.engine.inputs import as_json, comparable_json
from store.memory.transcripts import events
from store.memory.transcripts.messages import Message, Session

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
