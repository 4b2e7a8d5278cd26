"""The history: who decided what, when, and what can still be undone."""

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from store.catalog.catalog import Catalog, read_json, writing_errors
from store.disk.aside import Aside
from store.disk.sqlite_values import marks
from store.errors import NotPermitted
from store.operations import EMPTY_TRASH, Operation, State, state_from, state_json
from store.records import Tier

PROGRAM = "Memedex"  # who decided what the program does on its own
MOVE_ASIDE, FORGET_VECTORS, FORGET = "move aside", "forget vectors", "forget"
DEMO = "demo"  # … and by loading the demo
NOBODY = (PROGRAM, DEMO)
FINAL = (MOVE_ASIDE, FORGET_VECTORS, EMPTY_TRASH, FORGET)  # what no undo reverses
# SQL: every undone decision, with all undos and redos that followed, each by its place.
CHAIN = (
    "WITH RECURSIVE links AS MATERIALIZED (SELECT id, reverses FROM decisions WHERE reverses IS NOT NULL), "
    "chain (root, id, place) AS (SELECT id, id, 0 FROM decisions WHERE reverses IS NULL "
    "AND id IN (SELECT reverses FROM links) UNION ALL SELECT chain.root, links.id, chain.place + 1 "
    "FROM chain JOIN links ON links.reverses = chain.id)"
)
# … and those that do not count: an odd number of others follows, or an undo of it took nothing back, which is
# in no chain. (`reversed` says which is not the last one.)
UNDONE = (
    f"({CHAIN} SELECT id FROM (SELECT id, max(place) OVER (PARTITION BY root) - place AS following "
    "FROM chain) WHERE following % 2 UNION ALL SELECT id FROM decisions "
    "WHERE reversed AND id NOT IN (SELECT reverses FROM links))"
)

# SQL: whether the decision `d` is one of these, for lists. Nothing is indexed by what it reverses: all chains
# take 100 ms of 200,000 decisions. One's undos and redos come later (`+` keeps SQLite from making an index).
IS_UNDONE = (
    "CASE WHEN d.reversed THEN (WITH RECURSIVE later (id, number, place) AS ("
    "SELECT d.id, d.number, 0 UNION ALL SELECT o.id, o.number, later.place + 1 "
    "FROM later CROSS JOIN decisions o ON o.number > later.number AND +o.reverses = later.id) "
    "SELECT max(place) = 0 OR max(place) % 2 FROM later) ELSE 0 END"
)


@dataclass(frozen=True, slots=True)
class Event:
    """A change of one record by one decision."""

    id: int
    decision: str
    verb: str
    address: str
    name: str
    created_at: float  # UNIX seconds
    actor: str
    reason: str
    before: State | None
    after: State | None
    is_undone: bool

    @property
    def before_tier(self) -> Tier | None:
        """The record's tier before the event; None if it was new."""
        return self.before.tier if self.before else None

    @property
    def after_tier(self) -> Tier | None:
        """The record's tier after the event; None if it is gone."""
        return self.after.tier if self.after else None


@dataclass(frozen=True, slots=True)
class PastDecision:
    """A decision as the history lists it."""

    id: str
    verb: str
    actor: str
    created_at: float
    count: int
    is_undone: bool  # of what was undone and redone, only the undo
    reverses: str | None = None  # the decision that this one took back


def record(db: sqlite3.Connection, operation: Operation) -> None:
    """Add an operation's events, its decision if it is the first part, and what the last part reverses."""
    record_decision(
        db, operation.decision, verb=operation.verb, actor=operation.actor, at=operation.created_at
    )
    if operation.reverses:
        record_reversal(db, operation.decision, of=operation.reverses)
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
                operation.decision, operation.verb, change.address, operation.created_at, operation.actor,
                operation.reason, state_json(change.before), state_json(change.after),
            )
            for change in operation.changes
        ],
    )  # fmt: skip


