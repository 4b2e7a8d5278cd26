"""What each condition of a filter line does: `tag:dog`, `before:2025`, `length:>200`."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal, cast

from store.catalog.filters import LIKENESSES, FacetLength, Filter, NumberLimit, field_name
from store.catalog.words import LANGUAGES
from store.records import CAPTION_FACETS, TIERS, Facet

TIER = "tier"  # known only where a line may name one
NO_REASON = "none"  # of `reason:`
_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_A_DAY = 86_400  # seconds
UNFIT = ("yes", "no", "hand", "nudity", "word")
FAULTS = ("yes", "blank", "plain", "blurred", "tiny")  # store/pictures/picture_faults.py
_TIMES = {"": 1, "k": 1e3, "m": 1e6, "b": 1e9}
Sign = Literal[">", ">=", "<", "<="]
_YES = {"yes": True, "no": False}


def with_words(filter: Filter, words: str) -> Filter:
    """The filter, narrowed by more words."""
    return replace(filter, words=f"{filter.words} {words}".strip())


def _added(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*values, value)))


def _facet(value: str) -> Facet | None:
    return next((facet for facet in CAPTION_FACETS if facet == value.lower()), None)


def _unknown_facet(value: str) -> str:
    *others, last = (f"has:{facet}" for facet in CAPTION_FACETS)
    return f"unknown facet {value}: use {', '.join(others)} or {last}"


def _has(filter: Filter, value: str) -> Filter | str:
    if facet := _facet(value):
        return replace(filter, having=tuple(dict.fromkeys((*filter.having, facet))))
    return _unknown_facet(value)


def _lacks(filter: Filter, value: str) -> Filter | str:
    if facet := _facet(value):
        return replace(filter, lacking=tuple(dict.fromkeys((*filter.lacking, facet))))
    return _unknown_facet(value)


def _in_tier(filter: Filter, value: str) -> Filter | str:
    tier = next((tier for tier in TIERS if tier == value.lower()), None)
    return replace(filter, tier=tier) if tier else f"there is no tier {value}"


def _after(filter: Filter, value: str) -> Filter | str:
    moment = _moment(value)
    if moment is None:
        return f"after:{value} is no date such as 2025-01-31"
    return replace(filter, since=moment if filter.since is None else max(moment, filter.since))


def _before(filter: Filter, value: str) -> Filter | str:
    moment = _moment(value)
    if moment is None:
        return f"before:{value} is no date such as 2025-01-31"
    return replace(filter, until=moment - 1 if filter.until is None else min(moment - 1, filter.until))


def _decided(filter: Filter, value: str) -> Filter | str:
    since = int(time.time()) // _A_DAY * _A_DAY if value.lower() == "today" else _moment(value)
    if since is None:
        return f"decided:{value} is neither today nor a date such as 2025-01-31"
    return replace(filter, decided_since=since)


def _duplicates(filter: Filter, value: str) -> Filter | str:
    if value.lower() in LIKENESSES:
        return replace(filter, likeness=_added(filter.likeness, value.lower()))
    if value.lower() not in _YES:
        return f"dup: takes yes, no, {', '.join([*LIKENESSES][:-1])} or {[*LIKENESSES][-1]}"
    return replace(filter, suspicious=_YES[value.lower()])


def _unfit(filter: Filter, value: str) -> Filter | str:
    if value.lower() not in UNFIT:
        return f"unfit: takes {', '.join(UNFIT[:-1])} or {UNFIT[-1]}"
    return replace(filter, unfit=value.lower())


def _faults(filter: Filter, value: str) -> Filter | str:
    if value.lower() not in FAULTS:
        return f"faults: takes {', '.join(FAULTS[:-1])} or {FAULTS[-1]}"
    return replace(filter, faults=_added(filter.faults, value.lower()))


def with_number(filter: Filter, key: str, value: str) -> Filter | None:
    """The filter with a limit of any field: `>10000`, `<=2.5k`; None if this is no limit."""
    found = re.fullmatch(r"([<>]=?)(-?\d{1,15}(?:\.\d{1,9})?)([kmb]?)", value.lower())
    if found is None:
        return None
    limit = NumberLimit(field_name(key), cast(Sign, found[1]), float(found[2]) * _TIMES[found[3]])
    return replace(filter, numbers=tuple(dict.fromkeys((*filter.numbers, limit))))


def _language(filter: Filter, value: str) -> Filter | str:
    if value.lower() not in LANGUAGES:
        return f"language: takes {', '.join(LANGUAGES[:-1])} or {LANGUAGES[-1]}"
    return replace(filter, language=value.lower())


def _in_set(filter: Filter, value: str) -> Filter | str:
    if not re.fullmatch(r"[0-9a-f]{10}", value.lower()):
        return f"set:{value} is no selection: the map makes them"
    return replace(filter, coin_set=value.lower())


def _long(filter: Filter, value: str) -> Filter | str:
    """A range of characters of the whole caption, or of one facet: `>200`, `<80`, `120`, `visual>200`."""
    found = re.fullmatch(r"([a-z]*)([<>]?)(\d{1,9})", value.lower())
    facet = _facet(found[1]) if found and found[1] else None
    if not found or (found[1] and (facet is None or not found[2])):
        return f"length:{value} is no length such as >200 or visual>200"
    number = int(found[3])
    least = None if found[2] == "<" else number + (found[2] == ">")
    most = None if found[2] == ">" else number - (found[2] == "<")
    if facet is None:
        return replace(filter, longer=_larger(filter.longer, least), shorter=_smaller(filter.shorter, most))
    lengths = {each.facet: each for each in filter.lengths}
    now = lengths.get(facet, FacetLength(facet))
    lengths[facet] = FacetLength(facet, _larger(now.least, least), _smaller(now.most, most))
    return replace(filter, lengths=tuple(lengths.values()))


def _larger(one: int | None, other: int | None) -> int | None:
    return max((value for value in (one, other) if value is not None), default=None)


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((value for value in (one, other) if value is not None), default=None)


def _moment(value: str) -> int | None:
    """The first second (UTC) of a year, month or day."""
    found = _DAY.fullmatch(value)
    try:
        year, month, day = (int(number or 1) for number in found.groups()) if found else (0, 0, 0)
        return int(datetime(year, month, day, tzinfo=UTC).timestamp())
    except ValueError:
        return None


def _phrase(filter: Filter, value: str) -> Filter:
    inner = value.replace('"', " ")  # between words both are the same
    return with_words(filter, f'"{inner}"')


Change = Callable[[Filter, str], Filter | str]  # the filter with one more condition, or the fault
CHANGES: Mapping[str, Change] = {
    "tag": lambda filter, value: replace(filter, tags=_added(filter.tags, value)),
    "category": lambda filter, value: replace(filter, categories=_added(filter.categories, value)),
    "has": _has,
    "length": _long,
    "words": _phrase,
    TIER: _in_tier,
    "before": _before,
    "after": _after,
    "source": lambda filter, value: replace(filter, source=value),
    "reason": lambda filter, value: replace(filter, rejected_for="" if value.lower() == NO_REASON else value),
    "by": lambda filter, value: replace(filter, decided_by=value),
    "decided": _decided,
    "dup": _duplicates,
    "unfit": _unfit,
    "faults": _faults,
    "language": _language,
    "set": _in_set,
    "family": lambda filter, value: replace(filter, family=value),
    "text": lambda filter, value: replace(filter, picture_texts=_added(filter.picture_texts, value)),
    "comment": lambda filter, value: replace(filter, comments=_added(filter.comments, value.rstrip("*"))),
    "name": lambda filter, value: replace(filter, names=_added(filter.names, value)),
    "ticker": lambda filter, value: replace(filter, ticker=value.removeprefix("$")),
    "address": lambda filter, value: replace(filter, address=value),
}
DENIED: Mapping[str, Change] = {  # after a minus; the others are denied as a filter of their own
    "tag": lambda filter, value: replace(filter, without_tags=_added(filter.without_tags, value)),
    "category": lambda filter, value: replace(
        filter, without_categories=_added(filter.without_categories, value)
    ),
    "has": _lacks,
}
