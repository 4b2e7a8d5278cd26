"""The history: who decided what, when, and what can still be undone."""

import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol
from uuid import uuid4

from store.catalog.catalog import Catalog, read_json, writing_errors
from store.disk.aside import Aside
from store.disk.sqlite import SqliteFile
from store.errors import NothingToUndo, NotPermitted
from store.operations import EMPTY_TRASH, Operation, State, state_from, state_json
from store.outcome import Outcome, Refusal
from store.progress import Progress
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
    is_final: bool  # no undo reverses it
    reverses: str | None = None  # the decision that this one took back
    kinds: tuple[str, ...] | None = None  # of texts that it changed; None for one about coins


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which decisions; all given conditions must hold. Times are UNIX seconds, `until` is exclusive."""

    actor: str = ""
    verb: str = ""
    since: float | None = None
    until: float | None = None


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
    record_without_coin(
        db, operation.verb, word, actor=operation.actor, at=operation.created_at, reason="deleted for good",
        decision=operation.decision, before=replace(before, sidecar_hash="", image_hash=""),
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
    db: sqlite3.Connection, verb: str, about: str, *, actor: str, at: float, reason: str,
    decision: str = "", before: State | None = None,
) -> None:  # fmt: skip
    """Add an event that leaves no record; `about` takes the place of a record's address."""
    decision = decision or uuid4().hex
    record_decision(db, decision, verb=verb, actor=actor, at=at)
    db.execute(
        "INSERT INTO history (decision, verb, address, at, who, reason, before, after) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
        [decision, verb, about, at, actor, reason, state_json(before)],
    )


def record_reversal(db: sqlite3.Connection, decision: str, *, of: str) -> None:
    """Record that this decision has reversed all of another."""
    db.execute("UPDATE decisions SET reverses = ? WHERE id = ?", [of, decision])
    mark_reversed(db, of)


def mark_reversed(db: sqlite3.Connection, decision: str) -> None:
    """Mark a decision as undone."""
    db.execute("UPDATE decisions SET reversed = 1 WHERE id = ?", [decision])


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


class Told(NamedTuple):
    """How a file tells of its decisions `d`, in SQL; `:by` is a person, `:agent` who acts in their place."""

    columns: str  # `count` and `kinds`, as in `PastDecision`
    changed: str  # what the decision `:id` changed
    own: str  # whether it is this person's
    undoable: str  # whether an undo can reverse it
    bar: str = "SELECT 0"  # the number of one's decision past which no undo of one's own reaches


COINS = Told(
    "(SELECT count(*) FROM history h WHERE h.decision = d.id) + "
    "(SELECT count(*) FROM verdicts v WHERE v.decision = d.id) AS count, NULL AS kinds",
    "SELECT address FROM history WHERE decision = :id ORDER BY id",
    "d.who = :by",
    f"(d.verb NOT IN {FINAL})",
)
AT_FORGETTING = (
    "nothing to undo: the last thing you did was to delete something for good, "
    "and undo never reaches past that"
)
_ALL = AuditFilter()


