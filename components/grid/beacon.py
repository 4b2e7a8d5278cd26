"""Decisions delivered by the browser itself when a page goes away: its script may never run again."""

import json
from typing import cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from components import pictures
from components.grid.grid import bearer, ledger_of
from components.grid.ledger import entries_of
from store.desk import Desk
from store.library import Library

_LIMIT = 1_000_000  # bytes; browsers send at most 64 kB this way


def routes() -> list[Route]:
    """The route that takes them, for the app."""
    return [Route(f"{pictures.base_path()}/decisions", deliver, methods=["POST"])]


async def deliver(request: Request) -> Response:
    """Apply a page's log; only for pages of this library, which know its token."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LIMIT:
            return PlainTextResponse("too large", 413)
    return await run_in_threadpool(_apply, body)


def _apply(body: bytes) -> Response:
    library = pictures.library_of_routes()
    try:
        log = json.loads(body)
    except (ValueError, RecursionError):
        return PlainTextResponse("not a log", 400)
    given = log.get("token") if isinstance(log, dict) else None
    # Any page of the web may post to this machine; none but ours can know the token.
    who = bearer(library, given) if isinstance(given, str) else None
    if who is None:
        return PlainTextResponse("not from a page of this library", 403)
    desk = Desk(library, who=who)
    if not desk.can_write:
        return PlainTextResponse("this page can only be looked at", 403)
    for client, entries in entries_of(log).items():
        ledger_of(library.layout.root).apply(cast(Library, desk), client, entries, handlers=None)
    return Response(status_code=204)
