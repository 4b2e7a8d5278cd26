"""Cards that a moved slider needs, requested apart from the page's runs, so that dragging never waits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Annotated, Any

from cachetools import LRUCache
from pydantic import Field
from starlette.responses import PlainTextResponse

from components.grid.cards import Mark, card
from components.shell.server.messages import Kind, Sender
from store import Library, Reader

_AT_ONCE = 200  # cards in one answer
REMEMBERED = 64  # questions whose pages may still ask

_Marks = Mapping[str, Mark]

# Addresses by row, and marks.
_questions: LRUCache[str, tuple[tuple[str, ...], _Marks]] = LRUCache(REMEMBERED)
_lock = Lock()


@dataclass(frozen=True, slots=True)
class CardsQuestion:
    """Rows of a query that was remembered here."""

    query: str
    rows: list[Annotated[int, Field(strict=True)]]


def remember(question: str, rows: Mapping[str, int], marks: _Marks) -> None:
    """Cache the record of each row of a query, with its mark, until many other queries have come."""
    with _lock:
        known = _questions.get(question)
        _questions[question] = (known[0] if known else tuple(sorted(rows, key=rows.__getitem__)), marks)


def ranked_cards(
    library: Reader, addresses: Iterable[str], rows: Mapping[str, int], marks: _Marks
) -> list[dict[str, Any]]:
    """The cards of those results that have a row among the similarities, each with its row."""
    unfit = library.unfit.pictures()
    return [
        {
            **card(library, record, unfit=unfit, mark=marks.get(record.address)),
            "row": rows[record.address],
            "facets": True,
        }
        for record in library.records(addresses)
        if record.address in rows
    ]


def answer(library: Library, question: CardsQuestion, _: Sender) -> object:
    """The cards of these rows; deleted records have none."""
    with _lock:
        known = _questions.get(question.query)
    if known is None:
        return PlainTextResponse("not asked here", 404)
    addresses, marks = known
    rows = {addresses[row]: row for row in question.rows[:_AT_ONCE] if 0 <= row < len(addresses)}
    return {"cards": ranked_cards(library, rows, rows, marks)}


KIND = Kind("cards", CardsQuestion, answer)
