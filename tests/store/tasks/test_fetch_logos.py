"""Fetching logos from a real server on loopback: limits, rate limits, and addresses never contacted."""

import gzip
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpcore
import pytest

from store.catalog.filters import Filter
from store.errors import BadSource
from store.fetching.download import Downloads, TryLater
from store.fetching.guard import Guard, any_address, is_global
from store.importing import candidates
from store.importing.candidate import RemoteLogo
from store.jobs import circuit_breaker
from store.library import Library
from store.runtime import open_library
from store.settings import settings
from store.tasks import fetch_logos
from tests.store.conftest import address, picture

Answer = Callable[[BaseHTTPRequestHandler], None]


class Server(ThreadingHTTPServer):
    """Sends the configured answer for each path; `asked` counts the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, Answer] = {}
        self.asked: Counter[str] = Counter()
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.ended = threading.Event()

    def url(self, path: str, *, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_port}{path}"

    def handle_error(self, *_: Any) -> None:
        """Ignore clients that hang up, as in some of these tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.asked[self.path] += 1
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
        try:
            self.server.answers.get(self.path, respond_with(b"", status=404))(self)
        finally:
            with self.server.lock:
                self.server.at_once -= 1

    def log_message(self, *_: Any) -> None:
        pass


def respond_with(content: bytes, *, status: int = 200, kind: str = "image/png", **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(content)

    return answer


def redirect_to(to: str) -> Answer:
    return respond_with(b"", status=302, Location=to)


def send_endlessly(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "image/png")
    request.send_header("Connection", "close")
    request.end_headers()
    while True:
        request.wfile.write(b"x" * 65_536)


def send_slowly(request: BaseHTTPRequestHandler) -> None:
    """Send a byte every 50 ms and never finish."""
    request.send_response(200)
    request.send_header("Content-Type", "image/png")
    request.send_header("Content-Length", "1000000")
    request.end_headers()
    ended: threading.Event = request.server.ended  # type: ignore[attr-defined]
    while not ended.wait(0.05):
        request.wfile.write(b"x")
        request.wfile.flush()


def respond_in_turn(*answers: Answer) -> Answer:
    left = list(answers)
    return lambda request: (left.pop(0) if len(left) > 1 else left[0])(request)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.ended.set()
    server.shutdown()
    server.server_close()
    thread.join()


_made: list[Downloads] = []


def downloads(guard: Guard | None = None, **limits: Any) -> Downloads:
    _made.append(Downloads(guard or Guard(allowed=any_address), gateway="", **limits))
    return _made[-1]


@pytest.fixture(autouse=True)
def _close_downloads() -> Iterator[None]:
    yield
    while _made:
        _made.pop().close()


# -- which addresses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "private",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "224.0.0.1", "239.1.1.1", "255.255.255.255", "198.18.0.1", "192.0.2.1",
        "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "2002:7f00:1::", "64:ff9b::7f00:1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        # Listed only in some IANA registries or Python versions, or another notation of an IPv4 address.
        "fec0::1", "feff::1", "::7f00:1",
        "::101:101", "64:ff9b:1::1", "64:ff9b:1:ffff::101:101", "192.88.99.1",
        "192.0.0.8", "198.51.100.7", "203.0.113.7", "240.0.0.1", "192.31.196.1.2", "no address",
        "2002:a00:1::1", "2002:c058:6301::", "2002:a9fe:a9fe::", "64:ff9b::a9fe:a9fe", "64:ff9b::c0a8:1",
        "::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "100::1", "100:0:0:1::1", "2001::1", "2001:2::1",
        "2001:10::1", "2001:1ff:ffff::1", "2001:db8::1", "3fff::1",
        "3fff:fff::1", "4000::1", "5f00::1", "1fff::1",
        "e000::1", "fd00:ec2::254",
    ],
)  # fmt: skip
def test_private_and_reserved_addresses_are_not_global(private: str) -> None:
    assert not is_global(private)


@pytest.mark.parametrize(
    "public",
    [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.32.0.0", "192.0.1.0",
        "192.88.98.1", "198.20.0.0", "223.255.255.255", "2606:4700:4700::1111", "2001:200::1",
        "2001:4860:4860::8888", "2a00:1450::1", "3ffe::1",
        "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1",
    ],
)  # fmt: skip
def test_public_addresses_are_global(public: str) -> None:
    assert is_global(public)


def test_this_machine_is_refused_under_every_name(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):  # a proxy would connect for us
        monkeypatch.setenv(name, server.url(""))
    for host in ("127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"):
        with pytest.raises(BadSource, match="not on the public internet"):
            downloads(Guard()).picture(server.url("/a.png", host=host))
    assert not server.asked


def test_a_redirect_is_checked_like_the_first_address(server: Server) -> None:
    server.answers["/a"] = redirect_to(server.url("/b", host="127.0.0.2"))
    server.answers["/b"] = respond_with(picture(1))
    with pytest.raises(BadSource, match=r"127\.0\.0\.2"):
        downloads(Guard(allowed=lambda ip: ip == "127.0.0.1")).picture(server.url("/a"))
    assert server.asked == {"/a": 1}