def record_erased(db: sqlite3.Connection, operation: Operation, word: str, before: State) -> None:
    """Add that a record was deleted for good; `word` replaces its address."""
    record_decision(
        db, operation.decision, verb=operation.verb, actor=operation.actor, at=operation.created_at
    )
    db.execute(
        "INSERT INTO history (decision, verb, address, at, who, reason, before, after) "
        "VALUES (?, ?, ?, ?, ?, 'deleted for good', ?, NULL)",
        [
            operation.decision, operation.verb, word, operation.created_at, operation.actor,
            state_json(replace(before, sidecar_hash="", image_hash="")),
        ],
    )  # fmt: skip


def record_decision(db: sqlite3.Connection, decision: str, *, verb: str, actor: str, at: float) -> None:
    """Add a decision, unless an earlier part of it was added."""
    db.execute(
        "INSERT OR IGNORE INTO decisions (id, verb, who, at) VALUES (?, ?, ?, ?)", [decision, verb, actor, at]
    )


def record_aside(db: sqlite3.Connection, aside: Aside, *, root: Path) -> None:
    """Record once that another program's file was moved aside; the event's address is the new place."""
    place = aside.place.relative_to(root).as_posix()
    if not db.execute("SELECT 1 FROM history WHERE address = ? AND verb = ?", [place, MOVE_ASIDE]).fetchone():
        record_without_coin(db, MOVE_ASIDE, place, actor=PROGRAM, at=aside.at, reason=aside.what)


def record_without_coin(
    db: sqlite3.Connection, verb: str, about: str, *, actor: str, at: float, reason: str
) -> None:
    """Add a decision that changes no record; `about` takes the place of a record's address."""
    decision = uuid4().hex
    record_decision(db, decision, verb=verb, actor=actor, at=at)
    db.execute(
        "INSERT INTO history (decision, verb, address, at, who, reason, before, after) "
        "VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)",
        [decision, verb, about, at, actor, reason],
    )


def record_reversal(db: sqlite3.Connection, decision: str, *, of: str) -> None:
    """Record that this decision has reversed all of another."""
    db.execute("UPDATE decisions SET reverses = ? WHERE id = ?", [of, decision])
    mark_reversed(db, of)


def mark_reversed(db: sqlite3.Connection, decision: str) -> None:
    """Mark a decision as undone."""
    db.execute("UPDATE decisions SET reversed = 1 WHERE id = ?", [decision])


def last_link(db: sqlite3.Connection, decision: str) -> tuple[str, int]:
    """The last undo or redo of a decision, and how many there are; without any, the decision itself and 0."""
    row = db.execute(
        "WITH RECURSIVE chain (id, place) AS (SELECT ?, 0 UNION ALL SELECT d.id, chain.place + 1 "
        "FROM chain JOIN decisions d ON d.reverses = chain.id) "
        "SELECT * FROM chain ORDER BY place DESC LIMIT 1",
        [decision],
    ).fetchone()
    return row["id"], row["place"]


def reverses(db: sqlite3.Connection, decision: str) -> str | None:
    """The decision of which this one took back all that could be; None if it reverses none."""
    row = db.execute("SELECT reverses FROM decisions WHERE id = ?", [decision]).fetchone()
    return row[0] if row else None


def is_reversed(db: sqlite3.Connection, decision: str) -> bool:
    """Whether this decision was undone."""
    row = db.execute("SELECT reversed FROM decisions WHERE id = ?", [decision]).fetchone()
    return bool(row and row[0])


def size(db: sqlite3.Connection, decision: str) -> int:
    """How many changes of records a decision made."""
    return int(db.execute("SELECT count(*) FROM history WHERE decision = ?", [decision]).fetchone()[0])


def of_decision(db: sqlite3.Connection, decision: str, *, among: Sequence[str]) -> list[str]:
    """Those of these records that the decision has changed already."""
    find = "SELECT 1 FROM history WHERE address = ? AND decision = ?"
    return [address for address in among if db.execute(find, [address, decision]).fetchone()]


