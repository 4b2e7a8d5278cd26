"""Values of flags, from the text that somebody typed; argparse reports what they raise as wrong usage."""

import argparse
from datetime import UTC, datetime

from store.errors import InvalidRecord
from store.evaluation.evaluation import DEPTH
from store.records import FACETS, Facet
from store.search.query import MAX_TOP
from store.vectors.weights import checked_weights

_DAY = 86_400


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
    if not text.isdecimal() or not 0 < int(text) < 1_000_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def depth(text: str) -> int:
    """How many of the first hits count in an evaluation.

    Raises ArgumentTypeError above `DEPTH`.
    """
    if (number := positive(text)) > DEPTH:
        raise argparse.ArgumentTypeError(f"relevant coins are searched for among the first {DEPTH}")
    return number


def top(text: str) -> int:
    """How many hits to print.

    Raises ArgumentTypeError above `MAX_TOP`.
    """
    if (number := positive(text)) > MAX_TOP:
        raise argparse.ArgumentTypeError(f"at most {MAX_TOP:,} hits can be asked for")
    return number


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
