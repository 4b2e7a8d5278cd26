"""Only global addresses are connected to, and exactly the address that was checked."""

from collections.abc import Iterator

import httpcore
import pytest

from store.errors import BadSource
from store.fetching.guard import Guard, is_global
from tests.store.conftest import picture
from tests.store.fetching.logo_server import Server, downloads, redirect_to, respond_with, serving


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


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
    assert not server.requests


def test_a_redirect_is_checked_like_the_first_address(server: Server) -> None:
    server.answers["/a"] = redirect_to(server.url("/b", host="127.0.0.2"))
    server.answers["/b"] = respond_with(picture(1))
    with pytest.raises(BadSource, match=r"127\.0\.0\.2"):
        downloads(Guard(allowed=lambda ip: ip == "127.0.0.1")).picture(server.url("/a"))
    assert server.requests == {"/a": 1}


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
    assert server.requests == {"/a": 1}


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


pytestmark = pytest.mark.usefixtures("without_chroma")
