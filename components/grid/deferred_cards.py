"""Cards that a moved slider needs, requested beside the page's runs, so that dragging never waits."""

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any

from cachetools import LRUCache
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from components.grid.cards import Mark, card
from components.shell.base_path import base_path
from components.shell.signed_post import answered
from store.library import Library
from store.reading.reader import Reader

_AT_ONCE = 200  # cards in one answer
REMEMBERED = 64  # questions whose pages may still ask

_Marks = Mapping[str, Mark]

_questions: LRUCache[str, tuple[tuple[str, ...], _Marks]] = LRUCache(
    REMEMBERED
)  # addresses by row, and marks
_lock = Lock()


def address() -> str:
    """The URL of the route."""
    return f"{base_path()}/results/cards"


def routes() -> list[Route]:
    """The route that answers, for the app."""
    return [Route(address(), serve, methods=["POST"])]


async def serve(request: Request) -> Response:
    """The cards of some rows of a query; only for pages of this library, which have its token."""
    return await answered(request, answer)


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


def answer(library: Library, message: Mapping[str, Any]) -> Response:
    """The cards of these rows; deleted records have none."""
    with _lock:
        known = _questions.get(str(message.get("query")))
    if known is None:
        return PlainTextResponse("not asked here", 404)
    addresses, marks = known
    given = message.get("rows")
    rows = {
        addresses[row]: row
        for row in (given if isinstance(given, list) else [])[:_AT_ONCE]
        if type(row) is int and 0 <= row < len(addresses)
    }
    cards = ranked_cards(library, rows, rows, marks)
    return JSONResponse({"cards": cards}, headers={"Cache-Control": "no-store"})
