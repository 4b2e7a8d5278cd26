"""Decisions delivered by the browser itself when a page goes away: its script may never run again."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from components import pictures
from components.grid.grid import ledger_of
from components.grid.ledger import entries_of
from components.posted import answered
from store.library import Library


def routes() -> list[Route]:
    """The route that takes them, for the app."""
    return [Route(f"{pictures.base_path()}/decisions", deliver, methods=["POST"])]


async def deliver(request: Request) -> Response:
    """Apply a page's log; only for pages of this library, which know its token."""
    return await answered(request, _apply)


def _apply(library: Library, log: Mapping[str, Any]) -> Response:
    if not library.can_write:
        return PlainTextResponse("this page can only be looked at", 403)
    for client, entries in entries_of(log).items():
        ledger_of(library.layout.root).apply(library, client, entries, handlers=None)
    return Response(status_code=204)