def test_a_host_name_that_resolves_differently_later_is_refused(server: Server) -> None:
    """DNS rebinding: one address is checked, and another is connected to."""
    answers = iter([["127.0.0.1"], ["127.0.0.9"]])
    checked: list[str] = []

    def allowed(ip: str) -> bool:
        checked.append(ip)
        return ip == "127.0.0.1"

    guard = Guard(allowed=allowed, resolve=lambda host, port: next(answers))
    server.answers["/a"] = respond_with(picture(1), Connection="close")
    assert downloads(guard).picture(server.url("/a", host="logos.example")) == picture(1)
    assert checked == ["127.0.0.1"]
    with pytest.raises(BadSource, match="not on the public internet"):
        downloads(guard).picture(server.url("/a", host="logos.example"))
    assert server.asked == {"/a": 1}


def test_a_connection_pool_that_bypasses_the_guard_is_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = httpcore.ConnectionPool
    monkeypatch.setattr(
        httpcore,
        "ConnectionPool",
        lambda *, network_backend, **given: public(**given),  # simulates a renamed argument
    )
    server.answers["/a"] = respond_with(picture(1))
    with pytest.raises(BadSource, match="nobody checked"):
        downloads().picture(server.url("/a"))


def test_only_allowed_addresses_of_a_host_are_tried(server: Server) -> None:
    guard = Guard(allowed=lambda ip: ip == "127.0.0.1", resolve=lambda host, port: ["127.0.0.2", "127.0.0.1"])
    server.answers["/a"] = respond_with(picture(1))
    assert downloads(guard).picture(server.url("/a", host="logos.example")) == picture(1)


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/a", "gopher://127.0.0.1/a", "ipfs://b"]
)
def test_a_redirect_to_another_scheme_is_refused(server: Server, target: str) -> None:
    server.answers["/a"] = redirect_to(target)
    with pytest.raises(BadSource):
        downloads().picture(server.url("/a"))


# -- responses ---------------------------------------------------------------------------------------------


def test_redirects_are_followed_up_to_a_limit(server: Server) -> None:
    server.answers |= {
        "/a": redirect_to("/b"),
        "/b": redirect_to(server.url("/c")),
        "/c": respond_with(picture(1)),
    }
    assert downloads().picture(server.url("/a")) == picture(1)
    server.answers["/round"] = redirect_to("/round")
    with pytest.raises(BadSource, match="redirect"):
        downloads().picture(server.url("/round"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (respond_with(b"<html>not found</html>", kind="text/html; charset=utf-8"), "web page"),
        (respond_with(b"\n <!doctype html><p>hello", kind="image/png"), "web page"),
        (respond_with(b"<svg xmlns='http://www.w3.org/2000/svg'/>", kind="image/svg+xml"), "SVG"),
        (respond_with(b"<svg/>", kind=""), "SVG"),
        (respond_with(b"{}", kind="application/json"), "JSON"),
        (respond_with(b"", status=404), "404"),
        (respond_with(b"", status=403), "403"),
        (respond_with(b"x" * 2_000), "larger"),
        (respond_with(gzip.compress(b"x" * 1_000_000), Content_Encoding="gzip"), "larger"),
        (send_endlessly, "larger"),
    ],
)
def test_responses_that_are_not_pictures_or_too_large_are_refused(
    server: Server, answer: Answer, why: str
) -> None:
    server.answers["/a"] = answer
    with pytest.raises(BadSource, match=why):
        downloads(limit=1_500).picture(server.url("/a"))


def test_a_slow_response_body_times_out(server: Server) -> None:
    server.answers["/a"] = send_slowly
    with pytest.raises(TryLater, match=r"timed out|too long"):
        downloads(whole=0.3).picture(server.url("/a"))


@pytest.mark.parametrize(
    ("said", "least"), [("7", 7), ("Wed, 21 Oct 2099 07:28:00 GMT", 1e9), ("soon", None)]
)
def test_the_retry_after_header_of_a_busy_server_is_used(
    server: Server, said: str, least: float | None
) -> None:
    server.answers["/a"] = respond_with(b"", status=429, Retry_After=said)
    with pytest.raises(TryLater) as caught:
        downloads().picture(server.url("/a"))
    assert caught.value.seconds is None if least is None else caught.value.seconds >= least


def test_ipfs_addresses_use_the_gateway() -> None:
    through = Downloads(Guard(), gateway="https://gate.example/ipfs/")
    assert through.address("ipfs://bafy/1.png") == "https://gate.example/ipfs/bafy/1.png"
    assert through.address("ipfs://ipfs/bafy") == "https://gate.example/ipfs/bafy"
    with pytest.raises(BadSource, match="MEMEDEX_IPFS_GATEWAY"):
        downloads().address("ipfs://bafy")


# -- a whole list ------------------------------------------------------------------------------------------


