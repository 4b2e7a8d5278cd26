"""Who is let in, how much may be sent and kept open, and what each response says."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, TypeVar

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit import config

from components.shell import addresses
from components.shell.server import logs, request_guard
from components.shell.server.request_guard import OpenPlace, RequestGuard, Strangers
from components.shell.session import login

T = TypeVar("T")


@pytest.fixture(autouse=True)
def options() -> Iterator[Callable[[str, Any], None]]:
    """Set options of the server; the previous ones come back."""
    names = ("server.address", "server.allowedHosts", "server.corsAllowedOrigins")
    before = {name: (config.get_option(name), config.get_where_defined(name)) for name in names}
    config.set_option("server.address", "127.0.0.1", "a test")
    yield lambda name, value: config.set_option(name, value, "a test")
    for name, (value, where) in before.items():
        config.set_option(name, value, where)


async def message(request: Request) -> Response:
    return PlainTextResponse(f"{len(await request.body())} {logs.request_number()}")


async def broken(_: Request) -> Response:
    raise RuntimeError("/a/path/of/the/server")


async def strict(_: Request) -> Response:
    return PlainTextResponse("", headers={"Content-Security-Policy": "default-src 'none'"})


APP = Starlette(
    routes=[
        Route("/", message, methods=["GET", "POST"]),
        Route("/broken", broken),
        Route("/strict", strict),
        Route("/_stcore/upload_file/{session}/{file}", message, methods=["PUT"]),
        Route("/media/{name}", message),
    ],
    middleware=[Middleware(RequestGuard)],
)


def finished(work: Coroutine[Any, Any, T]) -> T:
    """Run it in a thread of its own: `asyncio.run` would drop the loop of this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def ask(method: str = "GET", path: str = "/", *, host: str = "127.0.0.1:8501", **more: Any) -> httpx.Response:
    async def answered() -> httpx.Response:
        transport = httpx.ASGITransport(APP, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return await client.request(method, path, **more)

    return finished(answered())


async def connect(app: RequestGuard, **headers: str) -> list[str]:
    """What a websocket with these headers is answered."""
    sent: list[str] = []

    async def send(message: Any) -> None:
        sent.append(f"{message['type']} {message.get('code', '')}".strip())

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    named = [(name.encode(), value.encode()) for name, value in headers.items()]
    await app({"type": "websocket", "path": "/_stcore/stream", "headers": named}, receive, send)
    return sent


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8501", "[::1]:8501", "a.localhost", "LOCALHOST."])
def test_a_loopback_server_answers_to_its_own_names(host: str) -> None:
    assert ask(headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8501", "192.168.1.5", "0.0.0.0", "",
        "127.0.0.1@evil.example", "127.0.0.1:x", "evil.example:8501", "localhost/", "[::1", "evillocalhost",
    ],
)  # fmt: skip
def test_another_name_is_refused(host: str) -> None:
    answer = ask(headers={"Host": host})
    assert answer.status_code == 421
    assert "X-Request-Id" in answer.headers


def test_a_server_on_every_address_answers_to_addresses_and_its_machines_name(options: Any) -> None:
    options("server.address", "0.0.0.0")
    assert {ask(headers={"Host": host}).status_code for host in ("192.168.1.5:8501", "[fe80::1]")} == {200}
    assert ask(headers={"Host": addresses.socket.gethostname()}).status_code == 200
    assert ask(headers={"Host": "evil.example"}).status_code == 421


def test_names_of_the_settings_are_all_that_is_answered(options: Any) -> None:
    options("server.allowedHosts", ["coins.example.org", "*.coins.example.org"])
    for host in ("coins.example.org", "a.coins.example.org:8443"):
        assert ask(headers={"Host": host}).status_code == 200
    for host in ("127.0.0.1", "evilcoins.example.org", "example.org"):
        assert ask(headers={"Host": host}).status_code == 421


def test_a_public_name_in_the_settings_asks_for_a_login(options: Any) -> None:
    assert not login.is_required()
    options("server.corsAllowedOrigins", ["http://localhost:3000"])
    assert not login.is_required()
    options("server.corsAllowedOrigins", ["https://coins.example.org"])
    assert login.is_required()
    assert ask(headers={"Host": "coins.example.org"}).status_code == 200


def test_streamlit_itself_is_told_the_names(options: Any) -> None:
    addresses.allow_own_names()
    assert config.get_option("server.allowedHosts") == list(addresses.LOOPBACK)
    config.set_option("server.address", "localhost", "a test")
    assert "127.0.0.1" in addresses.own_names(), "what was set by itself is not taken for a choice"


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:3000", "http://127.0.0.1", "file://", ""]
)
def test_another_origin_changes_nothing(origin: str) -> None:
    assert ask("POST", headers={"Origin": origin}).status_code == 403
    app = RequestGuard(APP)
    refused = finished(connect(app, host="127.0.0.1:8501", origin=origin))
    assert refused == ["websocket.close 1008"]


