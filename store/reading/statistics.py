"""Figures of a library: captions, costs and reasons; coins by month, subject and source; review speed.

Each of the page Insights counts the records of a filter in one query, and each count has a filter of its own
(`narrowed`), so that a page can link to the coins that it counts.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from store.captions.suggestions import BORROWED
from store.catalog.filters import REJECTED_FOR, Filter, NumberLimit, SqlCondition, conditions, field_name
from store.catalog.history import NOBODY, UNDONE
from store.catalog.words import LANGUAGES
from store.reading.reader import Reader
from store.records import TIERS, Tier

LENGTH = 20  # characters, the width of a class of caption_lengths
_AMONG = "AND h.address IN (SELECT r.address FROM records r WHERE {})"
_MONTH = "strftime('%Y-%m', r.created_at, 'unixepoch')"

DraftFate = Literal["unchanged", "edited", "refused"]


class CaptionLengths(NamedTuple):
    """The number of a facet's texts with `start` to `start + LENGTH - 1` characters."""

    facet: str
    start: int
    texts: int


class Spending(NamedTuple):
    """The cost of drafting with one model on one day (since 1970, UTC)."""

    day: int
    model: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None  # US dollars; None where no price is known


def caption_lengths(reader: Reader) -> list[CaptionLengths]:
    """A histogram of the lengths of the library's captions, by facet, shortest first."""
    rows = reader.catalog.rows(
        "SELECT c.key, length(c.value) / :width * :width AS start, count(*) "
        "FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash, json_each(s.text, '$.caption') c "
        "WHERE r.tier = 'library' AND length(c.value) > 0 GROUP BY 1, 2 ORDER BY 1, 2",
        {"width": LENGTH},
    )
    return [CaptionLengths(*row) for row in rows]


def spending(reader: Reader) -> list[Spending]:
    """The cost of drafting by day and model, oldest first, deleted jobs included."""
    rows = reader.catalog.rows(
        "WITH drafting (note, options, made_at) AS ("
        "  SELECT note, options, made_at FROM jobs WHERE kind = 'draft' UNION ALL "
        "  SELECT kept ->> '$.note', kept ->> '$.options', kept ->> '$.made_at' FROM removed "
        "  WHERE what = 'job' AND kept ->> '$.kind' = 'draft'), "
        "spent (day, model, used) AS ("
        "  SELECT CAST(d.key AS INTEGER), m.key, m.value "
        "  FROM drafting, json_each(note, '$.spent') d, json_each(d.value) m UNION ALL "
        "  SELECT CAST(made_at / 86400 AS INTEGER), (SELECT group_concat(model, ', ') FROM "
        "    (SELECT DISTINCT value ->> '$[0]' AS model FROM json_each(options, '$.variants'))), note "
        "  FROM drafting WHERE note ->> '$.spent' IS NULL AND note ->> '$.prompt_tokens' > 0) "
        "SELECT day, model, sum(used ->> '$.prompt_tokens'), sum(used ->> '$.completion_tokens'), "
        "sum(used ->> '$.cost') FROM spent GROUP BY 1, 2 ORDER BY 1, 2"
    )
    return [Spending(*row) for row in rows]


def reasons_of(reader: Reader, addresses: Sequence[str]) -> dict[str, str]:
    """Why each of these records was rejected, by address; those without a reason are left out."""
    rows = reader.catalog.rows(
        f"SELECT r.address, {REJECTED_FOR} AS why FROM records r "
        "WHERE r.tier = 'trash' AND r.address IN (SELECT value FROM json_each(?)) AND why <> ''",
        [json.dumps(list(addresses))],
    )
    return dict(map(tuple, rows))


