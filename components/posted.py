"""What a page sends to the server beside its own runs: read within a limit, believed only with its token."""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from components import pictures
from components.grid.grid import bearer
from store.desk import Desk
from store.library import Library

_LIMIT = 1_000_000  # bytes; a beacon has at most 64 kB, four facets of 20,000 characters fit several times

Answer = Callable[[Library, Mapping[str, Any]], Response]


async def answered(request: Request, answer: Answer) -> Response:
    """The answer to a JSON object from a page of this library, at the desk of whoever sees the page."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LIMIT:
            return PlainTextResponse("too large", 413)
    return await run_in_threadpool(_answered, body, answer)


def _answered(body: bytes, answer: Answer) -> Response:
    library = pictures.library_of_routes()
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        return PlainTextResponse("not JSON", 400)
    given = sent.get("token") if isinstance(sent, dict) else None
    # Any page of the web may post to this machine; none but ours can know the token.
    who = bearer(library, given) if isinstance(given, str) else None
    if who is None:
        return PlainTextResponse("not from a page of this library", 403)
    # A desk stands where a Library is expected; a viewer's refuses every verb that changes anything.
    return answer(cast(Library, Desk(library, who=who)), sent)
