"""Connecting to strangers' addresses: a name is looked up once, and what was checked is connected to.

Looking a name up twice, once to check and once to connect, would let its owner answer differently the second
time and have this machine talk to its own network. Each redirect goes through here again.
"""

import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

import httpcore
import httpx

from store.errors import BadSource

_CONNECTIONS = 16
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address

Allowed = Callable[[str], bool]
Resolve = Callable[[str, int], list[str]]


def is_global(address: str) -> bool:
    """Whether an IP address belongs to the public internet, also looked through IPv6's ways to write IPv4."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        if found.teredo:
            return False
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64:
            inner = ip_address(int(found) & 0xFFFFFFFF)  # type: ignore[assignment]
        if inner is not None:
            found = inner
    return found.is_global and not found.is_multicast


def looked_up(host: str, port: int) -> list[str]:
    """The IP addresses of a name, in the order in which the system prefers them."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(f"{host} has no address: {error}") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def any_address(address: str) -> bool:
    """For a setting that trusts the own network."""
    return True


class Guard(httpcore.NetworkBackend):
    """Opens connections to allowed addresses alone, and ends whatever takes longer than it may altogether."""

    def __init__(self, *, allowed: Allowed = is_global, resolve: Resolve = looked_up) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._plain = httpcore.SyncBackend()
        self._of_thread = threading.local()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """What this thread does on the network inside the block ends by then: no drip keeps it for ever."""
        self._of_thread.until = time.monotonic() + seconds
        try:
            yield
        finally:
            del self._of_thread.until

    def left(self, timeout: float | None) -> float | None:
        """The seconds that one step may take; httpcore.ReadTimeout when there are none left."""
        until = getattr(self._of_thread, "until", None)
        if until is None:
            return timeout
        seconds = float(until - time.monotonic())
        if seconds <= 0:
            raise httpcore.ReadTimeout("it took too long altogether")
        return seconds if timeout is None else min(timeout, seconds)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        found = self._resolve(host, port)
        allowed = [address for address in found if self._allowed(address)]
        if not allowed:
            raise BadSource(
                f"{host} is not on the public internet ({', '.join(found)}); "
                "MEMEDEX_FETCH_PRIVATE=1 allows that"
            )
        last: Exception = httpcore.ConnectError(host)
        for address in allowed:
            try:
                stream = self._plain.connect_tcp(address, port, self.left(timeout), local_address)
                return _Stream(stream, self)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise last


class _Stream(httpcore.NetworkStream):
    """A connection each of whose steps is held to the time that is left."""

    def __init__(self, plain: httpcore.NetworkStream, guard: Guard) -> None:
        self._plain = plain
        self._guard = guard

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._plain.read(max_bytes, self._guard.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._plain.write(buffer, self._guard.left(timeout))

    def close(self) -> None:
        self._plain.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secured = self._plain.start_tls(ssl_context, server_hostname, self._guard.left(timeout))
        return _Stream(secured, self._guard)

    def get_extra_info(self, info: str) -> Any:
        return self._plain.get_extra_info(info)


def guarded_client(guard: Guard, *, timeout: float, redirects: int) -> httpx.Client:
    """An HTTP client that connects through this guard alone: no proxy, nothing from the environment."""
    transport = httpx.HTTPTransport(trust_env=False)
    # httpx has no public way to give it httpcore's documented `network_backend`; a test would notice.
    transport._pool = httpcore.ConnectionPool(
        ssl_context=httpx.create_ssl_context(trust_env=False),
        max_connections=_CONNECTIONS,
        network_backend=guard,
    )
    return httpx.Client(
        transport=transport,
        trust_env=False,
        timeout=timeout,
        follow_redirects=True,
        max_redirects=redirects,
        headers={"user-agent": "Memedex (logos of a token list)", "accept": "image/*"},
    )
