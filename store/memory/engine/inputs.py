"""What may be given to the text memory: texts, numbers, moments, metadata, and names that have to exist.

What may not is refused by two leaves of the tree in `store/errors.py`:

MemedexError
├── InvalidInput (ValueError)   a text, a tag, a limit or a filter that is not valid
└── UnknownEntry (LookupError)  no entry has this id, or nothing this name; the nearest are offered
"""

import json
import math
from collections.abc import Collection, Mapping
from datetime import datetime, time
from difflib import SequenceMatcher
from typing import Any

from store.errors import MemedexError


class InvalidInput(MemedexError, ValueError):
    """A value that cannot be accepted; the message names it and what is allowed."""


class UnknownEntry(MemedexError, LookupError):
    """There is no such entry."""


def changed_meanwhile(what: str) -> InvalidInput:
    """That a text was made from another state of an entry than it has by now."""
    return InvalidInput(
        f"{what} was changed in the meantime; copy what you typed, then reload the page to see its text"
    )


LONGEST = 100_000  # characters of a memory, of lore or of an exchange: agents are given them whole
LONGEST_QUESTION = 20_000
MOST_CHARS = 1_000_000  # of all texts that a context may be warned above


def checked_text(text: object, *, what: str, most: int | None = None) -> str:
    """The text. Raises InvalidInput if it is empty, cannot be stored, or has more than `most` characters."""
    if not isinstance(text, str):
        raise InvalidInput(f"{what} has to be text, not {type(text).__name__}")
    if not text.strip():
        raise InvalidInput(f"{what} is empty")
    if most is not None and len(text) > most:
        raise InvalidInput(f"{what} has {len(text):,} characters; at most {most:,}")
    return checked_characters(text, what=what)


def checked_characters(text: str, *, what: str) -> str:
    """The text. Raises InvalidInput if UTF-8, and so Chroma, cannot hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{what} holds an unpaired surrogate (invalid Unicode)") from None
    return text


def checked_count(n: object, *, what: str, most: int = 10_000) -> int:
    """A whole number from 1 to `most`. Raises InvalidInput for any other value."""
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= most:
        raise InvalidInput(f"{what} has to be a whole number from 1 to {most:,}, not {n!r}")
    return n


def checked_percentage(percent: object, *, what: str = "the threshold") -> float:
    """A percentage. Raises InvalidInput outside 0–100."""
    if not isinstance(percent, int | float) or isinstance(percent, bool) or not 0 <= percent <= 100:
        raise InvalidInput(f"{what} has to be a percentage from 0 to 100, not {percent!r}")
    return float(percent)


_COMPACT = json.JSONEncoder(separators=(",", ":"))


def as_json(value: Any) -> str:
    """JSON that SQLite can store: lone surrogates stay escaped."""
    return _COMPACT.encode(value)


def comparable_json(stored: Any) -> str:
    """The JSON of a value in a column of JSON, in one form for equal contents."""
    try:
        value = json.loads(stored) if isinstance(stored, str) else stored
    except ValueError:
        return str(stored)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return as_json(float(str(value)) if is_number else value)


def for_chroma(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as Chroma and UTF-8 can hold it: no unpaired surrogate, no endless number."""
    return {_whole(name): _storable(value) for name, value in metadata.items()}


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def checked_moment(text: object, *, is_end: bool = False) -> float:
    """A time in ISO 8601, or the beginning or end of a day, as UNIX seconds. Raises InvalidInput."""
    try:
        found = datetime.fromisoformat(str(text))
        is_whole_day = is_end and len(str(text)) <= len("2026-01-31")
        return (datetime.combine(found, time.max) if is_whole_day else found).timestamp()
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"{text!r} is no moment such as 2026-01-31T10:00") from error


_NEAREST = 3
_LISTED = 20
_ALIKE = 0.5  # of SequenceMatcher's ratio; below it names have no more in common than any two


def nearest(name: str, known: Collection[str]) -> list[str]:
    """At most three known names that are spelled like this one, the most similar first."""
    given = name.casefold()
    ratios = {one: SequenceMatcher(None, given, one.casefold()).ratio() for one in known}
    alike = [one for one in known if ratios[one] >= _ALIKE or (given and given in one.casefold())]
    return sorted(alike, key=lambda one: (-ratios[one], one))[:_NEAREST]


def check_known(name: str, known: Collection[str], *, what: str) -> None:
    """Raises UnknownEntry, with the nearest names, if this name is not a known one."""
    if name not in known:
        raise UnknownEntry(f"there is no {what} {name!r}{offered(name, known)}")


def offered(name: str, known: Collection[str]) -> str:
    """The end of a sentence that offers the nearest names, or all if there are few or none is given."""
    if found := nearest(name, known):
        return f"; the nearest: {_quoted(found)}"
    if name.strip() and len(known) > _NEAREST:
        return f"; there are {len(known):,}, none of them spelled like it"
    more = f" and {len(known) - _LISTED:,} more" if len(known) > _LISTED else ""
    listed = _quoted(sorted(known)[:_LISTED])
    return f"; there {'are' if len(known) > 1 else 'is'} {listed or 'none yet'}{more}"


def _quoted(names: Collection[str]) -> str:
    return ", ".join(repr(one) for one in names)
