"""Choose the examples for a generator: the coins nearest to a line of the search page."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from store.catalog.filters import Filter
from store.errors import InvalidRecord
from store.reading.query_binding import parts_of, picture
from store.reading.reader import Reader
from store.search.query import Query
from store.search.query_syntax import read


def nearest_examples(reader: Reader, line: str, *, top: int) -> list[str]:
    """Addresses of the library's coins nearest to the line, which may filter as on the search page.

    Raises InvalidRecord if the line asks nothing.
    """
    question = read(line, base=Filter(tier="library"), actor="")
    parts, faults = parts_of(reader, question, pictures=partial(picture, reader))
    if not parts:
        raise InvalidRecord("; ".join([*question.faults, *faults]) or "say what the coin should be about")
    query = Query(parts, top=top, filter=replace(question.filter, tier="library"))
    return [hit.address for hit in reader.search(query).hits]


def chosen_examples(reader: Reader, line: str, addresses: Sequence[str], *, top: int) -> list[str]:
    """The named coins, or without any the nearest to the line."""
    return list(addresses) or nearest_examples(reader, line, top=top)
