"""Logos from the network, against a real server on loopback: limits, politeness, and what is never asked."""

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
    """Answers each path as it was told; `asked` counts what came in."""

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
        """A client that hangs up is what some of these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.asked[self.path] += 1
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
        try:
            self.server.answers.get(self.path, gives(b"", status=404))(self)
        finally:
            with self.server.lock:
                self.server.at_once -= 1

    def log_message(self, *_: Any) -> None:
        pass


def gives(content: bytes, *, status: int = 200, kind: str = "image/png", **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(content)

    return answer


def leads(to: str) -> Answer:
    return gives(b"", status=302, Location=to)


def endless(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "image/png")
    request.send_header("Connection", "close")
    request.end_headers()
    while True:
        request.wfile.write(b"x" * 65_536)


def dripping(request: BaseHTTPRequestHandler) -> None:
    """A byte every now and then: never silent for long, never done."""
    request.send_response(200)
    request.send_header("Content-Type", "image/png")
    request.send_header("Content-Length", "1000000")
    request.end_headers()
    ended: threading.Event = request.server.ended  # type: ignore[attr-defined]
    while not ended.wait(0.05):
        request.wfile.write(b"x")
        request.wfile.flush()


def in_turn(*answers: Answer) -> Answer:
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
def _hung_up() -> Iterator[None]:
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
        # Only in some of IANA's registries, in some versions of Python, or by another's way of writing IPv4.
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
def test_nothing_but_the_public_internet_is_connected_to(private: str) -> None:
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
def test_the_public_internet_is(public: str) -> None:
    assert is_global(public)


def test_this_machine_is_not_asked_under_any_name(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):  # a proxy would do the asking for us
        monkeypatch.setenv(name, server.url(""))
    for host in ("127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"):
        with pytest.raises(BadSource, match="not on the public internet"):
            downloads(Guard()).picture(server.url("/a.png", host=host))
    assert not server.asked


def test_a_redirect_is_checked_like_the_first_address(server: Server) -> None:
    server.answers["/a"] = leads(server.url("/b", host="127.0.0.2"))
    server.answers["/b"] = gives(picture(1))
    with pytest.raises(BadSource, match=r"127\.0\.0\.2"):
        downloads(Guard(allowed=lambda ip: ip == "127.0.0.1")).picture(server.url("/a"))
    assert server.asked == {"/a": 1}


def test_a_name_that_answers_differently_the_second_time_is_not_believed(server: Server) -> None:
    """Checked as one address, connected to as another: what DNS rebinding hopes for."""
    answers = iter([["127.0.0.1"], ["127.0.0.9"]])
    checked: list[str] = []

    def allowed(ip: str) -> bool:
        checked.append(ip)
        return ip == "127.0.0.1"

    guard = Guard(allowed=allowed, resolve=lambda host, port: next(answers))
    server.answers["/a"] = gives(picture(1), Connection="close")
    assert downloads(guard).picture(server.url("/a", host="logos.example")) == picture(1)
    assert checked == ["127.0.0.1"]
    with pytest.raises(BadSource, match="not on the public internet"):
        downloads(guard).picture(server.url("/a", host="logos.example"))
    assert server.asked == {"/a": 1}


def test_a_pool_that_would_connect_by_itself_is_not_believed(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = httpcore.ConnectionPool
    monkeypatch.setattr(
        httpcore,
        "ConnectionPool",
        lambda *, network_backend, **given: public(**given),  # it was renamed
    )
    server.answers["/a"] = gives(picture(1))
    with pytest.raises(BadSource, match="nobody checked"):
        downloads().picture(server.url("/a"))


def test_of_several_addresses_only_allowed_ones_are_tried(server: Server) -> None:
    guard = Guard(allowed=lambda ip: ip == "127.0.0.1", resolve=lambda host, port: ["127.0.0.2", "127.0.0.1"])
    server.answers["/a"] = gives(picture(1))
    assert downloads(guard).picture(server.url("/a", host="logos.example")) == picture(1)


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/a", "gopher://127.0.0.1/a", "ipfs://b"]
)
def test_a_redirect_to_anything_but_http_is_refused(server: Server, target: str) -> None:
    server.answers["/a"] = leads(target)
    with pytest.raises(BadSource):
        downloads().picture(server.url("/a"))


# -- what comes --------------------------------------------------------------------------------------------


def test_redirects_are_followed_but_not_for_ever(server: Server) -> None:
    server.answers |= {"/a": leads("/b"), "/b": leads(server.url("/c")), "/c": gives(picture(1))}
    assert downloads().picture(server.url("/a")) == picture(1)
    server.answers["/round"] = leads("/round")
    with pytest.raises(BadSource, match="redirect"):
        downloads().picture(server.url("/round"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (gives(b"<html>not found</html>", kind="text/html; charset=utf-8"), "web page"),
        (gives(b"\n <!doctype html><p>hello", kind="image/png"), "web page"),
        (gives(b"<svg xmlns='http://www.w3.org/2000/svg'/>", kind="image/svg+xml"), "SVG"),
        (gives(b"<svg/>", kind=""), "SVG"),
        (gives(b"{}", kind="application/json"), "JSON"),
        (gives(b"", status=404), "404"),
        (gives(b"", status=403), "403"),
        (gives(b"x" * 2_000), "larger"),
        (gives(gzip.compress(b"x" * 1_000_000), Content_Encoding="gzip"), "larger"),
        (endless, "larger"),
    ],
)
def test_what_is_no_picture_or_too_large_is_refused_with_the_reason(
    server: Server, answer: Answer, why: str
) -> None:
    server.answers["/a"] = answer
    with pytest.raises(BadSource, match=why):
        downloads(limit=1_500).picture(server.url("/a"))


def test_a_body_that_drips_is_given_up(server: Server) -> None:
    server.answers["/a"] = dripping
    with pytest.raises(TryLater, match=r"timed out|too long"):
        downloads(whole=0.3).picture(server.url("/a"))


@pytest.mark.parametrize(
    ("said", "least"), [("7", 7), ("Wed, 21 Oct 2099 07:28:00 GMT", 1e9), ("soon", None)]
)
def test_a_server_that_is_busy_says_for_how_long(server: Server, said: str, least: float | None) -> None:
    server.answers["/a"] = gives(b"", status=429, Retry_After=said)
    with pytest.raises(TryLater) as caught:
        downloads().picture(server.url("/a"))
    assert caught.value.seconds is None if least is None else caught.value.seconds >= least


def test_ipfs_goes_through_the_gateway() -> None:
    through = Downloads(Guard(), gateway="https://gate.example/ipfs/")
    assert through.address("ipfs://bafy/1.png") == "https://gate.example/ipfs/bafy/1.png"
    assert through.address("ipfs://ipfs/bafy") == "https://gate.example/ipfs/bafy"
    with pytest.raises(BadSource, match="MEMEDEX_IPFS_GATEWAY"):
        downloads().address("ipfs://bafy")


# -- a whole list ------------------------------------------------------------------------------------------


@pytest.fixture
def listed(tmp_path: Path, server: Server) -> list[RemoteLogo]:
    """A token list of six coins whose logos lie on the server."""
    tokens = [
        {
            "chainId": 1, "address": address(number), "symbol": f"C{number}", "name": f"Coin {number}",
            "decimals": 9, "logoURI": server.url(f"/{number}.png"),
        }
        for number in range(6)
    ]  # fmt: skip
    for number in range(6):
        server.answers[f"/{number}.png"] = gives(picture(number))
    path = tmp_path / "tokenlist.json"
    path.write_text(json.dumps({"name": "A list", "tokens": tokens}))
    return [found for found in candidates([path]) if isinstance(found, RemoteLogo)]


@pytest.fixture
def nearby(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This machine may be fetched from, and nobody waits long before asking again."""
    monkeypatch.setenv("MEMEDEX_FETCH_PRIVATE", "1")
    monkeypatch.setattr(circuit_breaker, "_FIRST", 0.01)
    settings.cache_clear()
    yield
    settings.cache_clear()


