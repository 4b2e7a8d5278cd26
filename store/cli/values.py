"""Values of flags, from the text that somebody typed; argparse reports what they raise as wrong usage."""

import argparse
from datetime import UTC, datetime

from store.errors import InvalidRecord
from store.evaluation.evaluation import DEPTH
from store.records import FACETS, Facet
from store.search.query import MAX_TOP
from store.vectors.weights import checked_weights

_DAY = 86_400
_LONGEST_NAME = 256  # characters; the longest address of a mail has 254
_SHOWN = 30  # characters of a wrong number


def weights(text: str) -> dict[Facet, float]:
    """Weights from `facet=number,…`; raises ArgumentTypeError for anything else."""
    values: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name in values:
            raise argparse.ArgumentTypeError(f"{name} is given twice")
        try:
            values[name] = float(number)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{part.strip()!r} is not FACET=NUMBER; facets are {', '.join(FACETS)}"
            ) from None
    try:
        return checked_weights(values)  # type: ignore[arg-type]  # it checks the names too
    except InvalidRecord as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def tags(text: str) -> list[str]:
    """Tags between commas, without blanks around them."""
    return [tag.strip() for tag in text.split(",") if tag.strip()]


def person(text: str) -> str:
    """Who decides.

    Raises ArgumentTypeError above `_LONGEST_NAME`.
    """
    if len(text) > _LONGEST_NAME:
        raise argparse.ArgumentTypeError(f"a person's name has at most {_LONGEST_NAME} characters")
    return text


def entry(text: str) -> tuple[str, str]:
    """The parts of TAG=CATEGORY.

    Raises ArgumentTypeError for any other text.
    """
    tag, is_entry, category = (piece.strip() for piece in text.rpartition("="))
    if not (is_entry and tag and category):
        raise argparse.ArgumentTypeError(f"{text!r} is not TAG=CATEGORY")
    return tag, category


def positive(text: str) -> int:
    """A whole number from 1 to 999,999,999.

    Raises ArgumentTypeError for any other text.
    """
    return _number(text, most=999_999_999)


def port(text: str) -> int:
    """The number of a network port.

    Raises ArgumentTypeError for any other text.
    """
    return _number(text, most=65_535)


def depth(text: str) -> int:
    """How many of the first hits count in an evaluation, at most `DEPTH`.

    Raises ArgumentTypeError for any other text.
    """
    return _number(text, most=DEPTH)


def top(text: str) -> int:
    """How many hits to print, at most `MAX_TOP`.

    Raises ArgumentTypeError for any other text.
    """
    return _number(text, most=MAX_TOP)


def first_second(text: str) -> int:
    """The first second (UNIX time) of a day such as 2025-01-31 (UTC).

    Raises ArgumentTypeError if it is no day.
    """
    try:
        return int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2025-01-31") from None


def last_second(text: str) -> int:
    """The last second (UNIX time) of a day such as 2025-01-31 (UTC).

    Raises ArgumentTypeError if it is no day.
    """
    return first_second(text) + _DAY - 1


def _number(text: str, *, most: int) -> int:
    number = int(text) if text.isdecimal() and len(text) <= len(str(most)) else 0
    if not 1 <= number <= most:
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise argparse.ArgumentTypeError(f"{shown!r} is not a whole number from 1 to {most:,}")
    return number
