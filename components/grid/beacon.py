"""Decisions that a page delivers without a run of its script: at once, and by a beacon when it closes."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from components.grid.grid import applied_decisions_of
from components.grid.logged_decision import belonging
from components.shell import events
from components.shell.base_path import base_path
from components.shell.signed_post import answered
from store.library import Library


def routes() -> list[Route]:
    """The route that receives them, for the app."""
    return [Route(f"{base_path()}/decisions", deliver, methods=["POST"])]


async def deliver(request: Request) -> Response:
    """Apply a page's log and answer what is confirmed; only for pages with this library's token."""
    response = await answered(request, _apply)
    events.watcher.hurry()
    return response


def _apply(library: Library, log: Mapping[str, Any]) -> Response:
    if not library.can_write:
        return PlainTextResponse("this page can only be looked at", 403)
    own, foreign = belonging(library, log)
    applied = applied_decisions_of(library.layout.root)
    for client, entries in own.items():
        applied.apply(library, client, entries, handlers=None, session=log["session"])
    if foreign:
        return PlainTextResponse(
            f"{foreign:,} of these were not decided in this library by {library.actor_name}: "
            "they were not applied",
            409,
        )
    confirmed = applied.confirmed(own, actor=library.actor_name)
    return JSONResponse({"confirmed": confirmed}, headers={"Cache-Control": "no-store"})
