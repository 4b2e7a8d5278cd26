"""The history of all decisions: filtered by person, time and verb, with speed and results."""

import csv
import io
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from heapq import merge
from operator import itemgetter
from typing import Any, NamedTuple

from store.catalog import history
from store.catalog.history import CHAIN, FINAL, NOBODY, UNDONE, PastDecision
from store.disk.csv import inert
from store.disk.sqlite import SqliteFile
from store.reading.reader import Reader
from store.records import Tier

HEADINGS = ("when (UTC)", "who", "what", "address", "name", "from", "to", "reason", "taken back")
_FIRST_LOOKS = ("approve", "reject")
_QUARTER = 900  # seconds: each zone differs from UTC by whole quarters of an hour
_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which decisions; all given conditions must hold. Times are UNIX seconds, `until` is exclusive."""

    actor: str = ""
    verb: str = ""
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class AuditFigures:
    """Results of reviewing: approvals and rejections that were not undone."""

    approved: int
    rejected: int
    by_people: int  # of these, without what the demo brought
    hours: int  # in which a person approved or rejected, each person's counted for itself
    reasons: dict[str, int]  # of rejections, most frequent first; "" where none was given

    @property
    def an_hour(self) -> float:
        """How many coins one person decides in an hour of work."""
        return self.by_people / self.hours if self.hours else 0.0

    @property
    def approval(self) -> float:
        """The approval rate, from 0 to 1."""
        looked_at = self.approved + self.rejected
        return self.approved / looked_at if looked_at else 0.0


class DecisionsOfDay(NamedTuple):
    """The number of decisions with one verb on a day (since 1970)."""

    day: int
    verb: str
    decisions: int


class ReviewsOfDay(NamedTuple):
    """The number of coins approved and rejected on a day (since 1970)."""

    day: int
    approved: int
    rejected: int


def moves_by_day(
    reader: Reader, *, since: float, zone: tzinfo = UTC
) -> list[tuple[int, Tier | None, Tier | None, int]]:
    """How many records moved on each day (since 1970) of a time zone from and to which tier.

    None as a tier means outside the library.
    """
    rows = reader.catalog.rows(
        f"SELECT CAST(at / {_QUARTER} AS INTEGER), json_extract(before, '$.tier'), "
        "json_extract(after, '$.tier'), count(*) FROM history WHERE at >= ? GROUP BY 1, 2, 3",
        [since],
    )
    moved = Counter[tuple[int, Tier | None, Tier | None]]()
    for quarter, gone, come, number in rows:
        moved[_day(quarter, zone), gone, come] += number
    return [(*key, number) for key, number in moved.items()]


def find(reader: Reader, filter: AuditFilter, *, offset: int = 0, limit: int = 100) -> list[PastDecision]:
    """These decisions, newest first."""
    where, values = conditions("d", filter)
    with reader.catalog.reading() as db:
        return history.decisions(db, where, *values, limit=limit, offset=offset)


def count(reader: Reader, filter: AuditFilter) -> int:
    """How many decisions match."""
    where, values = conditions("d", filter)
    return int(reader.catalog.row(f"SELECT count(*) FROM decisions d WHERE {where}", values)[0])


def people(database: SqliteFile) -> list[str]:
    """Everybody who ever decided something; `database` as in `since`."""
    return _distinct(database, "who")


def verbs(database: SqliteFile) -> list[str]:
    """Every verb that occurs in the history; `database` as in `since`."""
    return _distinct(database, "verb")


def figures(reader: Reader, filter: AuditFilter) -> AuditFigures:
    """How many were approved and rejected, how fast, and the reasons for rejections."""
    standing, values = _standing(filter)
    with reader.catalog.reading() as db:
        made = dict(db.execute(f"SELECT h.verb, count(*) {standing} GROUP BY h.verb", values).fetchall())
        by_people, hours = db.execute(
            "SELECT coalesce(sum(coins), 0), count(*) FROM (SELECT count(*) AS coins "
            f"{standing} AND h.who NOT IN (?, ?) GROUP BY h.who, CAST(h.at / 3600 AS INTEGER))",
            [*values, *NOBODY],
        ).fetchone()
        reasons = db.execute(
            f"SELECT h.reason, count(*) {standing} AND h.verb = 'reject' "
            "GROUP BY h.reason ORDER BY count(*) DESC, h.reason",
            values,
        ).fetchall()
    return AuditFigures(
        made.get("approve", 0), made.get("reject", 0), by_people, hours, dict(map(tuple, reasons))
    )


def count_by_verb(reader: Reader) -> dict[str, int]:
    """How many decisions of each verb were ever made, undone ones included."""
    rows = reader.catalog.rows("SELECT verb, count(*) FROM decisions GROUP BY verb ORDER BY verb")
    return {row[0]: row[1] for row in rows}


def decisions_by_day(reader: Reader, filter: AuditFilter, zone: tzinfo = UTC) -> list[DecisionsOfDay]:
    """These decisions counted by day in a time zone and by verb, oldest first; together they are `count`.

    A redo counts as the verb that it carries out again.
    """
    where, values = conditions("d", filter)
    rows = reader.catalog.rows(
        f"{CHAIN}, meant (id, verb) AS "
        "(SELECT chain.id, d.verb FROM chain JOIN decisions d ON d.id = chain.root WHERE place % 2 = 0) "
        f"SELECT CAST(d.at / {_QUARTER} AS INTEGER), coalesce(meant.verb, d.verb), count(*) "
        f"FROM decisions d LEFT JOIN meant ON meant.id = d.id WHERE {where} GROUP BY 1, 2",
        values,
    )
    made = Counter[tuple[int, str]]()
    for quarter, verb, number in rows:
        made[_day(quarter, zone), verb] += number
    return [DecisionsOfDay(*key, made[key]) for key in sorted(made)]


def reviews_by_day(reader: Reader, filter: AuditFilter, zone: tzinfo = UTC) -> list[ReviewsOfDay]:
    """The approvals and rejections of `figures` by day in a time zone, oldest first."""
    standing, values = _standing(filter)
    rows = reader.catalog.rows(
        f"SELECT CAST(h.at / {_QUARTER} AS INTEGER), sum(h.verb = 'approve'), sum(h.verb = 'reject') "
        f"{standing} GROUP BY 1",
        values,
    )
    approved, rejected = Counter[int](), Counter[int]()
    for quarter, ups, downs in rows:
        day = _day(quarter, zone)
        approved[day] += ups
        rejected[day] += downs
    return [ReviewsOfDay(day, approved[day], rejected[day]) for day in sorted(approved)]


def since(database: SqliteFile, at: float, *, filter: AuditFilter) -> list[str]:
    """The decisions to reverse, in this order, to restore the state at this moment.

    `database` is a library's catalog or the text memory's.

    In a chain decision → undo → redo …, only the last link can be reversed. Reverse it if the chain made
    since `at` has odd length; an even one cancels out.
    """
    where, values = conditions("d", filter)
    rows = database.rows(
        f"SELECT d.id, d.reverses, d.reversed FROM decisions d WHERE {where} AND d.at >= ? "
        "AND d.verb NOT IN (SELECT value FROM json_each(?)) ORDER BY d.number DESC",
        [*values, at, json.dumps(FINAL)],
    )
    links: dict[str, int] = {}
    for row in reversed(rows):
        links[row["id"]] = 1 + links.get(row["reverses"], 0)
    return [row["id"] for row in rows if not row["reversed"] and links[row["id"]] % 2]


def as_csv(reader: Reader, filter: AuditFilter, *, others: Iterable[tuple[str, ...]] = ()) -> str:
    """Every record of every decision as a line, newest first, protected against formulas in spreadsheets.

    `others` are lines of decisions that are not about records, newest first (`line_of`).
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(HEADINGS)
    with reader.catalog.reading() as db:
        lines = merge(_lines(db, filter), others, key=itemgetter(0), reverse=True)
        writer.writerows([inert(cell) for cell in line] for line in lines)
    return out.getvalue()


