"""The id of a session whose files do not say it.

It is called like its file or folder, as another conversation may be: `chat.jsonl` of two projects. So what it
begins with is compared with the sessions that are stored under this name.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, count, islice
from typing import Any, NamedTuple, TypeVar

from store.memory.engine.inputs import as_json, comparable_json
from store.memory.engine.passages import Passages
from store.memory.transcripts import events
from store.memory.transcripts.files import Message, Session

_COMPARED = 200  # messages, or events, from the beginning
_HASH = re.compile(r"(-[0-9a-f]{16})?")
_EARLIER_HASH = re.compile(r"-[0-9a-f]{8}")  # of version 1.1.1; a file's own name may end so: log-20240101
_SAYS_NOTHING = ("null", '""', "[]")
_EVENT = ("event", "ts", "turn", "data_size_bytes")
_FIRST = {
    "transcripts": "SELECT role, content, project_slug FROM transcripts ",
    "events": f"SELECT {', '.join(_EVENT)} FROM events ",
}  # as they are compared: sessions with messages by these
# One look-up in the index for each session, however many messages it has.
_NAMED_ALIKE = """
WITH RECURSIVE found (one) AS (
    SELECT min(session_id) FROM {0} WHERE user_id = :user AND session_id >= :name AND session_id < :end
    UNION ALL
    SELECT (SELECT min(session_id) FROM {0} WHERE user_id = :user AND session_id > one AND session_id < :end)
    FROM found WHERE one IS NOT NULL
) SELECT one FROM found WHERE one IS NOT NULL
"""
_T = TypeVar("_T")


class _Piece(NamedTuple):
    """A message or an event; many conversations share those that do not tell which one it is."""

    key: int
    tells: bool


@dataclass(frozen=True, slots=True)
class _Beginning:
    """The first messages or events of a session, and its project if messages say it."""

    pieces: Sequence[_Piece]
    project: str | None = None


class _Given(NamedTuple):
    """The first messages or events of the session whose id is to be chosen."""

    length: int
    telling: Counter[_Piece]
    project: str | None

    @classmethod
    def of(cls, pieces: Sequence[_Piece], project: str | None = None) -> "_Given":
        return cls(len(pieces), Counter(_telling(pieces)), project)


class SessionIds:
    """The ids of the sessions of one import; what is stored is read once."""

    def __init__(self, passages: Passages) -> None:
        self._passages = passages
        self._read: dict[tuple[str, str, str], _Beginning] = {}  # by table, user and id
        self._given: set[tuple[str, str]] = set()  # users and ids

    def choose(self, session: Session) -> None:
        """Give an unnamed session the id of the stored one that it continues, or one that no other has.

        It continues a session of the same project if more than half of what it would replace there is in
        both; of several, the one most like it. A session of this import is continued by what replaces nothing
        of it, and by nothing else.
        """
        if not session.is_named:
            session.session_id = self._id(session)
        user, id = session.user_id, session.session_id
        self._given.add((user, id))
        for table in _FIRST:  # it is about to change
            self._read.pop((table, user, id), None)

    def _id(self, session: Session) -> str:
        user, name, project = session.user_id, session.session_id, session.project_slug
        messages, session.messages = _first(session.messages)
        lines, session.events = _first(session.events)
        said, happened = [*map(_message, messages)], [*filter(None, map(_event, lines))]
        text = as_json([project, said or happened])
        given = {
            "transcripts": _Given.of([*map(_piece, said)], project),
            "events": _Given.of([_Piece(hash(one), True) for one in happened]),
        }
        best, found = 0, name
        with self._passages.database.reading() as db:
            known = _named_alike(db, user, name, f"{name}-{_hash(text)[:8]}")
            for id in known:
                common, of = self._common(db, user, id, given)
                if 2 * common - of > best and (common == of or (user, id) not in self._given):
                    best, found = 2 * common - of, id
        if best or name not in known or not (said or happened):
            return found
        ids = (f"{name}-{_hash(text + ' ' * number)[:16]}" for number in count())
        return next(id for id in ids if id not in known)

    def _common(
        self, db: sqlite3.Connection, user: str, id: str, given: Mapping[str, _Given]
    ) -> tuple[int, int]:
        """How many of the stored pieces that would be replaced the given ones contain, and of how many."""
        for table, after in given.items():
            before = self._beginning(db, table, user, id) if after.length else _Beginning(())
            if before.pieces:
                if before.project and after.project and before.project != after.project:
                    break
                replaced = Counter(_telling(before.pieces[: after.length]))
                both = replaced.keys() & after.telling.keys()
                return sum(min(replaced[one], after.telling[one]) for one in both), replaced.total()
        return 0, 0

    def _beginning(self, db: sqlite3.Connection, table: str, user: str, id: str) -> _Beginning:
        if (table, user, id) not in self._read:
            query = f"{_FIRST[table]} WHERE user_id = ? AND session_id = ? ORDER BY sequence LIMIT ?"
            rows = [tuple(row) for row in db.execute(query, [user, id, _COMPARED])]
            if table == "events":
                found = _Beginning([_Piece(hash(row), True) for row in rows])
            else:
                pieces = [_piece((role, comparable_json(content))) for role, content, _ in rows]
                found = _Beginning(pieces, rows[0][2] if rows else None)
            self._read[table, user, id] = found
        return self._read[table, user, id]


def _named_alike(db: sqlite3.Connection, user: str, name: str, earlier: str) -> list[str]:
    """The sessions of this name, and those that got an id from it; `earlier` is what 1.1.1 would make."""
    given = {"user": user, "name": name, "end": f"{name}-g"}
    found = sorted({row[0] for table in _FIRST for row in db.execute(_NAMED_ALIKE.format(table), given)})
    return [
        id
        for id in found
        if _HASH.fullmatch(id, len(name))
        or (_EARLIER_HASH.fullmatch(id, len(name)) and (name in found or id == earlier))
    ]


def _first(items: Iterator[_T]) -> tuple[list[_T], Iterator[_T]]:
    """The first of these, and all of them."""
    first = list(islice(items, _COMPARED))
    return first, chain(first, items)


def _message(given: Message) -> tuple[str, str]:
    return given["role"], comparable_json(as_json(given.get("content")))


def _event(given: Mapping[str, Any]) -> tuple[Any, ...] | None:
    try:
        row = events.row_of(given, user="", session="", sequence=0, synced_at="")
    except ValueError:  # it will be refused
        return None
    return tuple(row[events.COLUMNS.index(name)] for name in _EVENT)


def _piece(message: tuple[str, str]) -> _Piece:
    return _Piece(hash(message), message[0] != "system" and message[1] not in _SAYS_NOTHING)


def _telling(pieces: Sequence[_Piece]) -> Sequence[_Piece]:
    """Those that tell which conversation it is, if there are any."""
    return [piece for piece in pieces if piece.tells] or pieces


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
