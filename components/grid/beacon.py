"""Decisions that the browser delivers by a beacon when a page closes and its script stops."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from components.grid.grid import ledger_of
from components.grid.logged_decision import belonging
from components.shell.base_path import base_path
from components.shell.signed_post import answered
from store.library import Library


def routes() -> list[Route]:
    """The route that receives them, for the app."""
    return [Route(f"{base_path()}/decisions", deliver, methods=["POST"])]


async def deliver(request: Request) -> Response:
    """Apply a page's log; only for pages of this library, which have its token."""
    return await answered(request, _apply)


def _apply(library: Library, log: Mapping[str, Any]) -> Response:
    if not library.can_write:
        return PlainTextResponse("this page can only be looked at", 403)
    own, foreign = belonging(library, log)
    for client, entries in own.items():
        ledger_of(library.layout.root).apply(library, client, entries, handlers=None, session=log["session"])
    if foreign:
        return PlainTextResponse(
            f"{foreign:,} of these were not decided in this library by {library.actor_name}: "
            "they were not applied",
            409,
        )
    return Response(status_code=204)
