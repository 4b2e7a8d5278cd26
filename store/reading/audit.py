"""What decisions about coins came to: their speed and results, by day, and all of them as a table."""

import csv
import io
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from heapq import merge
from operator import itemgetter
from typing import Any, NamedTuple

from store.catalog.history import CHAIN, NOBODY, UNDONE, AuditFilter, PastDecision, conditions
from store.disk.csv import inert
from store.reading.reader import Reader
from store.records import Tier

HEADINGS = ("when (UTC)", "who", "what", "address", "name", "from", "to", "reason", "taken back")
_FIRST_LOOKS = ("approve", "reject")
_QUARTER = 900  # seconds: each zone differs from UTC by whole quarters of an hour
_EPOCH = date(1970, 1, 1).toordinal()


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
    """How many records moved each day (since 1970) from and to which tier; None: outside."""
    rows = reader.catalog.rows(
        f"SELECT CAST(at / {_QUARTER} AS INTEGER), json_extract(before, '$.tier'), "
        "json_extract(after, '$.tier'), count(*) FROM history WHERE at >= ? GROUP BY 1, 2, 3",
        [since],
    )
    moved = Counter[tuple[int, Tier | None, Tier | None]]()
    for quarter, gone, come, number in rows:
        moved[_day(quarter, zone), gone, come] += number
    return [(*key, number) for key, number in moved.items()]


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
    """These decisions by day and verb, oldest first; a redo counts as the verb that it repeats."""
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


def _day(quarter: int, zone: tzinfo) -> int:
    """The day (since 1970) on which this quarter of an hour begins in a time zone."""
    return datetime.fromtimestamp(quarter * _QUARTER, zone).date().toordinal() - _EPOCH


def _standing(filter: AuditFilter) -> tuple[str, list[Any]]:
    """SQL and values that select approvals and rejections that were not undone."""
    where, values = conditions("h", filter)
    found = f"FROM history h WHERE {where} AND h.verb IN (?, ?) AND h.decision NOT IN {UNDONE}"
    return found, [*values, *_FIRST_LOOKS]