def test_another_site_may_link_here_but_include_nothing() -> None:
    def status(site: str, mode: str, **more: str) -> int:
        return ask(headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, **more}).status_code

    assert (
        status("same-origin", "cors") == status("none", "navigate") == status("cross-site", "navigate") == 200
    )
    assert status("same-origin", "cors", Origin="http://127.0.0.1:8501") == 200
    assert status("cross-site", "no-cors") == 403
    assert status("same-site", "no-cors") == 403, "another port of this machine"
    assert status("same-site", "cors", Origin="http://127.0.0.1:3000") == 403


def test_its_own_pages_and_those_of_the_settings_may_act(options: Any) -> None:
    assert ask("POST", headers={"Origin": "http://127.0.0.1:8501"}).status_code == 200
    assert ask("POST", headers={"Origin": "https://127.0.0.1:8501"}).status_code == 200, "behind a proxy"
    options("server.corsAllowedOrigins", ["https://coins.example.org/"])
    assert ask("POST", headers={"Origin": "https://coins.example.org"}).status_code == 200


def test_every_response_has_the_headers_and_keeps_a_stricter_policy() -> None:
    for path in ("/", "/broken", "/nowhere", "/strict"):
        headers = ask(path=path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert re.fullmatch(r"[0-9a-f]{12}", headers["X-Request-Id"])
    assert ask(path="/strict").headers["Content-Security-Policy"] == "default-src 'none'"
    policy = dict(part.split(" ", 1) for part in ask().headers["Content-Security-Policy"].split("; "))
    assert policy["frame-ancestors"] == "'none'"
    assert "'unsafe-" not in policy["script-src"], "neither inline scripts nor eval"
    assert "sha256-" in policy["script-src"], "Streamlit's page has one inline script"


def test_a_request_has_one_number_in_response_and_log(caplog: pytest.LogCaptureFixture) -> None:
    answer = ask(headers={"X-Request-Id": "chosen by the client"})
    assert answer.text.split()[1] == answer.headers["X-Request-Id"]
    wrong = ask(path="/broken")
    assert wrong.status_code == 500
    assert "/a/path" not in wrong.text
    assert wrong.headers["X-Request-Id"] in wrong.text
    assert f"error {wrong.headers['X-Request-Id']}" in caplog.text
    assert "RuntimeError: /a/path/of/the/server" in caplog.text


def chunks(size: int, *, pause: float = 0.0, of: int = 10) -> Any:
    async def body() -> Any:
        for _ in range(of):
            await asyncio.sleep(pause)
            yield bytes(size)

    return body()


def test_a_body_that_is_too_large_is_refused() -> None:
    announced = ask("POST", headers={"Content-Length": "1000000000"}, content=b"")
    assert announced.status_code == 413
    assert announced.headers["Connection"] == "close"
    assert ask("POST", content=chunks(300_000)).status_code == 413
    assert ask("POST", content=chunks(100_000)).text.startswith("1000000 ")
    uploaded = ask("PUT", "/_stcore/upload_file/a/b", content=chunks(300_000))
    assert uploaded.text.startswith("3000000 "), "Streamlit itself limits uploads"


def test_a_body_that_is_too_slow_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_guard, "BODY_SECONDS", 0.1)
    assert ask("POST", content=chunks(1, pause=0.05)).status_code == 408
    assert ask("POST", content=chunks(16_000, pause=0.05)).status_code == 200, "slow, but it gets on"


def test_of_unfinished_logins_from_one_address_the_oldest_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "is_required", lambda: True)
    monkeypatch.setattr(request_guard, "MOST_STRANGERS", 2)
    app = Starlette(
        routes=[Route("/login", message, methods=["POST"])], middleware=[Middleware(RequestGuard)]
    )
    never = asyncio.Event()

    async def half() -> AsyncIterator[bytes]:
        yield b"{"
        await never.wait()

    async def sent() -> list[int]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8501") as client:
            waiting = [asyncio.ensure_future(client.post("/login", content=half())) for _ in range(4)]
            await asyncio.wait(waiting[:2])  # each of the last two took the place of one of these
            whole = await client.post("/login", content=b"{}")
            await asyncio.wait(waiting[:3])
            waiting[3].cancel()
            return [*(each.result().status_code for each in waiting[:3]), whole.status_code]

    assert finished(sent()) == [408, 408, 408, 200]


