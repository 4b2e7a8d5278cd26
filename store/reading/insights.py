"""Counts for the page Insights: coins by month, by subject and by source, review speed, and drafts kept.

Each counts the records of a filter in one query, and each count has a filter of its own (`narrowed`), so that
a page can link to the coins that it counts.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from store.captions.suggestions import BORROWED
from store.catalog.filters import Filter, SqlCondition, conditions
from store.catalog.history import NOBODY, UNDONE
from store.catalog.scripts import LANGUAGES
from store.reading.reader import Reader
from store.records import TIERS, Tier

_AMONG = "AND h.address IN (SELECT r.address FROM records r WHERE {})"
_MONTH = "strftime('%Y-%m', r.created_at, 'unixepoch')"

DraftFate = Literal["unchanged", "edited", "refused"]


class MonthCount(NamedTuple):
    """How many coins of a kind (a tier or a category) were created in a month, as 2025-01 (UTC)."""

    month: str
    kind: str
    coins: int


class SourceCount(NamedTuple):
    """How many coins that were imported from a source are in a tier."""

    source: str
    tier: Tier
    coins: int


class ReviewSpeed(NamedTuple):
    """One person's approvals and rejections that were not undone, and the hours in which they were made."""

    actor: str
    approved: int
    rejected: int
    hours: int

    @property
    def an_hour(self) -> float:
        """Coins decided in an hour of work."""
        return (self.approved + self.rejected) / self.hours


class DraftsKept(NamedTuple):
    """What became of the texts that a model drafted for captions."""

    model: str
    unchanged: int  # saved as the model wrote them
    edited: int  # saved after a person changed them
    refused: int

    @property
    def agreement(self) -> float:
        """The share saved as written, from 0 to 1."""
        return self.unchanged / (self.unchanged + self.edited + self.refused)


def tiers_by_month(reader: Reader, filter: Filter) -> list[MonthCount]:
    """These coins by the month of their creation and their tier, oldest first."""
    where, values = conditions(filter)
    with reader.catalog.reading() as db:
        rows = db.execute(
            f"SELECT {_MONTH}, r.tier, count(*) FROM records r WHERE {where} GROUP BY 1, 2 ORDER BY 1, 2",
            values,
        ).fetchall()
    return [MonthCount(*row) for row in rows]


def categories_by_month(reader: Reader, filter: Filter) -> list[MonthCount]:
    """These coins by the month of their creation and category, oldest first.

    A coin counts in each of its categories.
    """
    where, values = conditions(filter)
    with reader.catalog.reading() as db:
        rows = db.execute(
            f"SELECT {_MONTH}, l.label, count(*) FROM records r CROSS JOIN labels l "
            f"ON l.record = r.id AND l.kind = 'category' WHERE {where} GROUP BY 1, 2 ORDER BY 1, 2",
            values,
        ).fetchall()
    return [MonthCount(*row) for row in rows]


def sources(reader: Reader, filter: Filter) -> list[SourceCount]:
    """These coins by the source of their import and their tier."""
    where, values = conditions(filter)
    with reader.catalog.reading() as db:
        rows = db.execute(
            "SELECT h.reason, r.tier, count(DISTINCT r.id) FROM history h JOIN records r "
            f"ON r.address = h.address WHERE h.verb = 'import' AND h.reason <> '' AND {where} "
            "GROUP BY 1, 2 ORDER BY 1, 2",
            values,
        ).fetchall()
    return [SourceCount(*row) for row in rows]


def review_speed(reader: Reader, filter: Filter) -> list[ReviewSpeed]:
    """Each person who approved or rejected some of these coins, the busiest first; without the demo."""
    where, values = conditions(filter)
    among = "" if filter.is_open and filter.tier is None else _AMONG.format(where)
    with reader.catalog.reading() as db:
        rows = db.execute(
            "SELECT h.who, sum(h.verb = 'approve'), sum(h.verb = 'reject'), "
            "count(DISTINCT CAST(h.at / 3600 AS INTEGER)) FROM history h "
            f"WHERE h.verb IN ('approve', 'reject') AND h.who NOT IN (?, ?) "
            f"AND h.decision NOT IN {UNDONE} {among} GROUP BY h.who ORDER BY count(*) DESC, h.who",
            [*NOBODY, *(values if among else [])],
        ).fetchall()
    return [ReviewSpeed(*row) for row in rows]


