"""POST requests of pages to the server: limited in size, accepted only with a token."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from components.shell import error_page, login, logins, pictures, tokens
from store.errors import LoginEnded, NotPermitted
from store.library import Library

_LIMIT = 1_000_000  # bytes; a beacon has at most 64 kB, four facets of 20,000 characters fit several times

Answer = Callable[[Library, Mapping[str, Any]], Response]


async def answered(request: Request, answer: Answer) -> Response:
    """The answer to a JSON object from a page of this library, with the permissions of its user.

    Its `session` is taken from the token, never from the page.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LIMIT:
            return PlainTextResponse("too large", 413)
    claims = logins.of_request(request)
    return await run_in_threadpool(_answered, body, claims, answer)


def _answered(body: bytes, claims: logins.Claims, answer: Answer) -> Response:
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        return PlainTextResponse("not JSON", 400)
    token = sent.get("token") if isinstance(sent, dict) else None
    try:
        library = pictures.library_of_routes()
        bearer = tokens.bearer(library, token, claims=claims)
        return answer(
            library.for_actor(logins.actor(bearer.actor, claims)), {**sent, "session": bearer.session}
        )
    except LoginEnded as error:
        return PlainTextResponse(str(error), 401)
    except NotPermitted as error:
        return PlainTextResponse(str(error), 403)
    except (OSError, sqlite3.OperationalError) as error:  # a full disk, no file handles: later it may succeed
        return PlainTextResponse(error_page.disk_words(error, is_local=not login.listens_farther()), 503)
    except Exception as error:  # noqa: BLE001  the page is told a number, the log all of it
        return PlainTextResponse(
            f"error {error_page.log_error(error)}: its cause stands in the server's log", 500
        )