def events(
    db: sqlite3.Connection, *, address: str | None = None, decision: str | None = None, limit: int = 100
) -> list[Event]:
    """The events of a record, of a decision, or of all; newest first."""
    where, values = "TRUE", []
    if address:
        where, values = "h.address = ?", [address]
    elif decision:
        where, values = "h.decision = ?", [decision]
    rows = db.execute(
        f"SELECT h.*, coalesce(r.name, '') AS name, {IS_UNDONE} AS is_undone FROM history h "
        "LEFT JOIN records r ON r.address = h.address LEFT JOIN decisions d ON d.id = h.decision "
        f"WHERE {where} ORDER BY h.id DESC LIMIT ?",
        [*values, limit],
    )
    return [
        Event(
            row["id"], row["decision"], row["verb"], row["address"], row["name"], row["at"], row["who"],
            row["reason"], _state(row["before"]), _state(row["after"]), bool(row["is_undone"]),
        )
        for row in rows
    ]  # fmt: skip


def decisions(
    db: sqlite3.Connection, where: str = "TRUE", *values: Any, limit: int = -1, offset: int = 0
) -> list[PastDecision]:
    """The decisions `d` that meet this condition (SQL), newest first.

    Each has its number of changed records and judged pairs.
    """
    rows = db.execute(
        f"SELECT d.*, {IS_UNDONE} AS is_undone, "
        "(SELECT count(*) FROM history h WHERE h.decision = d.id) + "
        "(SELECT count(*) FROM verdicts v WHERE v.decision = d.id) AS count "
        f"FROM decisions d WHERE {where} ORDER BY d.number DESC LIMIT ? OFFSET ?",
        [*values, limit, offset],
    )
    return [
        PastDecision(
            row["id"], row["verb"], row["who"], row["at"], row["count"], bool(row["is_undone"]),
            row["reverses"],
        )
        for row in rows
    ]  # fmt: skip


def decision(db: sqlite3.Connection, id: str) -> PastDecision | None:
    """The decision with this id; None if there is none."""
    return next(iter(decisions(db, "d.id = ?", id)), None)


def to_undo(db: sqlite3.Connection, actor: str, *, limit: int = 1) -> list[str]:
    """The ids of this person's last decisions that can be undone, newest first."""
    rows = db.execute(
        f"SELECT id FROM decisions WHERE who = ? AND verb NOT IN ('undo', {marks(FINAL)}) AND NOT reversed "
        "ORDER BY number DESC LIMIT ?",
        [actor, *FINAL, limit],
    )
    return [row[0] for row in rows]


def to_redo(db: sqlite3.Connection, actor: str, *, limit: int = 1) -> list[str]:
    """The ids of this person's undos since their last other decision, newest first."""
    rows = db.execute(
        "SELECT id FROM decisions WHERE who = :who AND verb = 'undo' AND NOT reversed AND number > "
        "coalesce((SELECT max(number) FROM decisions WHERE who = :who AND verb NOT IN ('undo', 'redo')), 0) "
        "ORDER BY number DESC LIMIT :limit",
        {"who": actor, "limit": limit},
    )
    return [row[0] for row in rows]


def _state(text: str | None) -> State | None:
    return state_from(read_json(text, "an event of the history")) if text else None


REMEMBERED = 20_000  # answers of everybody


class Answers:
    """`library.answers`: by a decision's id, what the history alone does not tell of it, such as refusals."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, decision: str) -> str | None:
        """The answer to this decision; None if none was stored.

        Raises NotPermitted if another person made it.
        """
        row = self._catalog.row("SELECT who, answer FROM answers WHERE id = ?", [decision])
        if row is None:
            return None
        if row["who"] != self._catalog.actor.name:
            raise NotPermitted("another user made a decision with this id")
        return str(row["answer"])

    def store(self, decision: str, answer: str, *, actor: str = "") -> None:
        """Store what is answered, and forget the oldest answers. Raises NotWritten if the disk refuses."""
        with writing_errors("the answer"), self._catalog.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)",
                [decision, actor or self._catalog.actor.name, time.time(), answer],
            )
            db.execute(
                "DELETE FROM answers WHERE rowid <= (SELECT max(rowid) FROM answers) - ?", [REMEMBERED]
            )
