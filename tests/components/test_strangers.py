"""A real server among strangers: other names, other sites, wrong paths and methods, endless requests."""

import http.client
import json
import resource
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from store.sessions import LoginSessions
from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server
from tests.waiting import eventually

MIB = 2**20
GIGABYTE = 10**9


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with dashboard(tmp_path_factory.mktemp("strangers") / "res") as server:
        yield server


def place(server: Server) -> tuple[str, int]:
    parts = urlsplit(server.url)
    return str(parts.hostname), int(parts.port or 0)


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes


def ask(server: Server, path: str = "/", *, method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
    """Send exactly this path; `_` in the name of a header stands for `-`."""
    named: Mapping[str, str] = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(http.client.HTTPConnection(*place(server), timeout=60)) as connection:
        connection.putrequest(method, path, skip_host="Host" in named)
        for name, value in {"Content-Length": str(len(body)), **named}.items():
            connection.putheader(name, value)
        connection.endheaders(body or None)
        with connection.getresponse() as answer:
            return Answer(answer.status, b"" if answer.status == 101 else answer.read())


def upgrade(server: Server, **headers: str) -> int:
    """The status with which a page's websocket is answered."""
    key = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13",
           "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip
    return ask(server, "/_stcore/stream", **key, **headers).status


def memory(server: Server) -> int:
    """The bytes that the server's process has in memory; 0 where the system does not say."""
    table = Path(f"/proc/{server.pid}/status")
    lines = table.read_text().splitlines() if table.exists() else []
    return sum(int(line.split()[1]) * 1_024 for line in lines if line.startswith("VmRSS"))


def open_files(server: Server) -> int:
    """How many files and connections the server's process has open; 0 where the system does not say."""
    table = Path(f"/proc/{server.pid}/fd")
    return len(list(table.iterdir())) if table.exists() else 0


def test_only_its_own_name_and_pages_reach_it(server: Server) -> None:
    assert ask(server).status == 200
    assert upgrade(server) == 101
    assert upgrade(server, Origin=server.url) == 101
    for path in ("/", "/_stcore/health", "/events", "/_stcore/host-config", "/static/js/x.js"):
        refused = ask(server, path, Host="evil.example")
        assert refused.status == 421
        assert b"evil.example" in refused.body
    assert upgrade(server, Host="evil.example", Origin="http://evil.example") == 403
    assert upgrade(server, Origin="http://evil.example") == 403
    assert upgrade(server, Origin="http://127.0.0.1:1") == 403, "another program of this machine"
    for path in ("/message/decisions", "/message/editor-commit", "/message/job"):
        assert ask(server, path, method="POST", body=b"{}", Origin="http://evil.example").status == 403


def test_the_agent_api_is_off(server: Server) -> None:
    for path in ("/_stcore/agent/interact", "/_stcore/agent/mcp"):
        answer = ask(server, path, method="POST", body=b"{}", Content_Type="application/json")
        assert b"does not serve the agent API" in answer.body


SECRET = "the words of a file beside the library"


@pytest.mark.parametrize("below", ["/pictures/", "/javascript/", "/static/", "/media/", "/component/", "/"])
def test_no_path_leads_to_another_file(server: Server, below: str) -> None:
    server.root.mkdir(exist_ok=True)
    (server.root / "notes.txt").write_text(SECRET)
    here = str(server.root / "notes.txt")
    for up in ("../", "..%2f", "%2e%2e/", "..%5c", "....//", "..;/", ".%00./"):
        for name in (f"{up * 12}{here.lstrip('/')}", f"{up * 3}app.py", f"{up * 12}etc/passwd"):
            answer = ask(server, f"{below}{name}").body
            assert SECRET.encode() not in answer
            assert b"st.App(" not in answer
            assert b"root:" not in answer
    for name in (here, f"//{here}", "//evil.example/share", "%5c%5cevil.example%5cshare", "%00", "%ff"):
        assert SECRET.encode() not in ask(server, f"{below}{name}").body


@pytest.mark.parametrize("path", ["/message/decisions", "/message/editor-commit", "/message/job"])
def test_routes_that_change_something_take_nothing_but_a_post(server: Server, path: str) -> None:
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST/..", "CONNECT"):
        assert ask(server, path, method=method, body=b"{}").status in {400, 404, 405}, method
    assert b'"token"' not in ask(server, path).body
    sent = ask(server, path, method="POST", body=b"{}", X_HTTP_Method_Override="GET")
    assert sent.status == 403, "no token"


def test_a_gigabyte_is_not_read(server: Server) -> None:
    before = memory(server)
    for path, method in (
        ("/message/decisions", "POST"),
        ("/", "GET"),
        ("/message/editor-keep", "POST"),
        ("/nowhere", "PUT"),
    ):
        announced = ask(server, path, method=method, body=b"x", Content_Length=str(GIGABYTE))
        assert announced.status == 413, path
    for path in ("/message/decisions", "/message/editor-keep"):
        assert _send_endlessly(server, path) < 50 * MIB
    assert memory(server) - before < 50 * MIB


def _send_endlessly(server: Server, path: str) -> int:
    """Send a body without an end in chunks; returns the bytes after which the server took no more."""
    chunk = b"10000\r\n" + bytes(0x10000) + b"\r\n"
    sent = 0
    with socket.create_connection(place(server), timeout=30) as line:
        line.sendall(
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        try:
            while sent < GIGABYTE:
                line.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
    return sent


def test_a_thousand_unfinished_requests_keep_nobody_waiting(server: Server) -> None:
    used, permitted = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(used, min(permitted, 4_096)), permitted))
    before, files = memory(server), open_files(server)
    beginnings = (b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ", b"POST /decisions HTTP/1.1\r\n"
                  b"Host: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{")  # fmt: skip
    with ExitStack() as lines:
        for number in range(1_000):
            line = lines.enter_context(socket.create_connection(place(server), timeout=30))
            line.sendall(beginnings[number % 3])
        began = time.monotonic()
        assert ask(server).status == 200
        assert upgrade(server) == 101
        assert time.monotonic() - began < 5
        assert memory(server) - before < 100 * MIB
    assert eventually(lambda: open_files(server) < files + 50)
    assert ask(server).status == 200


