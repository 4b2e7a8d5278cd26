"""Events of sessions: telemetry, found by its fields, never embedded."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import NAMESPACE_URL, uuid5

from store.disk.sqlite import marks
from store.memory.engine.entries import Entries
from store.memory.engine.foreign import moment, time_of, whole_number
from store.memory.engine.inputs import InvalidInput, check_known, checked_count
from store.memory.transcripts.messages import text_of

EventColumn = Literal["event", "tool_name", "lvl", "error_type", "model_used"]
_COLUMNS: Mapping[EventColumn, str] = {
    "event": "type of event", "tool_name": "tool", "lvl": "level", "error_type": "type of error",
    "model_used": "model",
}  # fmt: skip
_INDEXED = ("event", "tool_name", "lvl")
LARGEST = 400 * 1024  # bytes of JSON kept of one event's data; its true size is kept in any case
COLUMNS = (
    "id", "user_id", "session_id", "sequence", "event", "ts", "lvl", "turn", "data", "tool_name",
    "error_type", "model_used", "data_truncated", "data_size_bytes", "synced_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Conditions on events in any case; None means any. Dates are ISO 8601, both ends inclusive."""

    event: str | None = None
    tool_name: str | None = None
    lvl: str | None = None
    error_type: str | None = None
    model_used: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    project_slug: str | Collection[str] | None = None  # of the session's messages: it, or one of several
    since: str | None = None
    until: str | None = None
    words: str | None = None  # each occurs in the event's data, whatever its case


_ANY = EventFilter()


def row_of(
    given: Mapping[str, Any], *, user: str, session: str, sequence: int, synced_at: str
) -> tuple[Any, ...]:
    """The event as a row. Raises ValueError without a type or time."""
    name, ts = text_of(given.get("event", given.get("type"))), time_of(given)
    if name is None:
        raise ValueError("the event has no type")
    if ts is None:
        raise ValueError("the event has no time")
    data = given.get("data")
    text = None if data is None else json.dumps(data, separators=(",", ":"))
    size = len(text) if text is not None else 0
    cut = size > LARGEST
    fields: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    error = fields.get("error")
    kind = error.get("type") if isinstance(error, Mapping) else fields.get("error_type")
    level, turn = given.get("lvl", given.get("level")), whole_number(given.get("turn"))
    return (
        str(uuid5(NAMESPACE_URL, json.dumps([user, session, "event", sequence]))),
        user, session, sequence, name, ts, text_of(level), turn,
        json.dumps(text[:1000]) if cut and text else text,
        text_of(fields.get("tool_name") or fields.get("tool")), text_of(kind), text_of(fields.get("model")),
        cut, size, synced_at,
    )  # fmt: skip


