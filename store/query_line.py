"""A filter as one types it: `tag:dog -tag:nsfw category:animals before:2025-01 dup:yes words`."""

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from store.filter import Filter
from store.records import CAPTION_FACETS, TIERS

_PART = re.compile(r'(?P<minus>-?)(?P<key>[a-z]+):(?:"(?P<quoted>[^"]*)"|(?P<value>\S*))(?=\s|$)', re.I)
_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_A_DAY = 86_400  # seconds
ME = "me"  # of `by:`: whoever asks
_YES = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class Line:
    """What a line asks for, and what of it could not be understood."""

    filter: Filter
    faults: list[str] = field(default_factory=list)


def parsed(line: str, *, base: Filter | None = None, who: str = ME) -> Line:
    """`base` narrowed by the line; nothing typed is an error, what is not understood is said and left out.

    `who` is meant by `by:me`.
    """
    asked, words, faults, end = base or Filter(), [], [], 0
    for part in _parts(line):
        words.append(line[end : part.start()])
        end = part.end()
        key, value = part["key"].lower(), _value(part)
        if (key, value) == ("by", ME):
            value = who
        narrowed = _narrowed(asked, key, value, is_not=bool(part["minus"]))
        if isinstance(narrowed, str):
            faults.append(narrowed)
        else:
            asked = narrowed
    words.append(line[end:])
    said = " ".join(" ".join([asked.words, *words]).split())
    return Line(replace(asked, words=said), faults)


def written(filter: Filter) -> str:
    """The line that asks for this filter, but for its tier; dates to the day."""
    parts = [f"tag:{_quoted(tag)}" for tag in filter.tags]
    parts += [f"-tag:{_quoted(tag)}" for tag in filter.without_tags]
    parts += [f"category:{_quoted(one)}" for one in filter.categories]
    parts += [f"-category:{_quoted(one)}" for one in filter.without_categories]
    if filter.since is not None:
        parts.append(f"after:{_day(filter.since)}")
    if filter.until is not None:
        parts.append(f"before:{_day(filter.until + 1)}")
    parts += [f"has:{facet}" for facet in filter.having] + [f"-has:{facet}" for facet in filter.lacking]
    if filter.longer is not None:
        parts.append(f"length:>{filter.longer - 1}")
    if filter.shorter is not None:
        parts.append(f"length:<{filter.shorter + 1}")
    if filter.suspicious is not None:
        parts.append(f"dup:{'yes' if filter.suspicious else 'no'}")
    if filter.source:
        parts.append(f"source:{_quoted(filter.source)}")
    if filter.decided_by:
        parts.append(f"by:{_quoted(filter.decided_by)}")
    if filter.decided_since is not None:
        parts.append(f"decided:{_day(filter.decided_since)}")
    return " ".join([*parts, filter.words]).strip()


def values(line: str, key: str) -> list[str]:
    """What the line says for one key, such as `tag` or `-tag`."""
    return [_value(part) for part in _parts(line) if _key(part) == key]


def edited(line: str, key: str, new: Iterable[str]) -> str:
    """The line saying this for one key, and otherwise what it said."""
    kept, end = [], 0
    for part in _parts(line):
        if _key(part) == key:
            kept.append(line[end : part.start()])
            end = part.end()
    kept += [line[end:], *(f"{key}:{_quoted(value)}" for value in new)]
    return " ".join(" ".join(kept).split())


def _parts(line: str) -> list[re.Match[str]]:
    """Keys with their values; not those in the middle of a word, as in an address."""
    return [part for part in _PART.finditer(line) if not part.start() or line[part.start() - 1].isspace()]


def _key(part: re.Match[str]) -> str:
    return part["minus"] + part["key"].lower()


def _value(part: re.Match[str]) -> str:
    return part["quoted"] if part["quoted"] is not None else part["value"]


def _narrowed(asked: Filter, key: str, value: str, *, is_not: bool) -> Filter | str:
    """The filter with one more condition, or why there is none."""
    if key in ("tag", "category") and value:
        name = {"tag": "tags", "category": "categories"}[key]
        name = f"without_{name}" if is_not else name
        labels: dict[str, Any] = {name: tuple(dict.fromkeys((*getattr(asked, name), value)))}
        return replace(asked, **labels)
    if key == "has":
        facet = value.lower()
        if facet not in CAPTION_FACETS:
            return f"has:{value} is not understood; there are {', '.join(CAPTION_FACETS)}"
        field = "lacking" if is_not else "having"
        written: dict[str, Any] = {field: tuple(dict.fromkeys((*getattr(asked, field), facet)))}
        return replace(asked, **written)
    if is_not:
        return f"-{key}: only tags, categories and facets can be excluded"
    if key == "length":
        return _long(asked, value)
    if key == "words" and value:
        return replace(asked, words=f'{asked.words} "{value}"'.strip())
    if key == "tier" and asked.tier is None:  # a page about one tier has said it
        tier = next((tier for tier in TIERS if tier == value.lower()), None)
        return replace(asked, tier=tier) if tier else f"there is no tier {value}"
    if key in ("before", "after"):
        moment = _moment(value)
        if moment is None:
            return f"{key}:{value} is no date such as 2025-01-31"
        if key == "after":
            return replace(asked, since=max(moment, asked.since) if asked.since is not None else moment)
        return replace(asked, until=min(moment - 1, asked.until) if asked.until is not None else moment - 1)
    if key == "source" and value:
        return replace(asked, source=value)
    if key == "by" and value:
        return replace(asked, decided_by=value)
    if key == "decided":
        since = int(time.time()) // _A_DAY * _A_DAY if value.lower() == "today" else _moment(value)
        if since is None:
            return f"decided:{value} is neither today nor a date such as 2025-01-31"
        return replace(asked, decided_since=since)
    if key == "dup":
        if value.lower() not in _YES:
            return "dup: takes yes or no"
        return replace(asked, suspicious=_YES[value.lower()])
    return (
        f"{key}:{value} is not understood; there are tag, category, before, after, has, length, words, dup, "
        "source, by and decided"
    )


def _long(asked: Filter, value: str) -> Filter | str:
    """Characters of the whole caption: `>200`, `<80`, `120` for exactly that many."""
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


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def _quoted(label: str) -> str:
    return f'"{label}"' if re.search(r"[\s;“„«]", label) or not label else label