def test_of_a_stranger_no_body_is_read_but_that_of_a_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "is_required", lambda: True)
    for method in ("POST", "GET"):
        refused = ask(method, content=chunks(1_000))
        assert (refused.status_code, refused.headers["Connection"]) == (401, "close")
    assert ask().status_code == 200
    assert ask("POST", "/login", content=b"x" * 30_000).status_code == 413
    monkeypatch.setattr(request_guard, "_is_known", lambda _: True)
    assert ask("POST", content=chunks(1)).status_code == 200


def test_requests_of_one_address_leave_room_for_others_and_for_its_login(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(login, "is_required", lambda: True)
    monkeypatch.setattr(request_guard, "MOST_OF_A_STRANGER", 2)
    go_on = asyncio.Event()

    async def slow(_: Request) -> Response:
        await go_on.wait()
        return PlainTextResponse("")

    routes = [Route("/slow", slow), Route("/", message), Route("/login", message, methods=["POST"])]
    app = Starlette(routes=routes, middleware=[Middleware(RequestGuard)])

    async def asked() -> list[int]:
        def client(address: str) -> httpx.AsyncClient:
            transport = httpx.ASGITransport(app, client=(address, 1))
            return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8501")

        async with client("10.0.0.1") as one, client("10.0.0.2") as other:
            waiting = [asyncio.ensure_future(one.get("/slow")) for _ in range(2)]
            await asyncio.sleep(0)
            answers = [await one.get("/"), await one.post("/login", content=b"{}"), await other.get("/")]
            go_on.set()
            answers += [*await asyncio.gather(*waiting), await one.get("/")]
            return [answer.status_code for answer in answers]

    assert finished(asked()) == [503, 200, 200, 200, 200, 200]


def test_uploads_and_media_ask_for_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(path="/media/a").status_code == 200
    monkeypatch.setattr(login, "is_required", lambda: True)
    assert ask(path="/media/a").status_code == 401
    assert ask(path="/_stcore/metrics").status_code == 401
    assert ask("PUT", "/_stcore/upload_file/a/b", content=b"x").status_code == 401


def test_the_number_of_open_pages_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_guard, "MOST_SESSIONS", 3)
    over = asyncio.Event()

    async def page(_: Any, __: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        await send({"type": "websocket.accept"})
        await over.wait()

    async def opened(required: Sequence[bool]) -> list[list[str]]:
        app, answers = RequestGuard(page), []
        for is_required in required:
            monkeypatch.setattr(login, "is_required", lambda is_required=is_required: is_required)
            answers.append(asyncio.ensure_future(connect(app, host="localhost")))
            await asyncio.sleep(0)
        over.set()
        all_answers = [await answer for answer in answers]
        over.clear()
        assert await asyncio.wait_for(connect_and_end(app), 1) == ["websocket.accept"]
        return all_answers

    async def connect_and_end(app: RequestGuard) -> list[str]:
        over.set()
        return await connect(app, host="localhost")

    assert finished(opened([False] * 4)) == [["websocket.accept"]] * 3 + [["websocket.close 1013"]]
    over = asyncio.Event()
    assert finished(opened([True] * 4)) == [["websocket.accept"]] * 4, "strangers take no room of others"


def test_of_pages_without_a_login_from_one_address_the_oldest_gives_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(login, "is_required", lambda: True)
    monkeypatch.setattr(request_guard, "MOST_STRANGERS", 2)

    async def page(
        _: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass

    async def opened() -> list[list[str]]:
        app = RequestGuard(page)
        pages = [asyncio.ensure_future(connect(app, host="localhost")) for _ in range(3)]
        closed = [await pages[0]]
        for each in pages[1:]:
            assert not each.done()
            each.cancel()
        return closed

    assert finished(opened()) == [["websocket.accept", "websocket.close 1013"]]


def opened(strangers: Strangers, lasting: ExitStack, *addresses: str) -> list[OpenPlace]:
    return [lasting.enter_context(strangers.place(address)) for address in addresses]


def ended(places: list[OpenPlace]) -> list[bool]:
    return [place.gives_way.is_set() for place in places]


def test_the_oldest_of_an_address_gives_way_to_a_newer_one_and_no_other_does() -> None:
    strangers = Strangers(most=2, most_of_all=100)
    with ExitStack() as lasting:
        other, *own = opened(strangers, lasting, "b", "a", "a", "a", "a")
        assert ended([other]) == [False]
        assert ended(own) == [True, True, False, False]


def test_the_address_that_has_most_gives_way_if_all_have_too_much() -> None:
    strangers = Strangers(most=9, most_of_all=4)
    with ExitStack() as lasting:
        places = opened(strangers, lasting, "b", "a", "a", "a", "c", "d")
        assert ended(places) == [False, True, True, False, False, False]


def test_a_place_that_was_left_counts_no_more() -> None:
    strangers = Strangers(most=1, most_of_all=1)
    for _ in range(3):
        with strangers.place("a") as place:
            pass
        assert ended([place]) == [False]
    assert strangers._open == {}
