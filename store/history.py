"""What was decided: who, when, what, and what can be taken back."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from store.records import Tier
from store.writing.operations import Operation, State, state_from, state_json


@dataclass(frozen=True, slots=True)
class Event:
    """What one decision did to one record."""

    id: int
    decision: str
    verb: str
    address: str
    name: str
    at: float  # UNIX seconds
    who: str
    reason: str
    before: State | None
    after: State | None
    is_undone: bool

    @property
    def before_tier(self) -> Tier | None:
        return self.before.tier if self.before else None

    @property
    def after_tier(self) -> Tier | None:
        return self.after.tier if self.after else None


@dataclass(frozen=True, slots=True)
class Decision:
    """What somebody did in one go."""

    id: str
    verb: str
    who: str
    at: float
    count: int
    is_undone: bool
    reverses: str | None = None  # the decision that this one took back


def note(db: sqlite3.Connection, operation: Operation) -> None:
    """Add an operation's events; its decision with the first operation, with the last what it takes back."""
    note_decision(db, operation.decision, verb=operation.verb, who=operation.who, at=operation.at)
    if operation.reverses:
        note_reversal(db, operation.decision, of=operation.reverses)
    db.executemany(
        "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?)",
        [
            (operation.decision, change.address, facet, source.model, source.prompt, source.edited)
            for change in operation.changes
            for facet, source in operation.sources.items()
        ],
    )
    db.executemany(
        "INSERT INTO history (decision, verb, address, at, who, reason, before, after) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                operation.decision, operation.verb, change.address, operation.at, operation.who,
                operation.reason, state_json(change.before), state_json(change.after),
            )
            for change in operation.changes
        ],
    )  # fmt: skip


def note_decision(db: sqlite3.Connection, decision: str, *, verb: str, who: str, at: float) -> None:
    """Add a decision, unless an earlier part of it did."""
    db.execute(
        "INSERT OR IGNORE INTO decisions (id, verb, who, at) VALUES (?, ?, ?, ?)", [decision, verb, who, at]
    )


def note_reversal(db: sqlite3.Connection, decision: str, *, of: str) -> None:
    """This decision has taken back all there was of another."""
    db.execute("UPDATE decisions SET reverses = ? WHERE id = ?", [of, decision])
    mark_reversed(db, of)


def mark_reversed(db: sqlite3.Connection, decision: str) -> None:
    db.execute("UPDATE decisions SET reversed = 1 WHERE id = ?", [decision])


def is_reversed(db: sqlite3.Connection, decision: str) -> bool:
    row = db.execute("SELECT reversed FROM decisions WHERE id = ?", [decision]).fetchone()
    return bool(row and row[0])


def size(db: sqlite3.Connection, decision: str) -> int:
    """How many changes of records it made."""
    return int(db.execute("SELECT count(*) FROM history WHERE decision = ?", [decision]).fetchone()[0])


def of_decision(db: sqlite3.Connection, decision: str, *, among: Sequence[str]) -> list[str]:
    """Those of these records that the decision has changed already."""
    find = "SELECT 1 FROM history WHERE address = ? AND decision = ?"
    return [address for address in among if db.execute(find, [address, decision]).fetchone()]


def events(
    db: sqlite3.Connection, *, address: str | None = None, decision: str | None = None, limit: int = 100
) -> list[Event]:
    """Newest first."""
    where, values = "TRUE", []
    if address:
        where, values = "h.address = ?", [address]
    elif decision:
        where, values = "h.decision = ?", [decision]
    rows = db.execute(
        "SELECT h.*, coalesce(r.name, '') AS name, coalesce(d.reversed, 0) AS reversed FROM history h "
        "LEFT JOIN records r ON r.address = h.address LEFT JOIN decisions d ON d.id = h.decision "
        f"WHERE {where} ORDER BY h.id DESC LIMIT ?",
        [*values, limit],
    )
    return [
        Event(
            row["id"], row["decision"], row["verb"], row["address"], row["name"], row["at"], row["who"],
            row["reason"], _state(row["before"]), _state(row["after"]), bool(row["reversed"]),
        )
        for row in rows
    ]  # fmt: skip


def decisions(db: sqlite3.Connection, *, only: str | None = None, limit: int = 20) -> list[Decision]:
    """Newest first, each with the number of records it changed and of pairs it judged; or one alone."""
    rows = db.execute(
        "SELECT d.*, (SELECT count(*) FROM history h WHERE h.decision = d.id) + "
        "(SELECT count(*) FROM verdicts v WHERE v.decision = d.id) AS count "
        "FROM decisions d WHERE ?1 IS NULL OR d.id = ?1 ORDER BY d.number DESC LIMIT ?2",
        [only, limit],
    )
    return [
        Decision(
            row["id"], row["verb"], row["who"], row["at"], row["count"], bool(row["reversed"]),
            row["reverses"],
        )
        for row in rows
    ]  # fmt: skip


def to_undo(db: sqlite3.Connection, who: str, *, besides: Sequence[str] = ()) -> str | None:
    """This person's last decision that still stands, besides these."""
    row = db.execute(
        "SELECT id FROM decisions WHERE who = ? AND verb <> 'undo' AND NOT reversed "
        "AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY number DESC LIMIT 1",
        [who, json.dumps([*besides])],
    ).fetchone()
    return row[0] if row else None


def to_redo(db: sqlite3.Connection, who: str) -> str | None:
    """This person's last undo, unless something new was decided since."""
    row = db.execute(
        "SELECT id FROM decisions WHERE who = :who AND verb = 'undo' AND NOT reversed AND number > "
        "coalesce((SELECT max(number) FROM decisions WHERE who = :who AND verb NOT IN ('undo', 'redo')), 0) "
        "ORDER BY number DESC LIMIT 1",
        {"who": who},
    ).fetchone()
    return row[0] if row else None


def _state(text: str | None) -> State | None:
    return state_from(json.loads(text)) if text else None