class DecisionLog:
    """The decisions of a catalog or of a text memory: found and counted, and those of one to undo or redo."""

    def __init__(self, file: SqliteFile, told: Told = COINS) -> None:
        self.file = file
        self._told = told

    def find(self, filter: AuditFilter = _ALL, *, limit: int = 20, offset: int = 0) -> list[PastDecision]:
        """These decisions, newest first, each with its number of changed records, judged pairs or texts."""
        where, values = conditions("d", filter)
        return self._find(where, [*values, limit, offset])

    def count(self, filter: AuditFilter = _ALL) -> int:
        """How many decisions match."""
        where, values = conditions("d", filter)
        return int(self.file.row(f"SELECT count(*) FROM decisions d WHERE {where}", values)[0])

    def get(self, id: str) -> PastDecision | None:
        """The decision with this id; None if there is none."""
        return next(iter(self._find("d.id = ?", [id, 1, 0])), None)

    def to_undo(self, by: str, *, limit: int = 1) -> list[str]:
        """The ids of this person's last decisions that can be undone, newest first."""
        told = self._told
        return self._ids(
            f"{told.own} AND d.verb <> 'undo' AND {told.undoable} AND d.number > coalesce(({told.bar}), 0)",
            by, limit,
        )  # fmt: skip

    def to_redo(self, by: str, *, limit: int = 1) -> list[str]:
        """The ids of this person's undos since their last other decision, newest first."""
        others = f"FROM decisions d WHERE {self._told.own} AND d.verb NOT IN ('undo', 'redo')"
        since = f"coalesce((SELECT max(d.number) {others}), 0)"
        return self._ids(f"{self._told.own} AND d.verb = 'undo' AND d.number > {since}", by, limit)

    def why_no_undo(self, by: str) -> str:
        """Why this person has nothing to undo, as a sentence without a full stop."""
        (is_barred,) = self.file.row(self._told.bar, self._names(by))
        return AT_FORGETTING if is_barred else "nothing to undo"

    def changed(self, id: str) -> list[str]:
        """What a decision changed, each once, in its order."""
        return [*dict.fromkeys(row[0] for row in self.file.rows(self._told.changed, {"id": id}))]

    def people(self) -> list[str]:
        """Everybody who ever decided something."""
        return self._distinct("who")

    def verbs(self) -> list[str]:
        """Every verb that occurs."""
        return self._distinct("verb")

    def since(self, at: float, *, filter: AuditFilter = _ALL) -> list[str]:
        """The decisions to reverse, in this order, to restore the state at this moment.

        In a chain decision → undo → redo …, only the last link can be reversed. Reverse it if the chain made
        since `at` has odd length; an even one cancels out.
        """
        where, values = conditions("d", filter)
        rows = self.file.rows(
            f"SELECT d.id, d.reverses, d.reversed FROM decisions d WHERE {where} AND d.at >= ? "
            "AND d.verb NOT IN (SELECT value FROM json_each(?)) ORDER BY d.number DESC",
            [*values, at, json.dumps(FINAL)],
        )
        links: dict[str, int] = {}
        for row in reversed(rows):
            links[row["id"]] = 1 + links.get(row["reverses"], 0)
        return [row["id"] for row in rows if not row["reversed"] and links[row["id"]] % 2]

    def last_link(self, id: str) -> tuple[str, int]:
        """The last undo or redo of a decision, and how many there are; without any, the decision and 0."""
        row = self.file.row(
            "WITH RECURSIVE chain (id, place) AS (SELECT ?, 0 UNION ALL SELECT d.id, chain.place + 1 "
            "FROM chain JOIN decisions d ON d.reverses = chain.id) "
            "SELECT id, place FROM chain ORDER BY place DESC LIMIT 1",
            [id],
        )
        return tuple(row)

    def _find(self, where: str, values: Sequence[Any]) -> list[PastDecision]:
        told = self._told
        rows = self.file.rows(
            f"SELECT d.*, {IS_UNDONE} AS is_undone, NOT {told.undoable} AS is_final, {told.columns} "
            f"FROM decisions d WHERE {where} ORDER BY d.number DESC LIMIT ? OFFSET ?",
            values,
        )
        return [
            PastDecision(
                row["id"], row["verb"], row["who"], row["at"], row["count"], bool(row["is_undone"]),
                bool(row["is_final"]), row["reverses"],
                None if row["kinds"] is None else tuple(sorted(json.loads(row["kinds"]))),
            )
            for row in rows
        ]  # fmt: skip

    def _ids(self, where: str, by: str, limit: int) -> list[str]:
        query = f"SELECT id FROM decisions d WHERE {where} AND NOT reversed ORDER BY number DESC LIMIT :n"
        return [row[0] for row in self.file.rows(query, {**self._names(by), "n": limit})]

    def _names(self, by: str) -> dict[str, Any]:
        return {"by": by, "agent": self.file.actor.agent}

    def _distinct(self, column: str) -> list[str]:
        return [
            row[0] for row in self.file.rows(f"SELECT DISTINCT {column} FROM decisions ORDER BY {column}")
        ]


def conditions(table: str, filter: AuditFilter) -> tuple[str, list[Any]]:
    """SQL, and its values, for the rows of this table that pass the filter."""
    parts, values = ["TRUE"], []
    for condition, value in (
        ("who = ?", filter.actor or None),
        ("verb = ?", filter.verb or None),
        ("at >= ?", filter.since),
        ("at < ?", filter.until),
    ):
        if value is not None:
            parts.append(f"{table}.{condition}")
            values.append(value)
    return " AND ".join(parts), values