@pytest.fixture
def remote_logos(tmp_path: Path, server: Server) -> list[RemoteLogo]:
    """A token list of six coins with logos on the server."""
    tokens = [
        {
            "chainId": 1, "address": address(number), "symbol": f"C{number}", "name": f"Coin {number}",
            "decimals": 9, "logoURI": server.url(f"/{number}.png"),
        }
        for number in range(6)
    ]  # fmt: skip
    for number in range(6):
        server.answers[f"/{number}.png"] = respond_with(picture(number))
    path = tmp_path / "tokenlist.json"
    path.write_text(json.dumps({"name": "A list", "tokens": tokens}))
    return [found for found in candidates([path]) if isinstance(found, RemoteLogo)]


@pytest.fixture
def allow_private_hosts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Allow requests to this machine, and retry without long waits."""
    monkeypatch.setenv("MEMEDEX_FETCH_PRIVATE", "1")
    monkeypatch.setattr(circuit_breaker, "_FIRST", 0.01)
    settings.cache_clear()
    yield
    settings.cache_clear()


pytestmark = pytest.mark.usefixtures("without_chroma")


def fetched(library: Library, remote_logos: list[RemoteLogo]) -> Any:
    job = fetch_logos.start(library, remote_logos, name="Logos")
    assert job is not None
    assert library.jobs.wait(job.id, timeout=60)
    return library.jobs.get(job.id)


def test_an_import_alone_makes_no_requests(
    library: Library, server: Server, remote_logos: list[RemoteLogo]
) -> None:
    report = library.add(remote_logos)
    assert [refusal.item for refusal in report.refused] == [logo.item for logo in remote_logos]
    assert "lies on the network" in report.refused[0].reason
    assert not server.asked


def test_logos_on_this_machine_are_refused_unless_a_setting_allows_them(
    library: Library, server: Server, remote_logos: list[RemoteLogo]
) -> None:
    job = fetched(library, remote_logos)
    assert (job.done, job.refused) == (0, 6)
    assert "MEMEDEX_FETCH_PRIVATE" in library.jobs.items(job.id, state="refused")[0].reason
    assert not server.asked


@pytest.mark.usefixtures("allow_private_hosts")
def test_fetched_logos_are_imported_and_failures_are_reported(
    library: Library, server: Server, remote_logos: list[RemoteLogo]
) -> None:
    server.answers["/1.png"] = respond_with(b"<html>", kind="text/html")
    server.answers["/2.png"] = respond_with(b"no picture at all")
    server.answers["/3.png"] = respond_in_turn(respond_with(b"", status=503), respond_with(picture(3)))
    server.answers["/4.png"] = respond_with(b"", status=429, Retry_After="3600")
    job = fetched(library, remote_logos)
    assert set(library.addresses(Filter(tier="pending"))) == {address(number) for number in (0, 3, 5)}
    reasons = {item.key: item.reason for item in library.jobs.items(job.id, state="refused")}
    assert reasons.keys() == {address(number) for number in (1, 2, 4)}
    assert "60 min" in reasons[address(4)]
    assert server.most_at_once <= fetch_logos.OF_ONE_HOST
    library.undo()
    assert library.counts()["pending"] == 0, "what was fetched in one go is taken back in one go"


@pytest.mark.usefixtures("allow_private_hosts")
def test_a_second_run_requests_only_missing_logos(
    library: Library, server: Server, remote_logos: list[RemoteLogo]
) -> None:
    server.answers["/2.png"] = respond_with(b"", status=500)
    job = fetched(library, remote_logos)
    assert (job.done, job.refused) == (5, 1), library.jobs.items(job.id, state="refused")
    assert server.asked["/2.png"] == fetch_logos.TRIES
    server.answers["/2.png"] = respond_with(picture(2))
    assert fetched(library, remote_logos).total == 1
    assert library.counts()["pending"] == 6
    assert server.asked["/0.png"] == 1
    assert fetch_logos.start(library, remote_logos, name="Logos") is None


@pytest.mark.usefixtures("allow_private_hosts")
def test_an_interrupted_fetch_continues_after_a_restart(
    library: Library, server: Server, remote_logos: list[RemoteLogo], root: Path
) -> None:
    gate = threading.Event()
    for number in range(1, 6):
        plain = respond_with(picture(number))
        server.answers[f"/{number}.png"] = lambda request, plain=plain: (gate.wait(60), plain(request))
    job = fetch_logos.start(library, remote_logos, name="Logos")
    assert job is not None
    library.jobs.pause(job.id)
    gate.set()
    assert library.jobs.wait(job.id, timeout=60)
    library.close()
    again = open_library(root)
    left = again.jobs.get(job.id)
    assert left.can_resume or left.is_over
    again.jobs.resume(job.id)
    assert again.jobs.wait(job.id, timeout=60)
    assert again.counts()["pending"] == 6
    assert all(server.asked[f"/{number}.png"] == 1 for number in range(6))
    again.close()
