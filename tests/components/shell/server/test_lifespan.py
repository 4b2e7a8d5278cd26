"""The server's shutdown leaves everything as it should be; connections without a whole request are closed."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from components.shell.server import lifespan
from store.disk.lock import WriterLock
from store.library import Library
from store.settings import settings
from tests.ports import free_port
from tests.waiting import eventually


def test_a_stopping_server_closes_the_library(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal ends it, so exit handlers of the interpreter would not run."""

    async def live() -> None:
        async with lifespan.lifespan(None):
            assert not WriterLock(library.layout.lock).is_free()

    monkeypatch.setenv("MEMEDEX_ROOT", str(library.layout.root))
    settings.cache_clear()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(live())).result()
    assert WriterLock(library.layout.lock).is_free()
    assert not library.catalog.path.with_name("catalog.sqlite3-wal").exists(), "the log is written back"


HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


async def answer(request: Request) -> Response:
    await asyncio.sleep(float(request.query_params.get("after", 0)))
    return PlainTextResponse("here")


async def page(connection: WebSocket) -> None:
    await connection.accept()
    await connection.receive_text()


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server that looks at its connections every tenth of a second."""
    monkeypatch.setattr(lifespan, "HEAD_SECONDS", 0.1)
    lifespan.limit_heads()
    lifespan.limit_heads()
    found = free_port()
    app = Starlette(routes=[Route("/", answer), WebSocketRoute("/ws", page)])
    server = uvicorn.Server(uvicorn.Config(app, port=found, log_level="error", ws="websockets-sansio"))
    thread = threading.Thread(target=server.run)
    thread.start()
    assert eventually(lambda: server.started)
    yield found
    server.should_exit = True
    thread.join(60)


def heard(port: int, *sent: bytes) -> bytes:
    """All that comes on a connection on which this is sent, until the server closes it."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        for part in sent:
            line.sendall(part)
        while part := line.recv(1_000):
            found += part
    return found


@pytest.mark.parametrize("sent", [b"", b"G", HEAD, HEAD + b"X-A: "])
def test_a_connection_without_a_whole_head_is_closed(port: int, sent: bytes) -> None:
    assert heard(port, sent) == b""


def test_a_half_head_behind_an_answer_is_closed_as_well(port: int) -> None:
    assert heard(port, HEAD + b"\r\n" + HEAD).endswith(b"here")


def test_an_answer_that_takes_long_comes(port: int) -> None:
    asked = HEAD.replace(b"/ ", b"/?after=0.5 ") + b"\r\n"
    assert heard(port, asked).endswith(b"here")


def test_a_websocket_stays_open(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=0.5) as line:
        line.sendall(UPGRADE)
        assert b" 101 " in line.recv(1_000)
        with pytest.raises(TimeoutError):
            line.recv(1)