def drafts_kept(reader: Reader, filter: Filter) -> list[DraftsKept]:
    """For each model, how many of its caption texts for these coins people saved, changed or refused."""
    settled, values = _settled(filter)
    with reader.catalog.reading() as db:
        rows = db.execute(
            f"{settled} SELECT by, sum(fate = 'unchanged'), sum(fate = 'edited'), sum(fate = 'refused') "
            "FROM settled GROUP BY by ORDER BY count(*) DESC, by",
            values,
        ).fetchall()
    return [DraftsKept(*row) for row in rows]


def drafted(reader: Reader, filter: Filter, model: str, fate: DraftFate) -> list[str]:
    """The coins of which people saved, changed or refused texts of this model."""
    settled, values = _settled(filter)
    with reader.catalog.reading() as db:
        rows = db.execute(
            f"{settled} SELECT DISTINCT address FROM settled WHERE by = ? AND fate = ?",
            [*values, model, fate],
        ).fetchall()
    return [row["address"] for row in rows]


def _settled(filter: Filter) -> SqlCondition:
    """SQL of a table `settled`: a model's text for one of these coins, and what became of it."""
    where, values = conditions(filter)
    by = f"iif(model LIKE '{BORROWED}%', '{BORROWED}', model)"
    return (
        f"WITH chosen AS MATERIALIZED (SELECT r.address FROM records r WHERE {where}), "
        "settled (address, by, fate) AS ("
        f"  SELECT s.address, {by}, iif(s.edited, 'edited', 'unchanged') FROM sources s "
        f"  WHERE s.decision NOT IN {UNDONE} AND s.address IN chosen UNION ALL "
        f"  SELECT address, {by}, 'refused' FROM suggestions WHERE state = 'refused' "
        "  AND facet NOT IN ('tags', 'new_tags') AND address IN chosen)",
        values,
    )


def languages(reader: Reader, filter: Filter) -> dict[str, int]:
    """How many of these coins have letters of each language; without those that none has."""
    asked = [filter.language] if filter.language else LANGUAGES
    counts = {language: reader.count(replace(filter, language=language)) for language in asked}
    return {language: coins for language, coins in counts.items() if coins}


def tiers(reader: Reader, filter: Filter) -> dict[Tier, int]:
    """How many of these coins are in each tier."""
    return {
        tier: reader.count(replace(filter, tier=tier)) if filter.tier in (None, tier) else 0 for tier in TIERS
    }


def narrowed(
    filter: Filter,
    *,
    tier: Tier | None = None,
    tag: str = "",
    category: str = "",
    source: str = "",
    reason: str | None = None,
    month: str = "",
    actor: str = "",
    language: str = "",
) -> Filter:
    """`filter`, restricted to the coins behind one count."""
    found = replace(
        filter,
        tier=tier or filter.tier,
        tags=_with(filter.tags, tag),
        categories=_with(filter.categories, category),
        language=language or filter.language,
    )
    if month:
        first, last = _month(month)
        found = replace(
            found,
            since=max(first, filter.since or first),
            until=min(last, last if filter.until is None else filter.until),
        )
    for name, value, open_value in (
        ("source", source, ""),
        ("rejected_for", reason, None),
        ("decided_by", actor, ""),
    ):
        own = getattr(filter, name)
        if value in (open_value, own):
            continue
        one: dict[str, Any] = {name: value}
        if own == open_value:
            found = replace(found, **one)
        else:  # a filter has one value of each
            found = replace(found, any_of=(*found.any_of, (Filter(**one),)))
    return found


def _with(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names if not name or name in names else (*names, name)


def _month(month: str) -> tuple[int, int]:
    """The first and the last second (UTC) of a month such as 2025-01."""
    year, number = map(int, month.split("-"))
    following = (year + 1, 1) if number == 12 else (year, number + 1)
    first, after = (int(datetime(*one, 1, tzinfo=UTC).timestamp()) for one in ((year, number), following))
    return first, after - 1