def insert(db: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> int:
    """Add new events, and the data that an earlier Memedex cut and this one keeps; returns how many."""
    add = (
        f"INSERT INTO events VALUES ({', '.join('?' * len(COLUMNS))}) ON CONFLICT (id) DO UPDATE "
        "SET data = excluded.data, data_truncated = FALSE WHERE data_truncated > excluded.data_truncated"
    )
    return max(0, db.executemany(add, rows).rowcount)  # -1 without a row


class SessionEvents:
    """The events of recorded sessions, found by their fields."""

    def __init__(self, entries: Entries) -> None:
        self.entries = entries

    def find_events(
        self, filter: EventFilter = _ANY, *, offset: int = 0, limit: int = 100
    ) -> list[dict[str, Any]]:
        """A page of the events that match, newest first. Raises InvalidInput if the offset is negative."""
        checked_count(limit, what="n")
        if offset < 0:
            raise InvalidInput(f"the offset has to be 0 or more, not {offset}")
        with self.entries.database.reading() as db:
            conditions, values = _conditions(db, filter)
            query = (
                f"SELECT * FROM events WHERE {conditions} ORDER BY ts DESC, sequence DESC LIMIT ? OFFSET ?"
            )
            return [dict(row) for row in db.execute(query, [*values, limit, offset])]

    def count_events(self, filter: EventFilter = _ANY) -> int:
        """How many events match. Raises InvalidInput for a bound that is no date or time."""
        with self.entries.database.reading() as db:
            conditions, values = _conditions(db, filter)
            return int(db.execute(f"SELECT count(*) FROM events WHERE {conditions}", values).fetchone()[0])

    def event_sessions(self, *, project_slug: str | Collection[str] | None = None) -> dict[str, int]:
        """The number of events of each session that has any, for one project, several or all."""
        with self.entries.database.reading() as db:
            conditions, values = _conditions(db, EventFilter(project_slug=project_slug))
            query = f"SELECT session_id, count(*) FROM events WHERE {conditions} GROUP BY 1 ORDER BY 1"
            return dict(db.execute(query, values).fetchall())

    def event_values(self, column: EventColumn) -> list[str]:
        """The types, tools, levels, types of errors or models that occur among the events."""
        with self.entries.database.reading() as db:
            return _values(db, column)

    def check_known_events(self, filter: EventFilter) -> None:
        """Raises UnknownEntry, with the nearest values, if no event has a value of this filter."""
        self.entries.actor.check_login()
        for column, what in _COLUMNS.items():
            if (wanted := getattr(filter, column)) is not None:
                known = {one.casefold(): one for one in self.event_values(column)}
                if wanted.casefold() not in known:
                    check_known(wanted, [*known.values()], what=what)


def _values(db: sqlite3.Connection, column: EventColumn) -> list[str]:
    """The distinct values of this column; of an indexed one by as many lookups as there are values."""
    if column not in _INDEXED:
        rows = db.execute(f"SELECT DISTINCT {column} FROM events WHERE {column} > '' ORDER BY {column}")
        return [row[0] for row in rows]
    found = set[str]()
    for user in _users(db):
        found.update(_steps(db, column, "user_id = ? AND", [user]))
    return sorted(found)


def _conditions(db: sqlite3.Connection, filter: EventFilter) -> tuple[str, list[Any]]:
    # Every index begins with the user: without one asked for, all of them are named.
    users = [filter.user_id] if filter.user_id is not None else _users(db)
    parts, given = [f"user_id IN ({', '.join('?' * len(users))})"], list[Any](users)
    for column in _COLUMNS:
        if (wanted := getattr(filter, column)) is not None:
            same = [one for one in _values(db, column) if one.casefold() == wanted.casefold()]
            parts.append(f"{column} IN ({marks(same)})")
            given += same
    if filter.session_id is not None:
        parts.append("session_id = ?")
        given.append(filter.session_id)
    if filter.project_slug is not None:
        slugs = [filter.project_slug] if isinstance(filter.project_slug, str) else [*filter.project_slug]
        parts.append(
            "(user_id, session_id) IN "
            f"(SELECT user_id, session_id FROM transcripts WHERE project_slug IN ({marks(slugs)}))"
        )
        given += slugs
    for word in (filter.words or "").split():
        parts.append("instr(lower(coalesce(data, '')), ?) > 0")
        given.append(json.dumps(word.lower(), ensure_ascii=True)[1:-1])  # as `row_of` writes it
    for bound, sign in ((filter.since, ">="), (filter.until, "<=")):
        if bound is not None:
            parts.append(f"ts {sign} ?")
            whole_day = f"{bound}T23:59:59.999" if sign == "<=" and len(bound) == 10 else bound
            if (limit := moment(whole_day)) is None:
                raise InvalidInput(f"{bound!r} is no date or time; write it like 2025-01-31")
            given.append(limit)
    return " AND ".join(parts), given


def _users(db: sqlite3.Connection) -> list[str]:
    return list(_steps(db, "user_id", "", []))


def _steps(db: sqlite3.Connection, column: str, condition: str, values: list[str]) -> Iterator[str]:
    """The distinct values of an indexed column, without reading the rows between."""
    query = f"SELECT min({column}) FROM events WHERE {condition} {column} > ?"
    value = db.execute(query, [*values, ""]).fetchone()[0]
    while value is not None:
        yield value
        value = db.execute(query, [*values, value]).fetchone()[0]
