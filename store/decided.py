"""All that was ever decided: found again by who, when and what; how fast, and with what result."""

import csv
import io
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from store.history import Decision
from store.importing.tables import inert
from store.reading import Reader
from store.records import Tier

HEADINGS = ("when (UTC)", "who", "what", "address", "name", "from", "to", "reason", "taken back")
_FIRST_LOOKS = ("approve", "reject")


@dataclass(frozen=True, slots=True)
class Asked:
    """Which decisions; every part given must hold. Times are UNIX seconds, `until` is not among them."""

    who: str = ""
    verb: str = ""
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of looking at coins: approvals and rejections that still stand."""

    approved: int
    rejected: int
    hours: int  # in which somebody approved or rejected, each person's counted for itself
    reasons: dict[str, int]  # of rejections, most frequent first; "" where none was given

    @property
    def an_hour(self) -> float:
        """How many one person decides in an hour of work."""
        return (self.approved + self.rejected) / self.hours if self.hours else 0.0

    @property
    def approval(self) -> float:
        """Which part was approved, between 0 and 1."""
        looked_at = self.approved + self.rejected
        return self.approved / looked_at if looked_at else 0.0


def by_day(reader: Reader, *, since: float) -> list[tuple[int, Tier | None, Tier | None, int]]:
    """How many went each day (since 1970) from which tier to which; None is outside the library."""
    with reader.catalog.reading() as db:
        rows = db.execute(
            "SELECT CAST(at / 86400 AS INTEGER) AS day, json_extract(before, '$.tier') AS gone, "
            "json_extract(after, '$.tier') AS come, count(*) FROM history WHERE at >= ? GROUP BY 1, 2, 3",
            [since],
        ).fetchall()
    return [tuple(row) for row in rows]


def find(reader: Reader, asked: Asked, *, offset: int = 0, limit: int = 100) -> list[Decision]:
    """These decisions, newest first."""
    where, values = _conditions("d", asked)
    with reader.catalog.reading() as db:
        rows = db.execute(
            "SELECT d.*, (SELECT count(*) FROM history h WHERE h.decision = d.id) + "
            "(SELECT count(*) FROM verdicts v WHERE v.decision = d.id) AS count "
            f"FROM decisions d WHERE {where} ORDER BY d.number DESC LIMIT ? OFFSET ?",
            [*values, limit, offset],
        ).fetchall()
    return [
        Decision(row["id"], row["verb"], row["who"], row["at"], row["count"], bool(row["reversed"]))
        for row in rows
    ]


def count(reader: Reader, asked: Asked) -> int:
    """How many decisions these are."""
    where, values = _conditions("d", asked)
    with reader.catalog.reading() as db:
        return int(db.execute(f"SELECT count(*) FROM decisions d WHERE {where}", values).fetchone()[0])


def people(reader: Reader) -> list[str]:
    """Everybody who ever decided something."""
    return _distinct(reader, "who")


def verbs(reader: Reader) -> list[str]:
    """Everything that was ever done."""
    return _distinct(reader, "verb")


def figures(reader: Reader, asked: Asked) -> Figures:
    """How many were approved and rejected, how fast, and why rejected."""
    where, values = _conditions("h", asked)
    standing = (
        "FROM history h LEFT JOIN decisions d ON d.id = h.decision "
        f"WHERE {where} AND h.verb IN (?, ?) AND NOT coalesce(d.reversed, 0)"
    )
    values = [*values, *_FIRST_LOOKS]
    with reader.catalog.reading() as db:
        made = dict(db.execute(f"SELECT h.verb, count(*) {standing} GROUP BY h.verb", values).fetchall())
        hours = db.execute(
            f"SELECT count(*) FROM (SELECT DISTINCT h.who, CAST(h.at / 3600 AS INTEGER) {standing})", values
        ).fetchone()[0]
        reasons = db.execute(
            f"SELECT h.reason, count(*) {standing} AND h.verb = 'reject' "
            "GROUP BY h.reason ORDER BY count(*) DESC, h.reason",
            values,
        ).fetchall()
    return Figures(made.get("approve", 0), made.get("reject", 0), hours, dict(map(tuple, reasons)))


def since(reader: Reader, at: float, *, asked: Asked) -> list[str]:
    """The decisions to take back, in this order, so that all is as it was at this moment.

    Of a decision, its undo, its redo and so on only the last can still be taken back, and has to be if an odd
    number of them was made since; an even number has come to nothing.
    """
    where, values = _conditions("d", asked)
    with reader.catalog.reading() as db:
        rows = db.execute(
            f"SELECT d.id, d.reverses, d.reversed FROM decisions d WHERE {where} AND d.at >= ? "
            "ORDER BY d.number DESC",
            [*values, at],
        ).fetchall()
    links: dict[str, int] = {}
    for row in reversed(rows):
        links[row["id"]] = 1 + links.get(row["reverses"], 0)
    return [row["id"] for row in rows if not row["reversed"] and links[row["id"]] % 2]


def as_csv(reader: Reader, asked: Asked) -> str:
    """Every record of every decision as a line; no cell is one that a spreadsheet would run."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(HEADINGS)
    with reader.catalog.reading() as db:
        writer.writerows([inert(cell) for cell in line] for line in _lines(db, asked))
    return out.getvalue()


def _lines(db: sqlite3.Connection, asked: Asked) -> Iterator[tuple[str, ...]]:
    where, values = _conditions("h", asked)
    rows = db.execute(
        "SELECT h.*, coalesce(r.name, '') AS name, coalesce(d.reversed, 0) AS reversed, "
        "coalesce(h.before ->> 'tier', '') AS source, coalesce(h.after ->> 'tier', '') AS target "
        "FROM history h LEFT JOIN records r ON r.address = h.address "
        f"LEFT JOIN decisions d ON d.id = h.decision WHERE {where} ORDER BY h.id DESC",
        values,
    )
    for row in rows:
        when = datetime.fromtimestamp(row["at"], UTC).strftime("%Y-%m-%d %H:%M:%S")
        yield (
            when, row["who"], row["verb"], row["address"], row["name"], row["source"], row["target"],
            row["reason"], "yes" if row["reversed"] else "",
        )  # fmt: skip


def _distinct(reader: Reader, column: str) -> list[str]:
    with reader.catalog.reading() as db:
        return [row[0] for row in db.execute(f"SELECT DISTINCT {column} FROM decisions ORDER BY {column}")]


def _conditions(table: str, asked: Asked) -> tuple[str, list[Any]]:
    parts, values = ["TRUE"], []
    for condition, value in (
        ("who = ?", asked.who or None),
        ("verb = ?", asked.verb or None),
        ("at >= ?", asked.since),
        ("at < ?", asked.until),
    ):
        if value is not None:
            parts.append(f"{table}.{condition}")
            values.append(value)
    return " AND ".join(parts), values