pytestmark = pytest.mark.usefixtures("without_chroma")


def fetched(library: Library, listed: list[RemoteLogo]) -> Any:
    job = fetch_logos.start(library, listed, name="Logos")
    assert job is not None
    assert library.jobs.wait(job.id, timeout=60)
    return library.jobs.get(job.id)


def test_an_import_alone_asks_nobody(library: Library, server: Server, listed: list[RemoteLogo]) -> None:
    report = library.add(listed)
    assert [refusal.item for refusal in report.refused] == [logo.item for logo in listed]
    assert "lies on the network" in report.refused[0].reason
    assert not server.asked


def test_logos_on_this_machine_are_refused_unless_a_setting_allows_them(
    library: Library, server: Server, listed: list[RemoteLogo]
) -> None:
    job = fetched(library, listed)
    assert (job.done, job.refused) == (0, 6)
    assert "MEMEDEX_FETCH_PRIVATE" in library.jobs.items(job.id, state="refused")[0].reason
    assert not server.asked


@pytest.mark.usefixtures("nearby")
def test_what_comes_is_taken_in_and_the_rest_is_said(
    library: Library, server: Server, listed: list[RemoteLogo]
) -> None:
    server.answers["/1.png"] = gives(b"<html>", kind="text/html")
    server.answers["/2.png"] = gives(b"no picture at all")
    server.answers["/3.png"] = in_turn(gives(b"", status=503), gives(picture(3)))
    server.answers["/4.png"] = gives(b"", status=429, Retry_After="3600")
    job = fetched(library, listed)
    assert set(library.addresses(Filter(tier="pending"))) == {address(number) for number in (0, 3, 5)}
    reasons = {item.key: item.reason for item in library.jobs.items(job.id, state="refused")}
    assert reasons.keys() == {address(number) for number in (1, 2, 4)}
    assert "60 min" in reasons[address(4)]
    assert server.most_at_once <= fetch_logos.OF_ONE_HOST
    library.undo()
    assert library.counts()["pending"] == 0, "what was fetched in one go is taken back in one go"


@pytest.mark.usefixtures("nearby")
def test_a_second_run_asks_only_for_what_is_missing(
    library: Library, server: Server, listed: list[RemoteLogo]
) -> None:
    server.answers["/2.png"] = gives(b"", status=500)
    job = fetched(library, listed)
    assert (job.done, job.refused) == (5, 1), library.jobs.items(job.id, state="refused")
    assert server.asked["/2.png"] == fetch_logos.TRIES
    server.answers["/2.png"] = gives(picture(2))
    assert fetched(library, listed).total == 1
    assert library.counts()["pending"] == 6
    assert server.asked["/0.png"] == 1
    assert fetch_logos.start(library, listed, name="Logos") is None


@pytest.mark.usefixtures("nearby")
def test_what_was_interrupted_goes_on_after_a_restart(
    library: Library, server: Server, listed: list[RemoteLogo], root: Path
) -> None:
    gate = threading.Event()
    for number in range(1, 6):
        plain = gives(picture(number))
        server.answers[f"/{number}.png"] = lambda request, plain=plain: (gate.wait(60), plain(request))
    job = fetch_logos.start(library, listed, name="Logos")
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
