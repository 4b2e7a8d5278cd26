"""Cards that a moved slider brings up, asked for beside the page's own runs: a drag waits for none."""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from components import pictures
from components.grid.cards import Mark, card
from components.posted import answered
from store.library import Library
from store.reading import Reader
from store.records import Record

_AT_ONCE = 200  # cards in one answer
KEPT = 64  # questions whose pages may still ask

_Marks = Mapping[str, Mark]

_questions: OrderedDict[str, tuple[tuple[str, ...], _Marks]] = OrderedDict()  # addresses by row, and marks
_lock = Lock()


def address() -> str:
    """Where a page asks."""
    return f"{pictures.base_path()}/results/cards"


def routes() -> list[Route]:
    """The route that answers, for the app."""
    return [Route(address(), serve, methods=["POST"])]


async def serve(request: Request) -> Response:
    """The cards of some rows of a question; only for pages of this library, which know its token."""
    return await answered(request, answer)


def keep(question: str, rows: Mapping[str, int], marks: _Marks) -> None:
    """Remember which record each row of a question is, with its mark, until many others have been asked."""
    with _lock:
        known = _questions.pop(question, None)
        _questions[question] = (known[0] if known else tuple(sorted(rows, key=rows.__getitem__)), marks)
        while len(_questions) > KEPT:
            _questions.popitem(last=False)


def ranked_card(library: Reader, record: Record, row: int, marks: _Marks) -> dict[str, Any]:
    """A result's card, with its row among the similarities."""
    return {**card(library, record, mark=marks.get(record.address)), "row": row, "facets": True}


def answer(library: Library, asked: Mapping[str, Any]) -> Response:
    """The cards of the rows asked for; of records that are gone none."""
    with _lock:
        known = _questions.get(str(asked.get("query")))
    if known is None:
        return PlainTextResponse("not asked here", 404)
    addresses, marks = known
    given = asked.get("rows")
    rows = {
        addresses[row]: row
        for row in (given if isinstance(given, list) else [])[:_AT_ONCE]
        if type(row) is int and 0 <= row < len(addresses)
    }
    cards = [
        ranked_card(library, record, rows[record.address], marks) for record in library.records(list(rows))
    ]
    return JSONResponse({"cards": cards}, headers={"Cache-Control": "no-store"})