def line_of(decision: PastDecision, *, what: str) -> tuple[str, ...]:
    """A line of the CSV for a decision as a whole; `what` takes the place of the name."""
    return (
        _when(decision.created_at), decision.actor, decision.verb, "", what, "", "", "",
        "yes" if decision.is_undone else "",
    )  # fmt: skip


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _lines(db: sqlite3.Connection, filter: AuditFilter) -> Iterator[tuple[str, ...]]:
    where, values = conditions("h", filter)
    rows = db.execute(
        f"SELECT h.*, coalesce(r.name, '') AS name, h.decision IN {UNDONE} AS is_undone, "
        "coalesce(h.before ->> 'tier', '') AS source, coalesce(h.after ->> 'tier', '') AS target "
        "FROM history h LEFT JOIN records r ON r.address = h.address "
        f"WHERE {where} ORDER BY h.id DESC",
        values,
    )
    for row in rows:
        yield (
            _when(row["at"]), row["who"], row["verb"], row["address"], row["name"], row["source"],
            row["target"], row["reason"], "yes" if row["is_undone"] else "",
        )  # fmt: skip


def _distinct(database: SqliteFile, column: str) -> list[str]:
    return [row[0] for row in database.rows(f"SELECT DISTINCT {column} FROM decisions ORDER BY {column}")]


def _day(quarter: int, zone: tzinfo) -> int:
    """The day (since 1970) on which this quarter of an hour begins in a time zone."""
    return datetime.fromtimestamp(quarter * _QUARTER, zone).date().toordinal() - _EPOCH


def _standing(filter: AuditFilter) -> tuple[str, list[Any]]:
    """SQL and values that select approvals and rejections that were not undone."""
    where, values = conditions("h", filter)
    found = f"FROM history h WHERE {where} AND h.verb IN (?, ?) AND h.decision NOT IN {UNDONE}"
    return found, [*values, *_FIRST_LOOKS]


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