def test_the_server_uses_as_many_open_files_as_it_may(server: Server) -> None:
    table = Path(f"/proc/{server.pid}/limits")
    if table.exists():
        (used, permitted) = table.read_text().split("Max open files")[1].split()[:2]
        assert used == permitted or int(used) >= 16_384


UPGRADE = (
    b"GET /_stcore/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def test_more_pages_than_there_is_room_for_are_told_so(server: Server) -> None:
    with ExitStack() as lines:
        answers = []
        for _ in range(505):
            line = lines.enter_context(socket.create_connection(place(server), timeout=30))
            line.sendall(UPGRADE)
            answers.append(line.recv(12))
        assert {answer[-3:] for answer in answers} == {b"101", b"403"}
        assert answers.count(b"HTTP/1.1 403") >= 5
    assert eventually(lambda: upgrade(server) == 101)


PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that asks everybody for its password."""
    root = tmp_path_factory.mktemp("asking") / "res"
    LoginSessions(root).set_password(PASSWORD)
    with dashboard(root) as server:
        yield server


def log_in(server: Server, password: str = PASSWORD, **headers: str) -> int:
    body = json.dumps({"name": "Ann", "password": password}).encode()
    return ask(server, "/login", method="POST", body=body, Origin=server.url, **headers).status


def half_sent(server: Server, lines: ExitStack, path: str, count: int) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{{"
    for _ in range(count):
        lines.enter_context(socket.create_connection(place(server), timeout=30)).sendall(head.encode())


def test_half_sent_posts_and_idle_pages_of_strangers_keep_nobody_from_logging_in(asking: Server) -> None:
    with ExitStack() as lines:
        for path in ("/message/decisions", "/login", "/nowhere"):
            half_sent(asking, lines, path, 55)
        idle = [lines.enter_context(socket.create_connection(place(asking), timeout=60)) for _ in range(51)]
        for line in idle:
            line.sendall(UPGRADE)
            assert line.recv(12) == b"HTTP/1.1 101"
        assert log_in(asking) == 204
        assert upgrade(asking) == 101
        assert ask(asking).status == 200
        assert eventually(lambda: is_closed(idle[0]))
    assert not [line for line in asking.log if "Traceback" in line], "".join(asking.log)


def is_closed(line: socket.socket) -> bool:
    line.settimeout(0.1)
    try:
        return line.recv(10_000) == b""
    except TimeoutError:
        return False


def test_wrong_passwords_of_others_behind_the_same_address_let_the_right_one_in(asking: Server) -> None:
    assert [log_in(asking, f"wrong password {n}") for n in range(6)] == [401] * 6
    assert log_in(asking) == 204


def test_addresses_behind_a_proxy_of_this_machine_have_budgets_of_their_own(asking: Server) -> None:
    body = json.dumps({"name": "Eve", "password": "a wrong one"}).encode()
    guess = (
        b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 203.0.113.9\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    )
    with ExitStack() as lines:
        guesses = [
            lines.enter_context(socket.create_connection(place(asking), timeout=60)) for _ in range(20)
        ]
        for line in guesses:
            line.sendall(guess)
        assert any(line.recv(12)[-3:] == b"429" for line in reversed(guesses))
        assert log_in(asking, X_Forwarded_For="203.0.113.10") == 204


def test_no_error_was_printed(server: Server) -> None:
    assert not [line for line in server.log if "Traceback" in line], "".join(server.log)


def test_the_library_is_untouched(server: Server) -> None:
    assert not any(path.suffix == ".json" for path in Path(server.root).rglob("memecoins/*/*"))