def _state(text: str | None) -> State | None:
    return state_from(read_json(text, "an event of the history")) if text else None


REMEMBERED = 20_000  # answers of everybody


class Answers:
    """`library.answers`: by a decision's id, what the history alone does not tell of it, such as refusals."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, decision: str) -> str | None:
        """The answer to this decision; None if none was stored. Raises NotPermitted if not one's own."""
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


Verb = Literal["undo", "redo"]


class Reverse(Protocol):
    """How a library or a text memory restores what one decision replaced."""

    def __call__(
        self, chosen: str, verb: Verb, outcome: Outcome, *, actor: str, id: str | None, progress: Progress
    ) -> bool:
        """Reverse it by a decision with this id, as far as nothing was changed since; False ends a series."""


class Undo:
    """Reverses decisions, one at a time; what was changed since is refused."""

    def __init__(
        self,
        log: DecisionLog,
        *,
        turn: Callable[[], AbstractContextManager[object]],
        reverse: Reverse,
        after: Callable[[Outcome], None] = lambda outcome: None,
    ) -> None:
        """Within a `turn` nothing else chooses a decision; `after` is called at the end of each."""
        self._log = log
        self._turn = turn
        self._reverse = reverse
        self._after = after

    def last(self, verb: Verb, n: int = 1, *, actor: str = "", id: str | None = None) -> Outcome:
        """Undo this person's last n decisions, or redo what they undid since. Raises NothingToUndo."""
        self._log.file.check_writable()
        outcome, by = Outcome(), actor or self._log.file.actor.name
        for number in range(n):
            with self._turn():
                if self._is_made(id, by, outcome):
                    break
                found = (self._log.to_undo if verb == "undo" else self._log.to_redo)(by)
                if not found and number:
                    break
                if not found:
                    raise NothingToUndo(self._log.why_no_undo(by) if verb == "undo" else "nothing to redo")
                goes_on = self._reversed(found[0], verb, outcome, actor=actor, id=id)
            self._after(outcome)
            if not goes_on:
                break
        return outcome

    def decisions(
        self,
        decisions: Sequence[str],
        *,
        actor: str = "",
        progress: Progress | None = None,
        id: str | None = None,
    ) -> Outcome:
        """Undo any person's decisions one by one (an undo is redone); `id` is that of the first reversal."""
        self._log.file.check_writable()
        outcome, by = Outcome(), actor or self._log.file.actor.name
        for chosen in decisions:
            with self._turn():
                if self._is_made(id, by, outcome):
                    id = None
                    continue
                last, others = self._log.last_link(chosen)
                made = self._log.get(last)
                if made is None or made.is_final:
                    why = "it cannot be undone" if made else "there is no such decision"
                    outcome.refused.append(Refusal(chosen, why))
                    continue
                if made.is_undone or others % 2:
                    continue
                verb: Verb = "redo" if made.verb == "undo" else "undo"
                goes_on = self._reversed(last, verb, outcome, actor=actor, id=id, progress=progress)
                id = None
            self._after(outcome)
            if not goes_on:
                break
        return outcome

    def _reversed(
        self, chosen: str, verb: Verb, outcome: Outcome, *, actor: str, id: str | None,
        progress: Progress | None = None,
    ) -> bool:  # fmt: skip
        outcome.reversed = chosen
        return self._reverse(chosen, verb, outcome, actor=actor, id=id, progress=progress or Progress())

    def _is_made(self, id: str | None, by: str, outcome: Outcome) -> bool:
        """Whether the decision with this id was made before; what it did is in the outcome then.

        A reversal that was interrupted does not say what it reverses, and goes on.
        """
        made = self._log.get(id) if id else None
        if made is None:
            return False
        if made.actor != by:
            raise NotPermitted("another user made a decision with this id")
        if made.verb in ("undo", "redo") and not made.reverses:
            return False
        outcome.done += self._log.changed(made.id)
        outcome.decision, outcome.reversed = made.id, made.reverses
        return True
