"""POST /message/{kind}: everything that the scripts of pages send; each kind of message has its model.

A message has the page's token beside its own fields. What changes something carries the id that the page made
for it (`decision`), so it may be sent again: it is done once.
"""

import contextlib
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar
from weakref import WeakValueDictionary

from pydantic import Field, TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from components.shell.addresses import base_path
from components.shell.server import error_page, events
from components.shell.session import login, logins, resources, tokens
from store import Library, MemedexError, Reader
from store.errors import LoginEnded, NotPermitted

M = TypeVar("M")
Id = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]  # of a decision: a UUID that its page made
RowNumber = Annotated[int, Field(strict=True, gt=0, lt=1 << 63)]  # of a row in the catalog, such as a job's
_PRIVATE = {"Cache-Control": "no-store"}

_locks: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()  # by decision
_locks_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Sender:
    """The page that sent a message, as its token and its request say."""

    session: str
    cookies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kind(Generic[M]):
    """One kind of message: its name in the address, the dataclass of its fields, and who answers it.

    `answer` returns what is sent as JSON, or a response; a MemedexError is answered with 409 and its text.
    Where it `writes`, a viewer's message is refused before it is read.
    """

    name: str
    model: type[M]
    answer: Callable[[Library, M, Sender], object]
    writes: bool = False


@contextlib.contextmanager
def alone(decision: str) -> Iterator[None]:
    """Wait for an earlier message with this decision: a page sends it again when it hears nothing."""
    with _locks_lock:
        lock = _locks.setdefault(decision, threading.Lock())
    with lock:
        yield


def address() -> str:
    """Where pages send them, before the kind."""
    return f"{base_path()}/message"


def server(library: Reader) -> dict[str, str]:
    """What a page's script needs to send messages: the address and a token of this run."""
    return {"url": address(), "token": tokens.token(library)}


def routes(*kinds: Kind[Any]) -> list[Route]:
    """The route of these kinds, for the app."""
    known = {kind.name: (kind, TypeAdapter[Any](kind.model)) for kind in kinds}

    async def serve(request: Request) -> Response:
        if request.path_params["kind"] not in known:
            return PlainTextResponse("unknown message", 404)
        kind, model = known[request.path_params["kind"]]
        body, claims = await request.body(), logins.of_request(request)
        response = await run_in_threadpool(_answered, kind, model, body, claims, dict(request.cookies))
        if kind.writes:
            events.watcher.hurry()
        return response

    return [Route(f"{address()}/{{kind}}", serve, methods=["POST"])]


def _answered(
    kind: Kind[Any], model: TypeAdapter[Any], body: bytes, claims: logins.Claims, cookies: Mapping[str, str]
) -> Response:
    """The answer to a message from a page of this library, with the permissions of its user."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        return PlainTextResponse("not JSON", 400)
    token = sent.get("token") if isinstance(sent, dict) else None
    try:
        library = resources.library_of_routes()
        bearer = tokens.bearer(library, token, claims=claims)
        library = library.for_actor(logins.actor(bearer.actor, claims))
        if kind.writes and not library.can_write:
            return PlainTextResponse("this library can only be looked at here", 403)
        message = model.validate_python(sent)
        answer = kind.answer(library, message, Sender(bearer.session, cookies))
        if isinstance(answer, Response):
            return answer
        # In ASCII: a draft may hold half a character, which UTF-8 cannot say.
        return Response(json.dumps(answer), media_type="application/json", headers=_PRIVATE)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return PlainTextResponse(f"{where}: {first['msg']}", 400)
    except LoginEnded as error:
        return PlainTextResponse(str(error), 401)
    except NotPermitted as error:
        return PlainTextResponse(str(error), 403)
    except MemedexError as error:
        return PlainTextResponse(str(error), 409)
    except (OSError, sqlite3.OperationalError) as error:  # a full disk, no file handles: later it may succeed
        return PlainTextResponse(error_page.disk_words(error, is_local=not login.listens_farther()), 503)
    except Exception as error:  # noqa: BLE001  the page is told a number, the log all of it
        return PlainTextResponse(
            f"error {error_page.log_error(error)}: its cause stands in the server's log", 500
        )