def rejection_reasons(reader: Reader, filter: Filter) -> dict[str, int]:
    """How many of these records were rejected for each reason, most frequent first; "" for none."""
    if filter.tier not in (None, "trash"):
        return {}
    where, values = conditions(replace(filter, tier="trash"))
    rows = reader.catalog.rows(
        f"SELECT coalesce({REJECTED_FOR}, '') AS why, count(*) FROM records r WHERE {where} "
        "GROUP BY why COLLATE NOCASE ORDER BY count(*) DESC, why",
        values,
    )
    return dict(map(tuple, rows))


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
    """The outcome of a model's caption drafts."""

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
    rows = reader.catalog.rows(
        f"SELECT {_MONTH}, r.tier, count(*) FROM records r WHERE {where} GROUP BY 1, 2 ORDER BY 1, 2", values
    )
    return [MonthCount(*row) for row in rows]


def categories_by_month(reader: Reader, filter: Filter) -> list[MonthCount]:
    """These coins by month of creation and each of their categories, oldest first."""
    where, values = conditions(filter)
    rows = reader.catalog.rows(
        f"SELECT {_MONTH}, l.label, count(*) FROM records r CROSS JOIN labels l "
        f"ON l.record = r.id AND l.kind = 'category' WHERE {where} GROUP BY 1, 2 ORDER BY 1, 2",
        values,
    )
    return [MonthCount(*row) for row in rows]


def sources(reader: Reader, filter: Filter) -> list[SourceCount]:
    """These coins by the source of their import and their tier."""
    where, values = conditions(filter)
    rows = reader.catalog.rows(
        "SELECT h.reason, r.tier, count(DISTINCT r.id) FROM history h JOIN records r "
        f"ON r.address = h.address WHERE h.verb = 'import' AND h.reason <> '' AND {where} "
        "GROUP BY 1, 2 ORDER BY 1, 2",
        values,
    )
    return [SourceCount(*row) for row in rows]


def review_speed(reader: Reader, filter: Filter) -> list[ReviewSpeed]:
    """Each person who approved or rejected some of these coins, the busiest first; without the demo."""
    where, values = conditions(filter)
    among = "" if filter.is_open and filter.tier is None else _AMONG.format(where)
    rows = reader.catalog.rows(
        "SELECT h.who, sum(h.verb = 'approve'), sum(h.verb = 'reject'), "
        "count(DISTINCT CAST(h.at / 3600 AS INTEGER)) FROM history h "
        f"WHERE h.verb IN ('approve', 'reject') AND h.who NOT IN (?, ?) "
        f"AND h.decision NOT IN {UNDONE} {among} GROUP BY h.who ORDER BY count(*) DESC, h.who",
        [*NOBODY, *(values if among else [])],
    )
    return [ReviewSpeed(*row) for row in rows]


def drafts_kept(reader: Reader, filter: Filter) -> list[DraftsKept]:
    """For each model, how many of its caption texts for these coins people saved, changed or refused."""
    settled, values = _settled(filter)
    rows = reader.catalog.rows(
        f"{settled} SELECT by, sum(fate = 'unchanged'), sum(fate = 'edited'), sum(fate = 'refused') "
        "FROM settled GROUP BY by ORDER BY count(*) DESC, by",
        values,
    )
    return [DraftsKept(*row) for row in rows]


def drafted(reader: Reader, filter: Filter, model: str, fate: DraftFate) -> list[str]:
    """The coins of which people saved, changed or refused texts of this model."""
    settled, values = _settled(filter)
    rows = reader.catalog.rows(
        f"{settled} SELECT DISTINCT address FROM settled WHERE by = ? AND fate = ?", [*values, model, fate]
    )
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
    between: tuple[str, float, float] | None = None,
) -> Filter:
    """`filter`, restricted to the coins behind one count; `between`: at least the first, below the second."""
    found = replace(
        filter,
        tier=tier or filter.tier,
        tags=_with(filter.tags, tag),
        categories=_with(filter.categories, category),
        language=language or filter.language,
    )
    if between:
        field, low, high = between
        limits = NumberLimit(field_name(field), ">=", low), NumberLimit(field_name(field), "<", high)
        found = replace(found, numbers=tuple(dict.fromkeys((*filter.numbers, *limits))))
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
