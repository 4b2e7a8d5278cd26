"""What each condition of a filter line does: `tag:dog`, `before:2025`, `length:>200`."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from store.catalog.filters import Filter
from store.records import CAPTION_FACETS, TIERS, Facet

TIER = "tier"  # known only where a line may name one
NO_REASON = "none"  # of `reason:`
_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_A_DAY = 86_400  # seconds
_YES = {"yes": True, "no": False}


def with_words(asked: Filter, words: str) -> Filter:
    """The filter, narrowed by more words."""
    return replace(asked, words=f"{asked.words} {words}".strip())


def _added(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*values, value)))


def _facet(value: str) -> Facet | None:
    return next((facet for facet in CAPTION_FACETS if facet == value.lower()), None)


def _has(asked: Filter, value: str) -> Filter | str:
    if facet := _facet(value):
        return replace(asked, having=tuple(dict.fromkeys((*asked.having, facet))))
    return f"has:{value} is not understood; there are {', '.join(CAPTION_FACETS)}"


def _lacks(asked: Filter, value: str) -> Filter | str:
    if facet := _facet(value):
        return replace(asked, lacking=tuple(dict.fromkeys((*asked.lacking, facet))))
    return f"has:{value} is not understood; there are {', '.join(CAPTION_FACETS)}"


def _in_tier(asked: Filter, value: str) -> Filter | str:
    tier = next((tier for tier in TIERS if tier == value.lower()), None)
    return replace(asked, tier=tier) if tier else f"there is no tier {value}"


def _after(asked: Filter, value: str) -> Filter | str:
    moment = _moment(value)
    if moment is None:
        return f"after:{value} is no date such as 2025-01-31"
    return replace(asked, since=moment if asked.since is None else max(moment, asked.since))


def _before(asked: Filter, value: str) -> Filter | str:
    moment = _moment(value)
    if moment is None:
        return f"before:{value} is no date such as 2025-01-31"
    return replace(asked, until=moment - 1 if asked.until is None else min(moment - 1, asked.until))


def _decided(asked: Filter, value: str) -> Filter | str:
    since = int(time.time()) // _A_DAY * _A_DAY if value.lower() == "today" else _moment(value)
    if since is None:
        return f"decided:{value} is neither today nor a date such as 2025-01-31"
    return replace(asked, decided_since=since)


def _duplicates(asked: Filter, value: str) -> Filter | str:
    if value.lower() not in _YES:
        return "dup: takes yes or no"
    return replace(asked, suspicious=_YES[value.lower()])


def _long(asked: Filter, value: str) -> Filter | str:
    """A range of characters of the whole caption: `>200`, `<80`, `120` for exactly that many."""
    found = re.fullmatch(r"([<>]?)(\d{1,9})", value)
    if not found:
        return f"length:{value} is no length such as >200"
    number = int(found[2])
    if found[1] == ">":
        return replace(asked, longer=max(number + 1, asked.longer or 0))
    if found[1] == "<":
        return replace(asked, shorter=number - 1 if asked.shorter is None else min(number - 1, asked.shorter))
    return replace(asked, longer=number, shorter=number)


def _moment(value: str) -> int | None:
    """The first second (UTC) of a year, month or day."""
    found = _DAY.fullmatch(value)
    try:
        year, month, day = (int(number or 1) for number in found.groups()) if found else (0, 0, 0)
        return int(datetime(year, month, day, tzinfo=UTC).timestamp())
    except ValueError:
        return None


Change = Callable[[Filter, str], Filter | str]  # the filter with one more condition, or the fault
CHANGES: Mapping[str, Change] = {
    "tag": lambda asked, value: replace(asked, tags=_added(asked.tags, value)),
    "category": lambda asked, value: replace(asked, categories=_added(asked.categories, value)),
    "has": _has,
    "length": _long,
    "words": lambda asked, value: with_words(asked, f'"{value}"'),
    TIER: _in_tier,
    "before": _before,
    "after": _after,
    "source": lambda asked, value: replace(asked, source=value),
    "reason": lambda asked, value: replace(asked, rejected_for="" if value.lower() == NO_REASON else value),
    "by": lambda asked, value: replace(asked, decided_by=value),
    "decided": _decided,
    "dup": _duplicates,
}
DENIED: Mapping[str, Change] = {  # after a minus; the others are denied as a filter of their own
    "tag": lambda asked, value: replace(asked, without_tags=_added(asked.without_tags, value)),
    "category": lambda asked, value: replace(
        asked, without_categories=_added(asked.without_categories, value)
    ),
    "has": _lacks,
}
