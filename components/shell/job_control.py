"""POST /job: pause or stop a job from a page's script, once for each key that the page makes up."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from components.shell.base_path import base_path
from components.shell.signed_post import answered
from store.disk.sqlite_values import is_integer
from store.errors import MemedexError
from store.library import Library
from store.lru import LruCache

_REMEMBERED = 1_000  # requests
_LONGEST = 64  # characters of a key

_done: LruCache[tuple[str, str, str], bool] = LruCache(_REMEMBERED)  # by library, session and key
_lock = threading.Lock()


def address() -> str:
    """Where pages send it."""
    return f"{base_path()}/job"


def routes() -> list[Route]:
    """The route, for the app."""
    return [Route(address(), control, methods=["POST"])]


async def control(request: Request) -> Response:
    """Pause or stop; only for pages of this library, which have its token."""
    return await answered(request, _control)


def _control(library: Library, data: Mapping[str, Any]) -> Response:
    """`{"job": 7, "verb": "pause" or "stop", "key": …}`; sent again with the same key, it does nothing."""
    number, verb, key = data.get("job"), data.get("verb"), data.get("key")
    verbs: Mapping[str, Callable[[int], object]] = {"pause": library.jobs.pause, "stop": library.jobs.cancel}
    if (
        not is_integer(number)
        or number <= 0
        or not isinstance(verb, str)
        or verb not in verbs
        or not isinstance(key, str)
        or not 0 < len(key) <= _LONGEST
    ):
        return PlainTextResponse("a job, a verb and a key are needed", 400)
    if not library.can_write:
        return PlainTextResponse("jobs can only be looked at here", 403)
    request = (library.id, data["session"], key)
    with _lock:
        if request not in _done:
            try:
                verbs[verb](number)
            except MemedexError as error:
                return PlainTextResponse(str(error), 409)
            _done[request] = True
    return JSONResponse({})
