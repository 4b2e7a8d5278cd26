"""What one page hears on its stream of events."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from components.shell.server import events
from components.shell.server.current_state import State
from tests.components.claims import Claims, cookies


def request_with(token: str | None, *, login: Claims | None = None) -> Request:
    """GET /events as a page's script sends it."""
    headers = {"X-Memedex-Token": token} if token is not None else {}
    if login:
        headers["cookie"] = "; ".join(f"{name}={value}" for name, value in cookies(login).items())
    encoded = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    return Request(
        {"type": "http", "method": "GET", "path": "/events", "query_string": b"", "headers": encoded}
    )


def lived(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run this test in an event loop of its own, as a server has one."""

    @wraps(test)
    def run(**fixtures: Any) -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: asyncio.run(asyncio.wait_for(test(**fixtures), 60))).result()

    return run


async def answer(token: str | None, **more: Any) -> Response:
    return await events.serve(request_with(token, **more))


async def opened(token: str, **more: Any) -> "Stream":
    response = await answer(token, **more)
    assert isinstance(response, StreamingResponse), response.body
    assert response.media_type == "text/event-stream"
    assert response.headers["cache-control"] == "no-store"
    stream = Stream(response.body_iterator)  # type: ignore[arg-type]
    assert (await anext(stream.pieces)).startswith(":")
    return stream


class Stream:
    """What one page hears."""

    def __init__(self, pieces: AsyncIterator[str]) -> None:
        self.pieces = pieces

    async def news(self) -> State:
        piece = await anext(self.pieces)
        assert piece.startswith("data: "), piece
        return dict(json.loads(piece.removeprefix("data: ")))

    async def is_over(self) -> bool:
        return [piece async for piece in self.pieces] == []
