"""Redirects, sizes, kinds and times of responses are limited."""

import gzip
import math
from collections.abc import Iterator

import pytest

from store.errors import BadSource
from store.fetching.download import Downloads, TryLater
from store.fetching.guard import Guard
from tests.store.conftest import picture
from tests.store.fetching.logo_server import (
    Answer,
    Server,
    downloads,
    redirect_to,
    respond_with,
    send_endlessly,
    send_slowly,
    serving,
)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


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
        (respond_with(b"\n <!doctype html><p>hello", kind="image/png"), "no picture there, but image/png"),
        (respond_with(b"hello", kind=""), "no picture there"),
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
    ("header", "least"), [("7", 7), ("Wed, 21 Oct 2099 07:28:00 GMT", 1e9), ("1e400", 1e9), ("soon", None)]
)
def test_the_retry_after_header_of_a_busy_server_is_used(
    server: Server, header: str, least: float | None
) -> None:
    server.answers["/a"] = respond_with(b"", status=429, Retry_After=header)
    with pytest.raises(TryLater) as caught:
        downloads().picture(server.url("/a"))
    assert caught.value.seconds is None if least is None else least <= caught.value.seconds < math.inf


def test_ipfs_addresses_use_the_gateway() -> None:
    through = Downloads(Guard(), gateway="https://gate.example/ipfs/")
    assert through.address("ipfs://bafy/1.png") == "https://gate.example/ipfs/bafy/1.png"
    assert through.address("ipfs://ipfs/bafy") == "https://gate.example/ipfs/bafy"
    with pytest.raises(BadSource, match="MEMEDEX_IPFS_GATEWAY"):
        downloads().address("ipfs://bafy")


pytestmark = pytest.mark.usefixtures("without_chroma")
