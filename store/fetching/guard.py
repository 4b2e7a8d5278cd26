"""Connect to untrusted hosts: each name is looked up once, and the connection goes to the checked address.

With a second lookup the name's owner could answer differently, and let this machine connect to its own
network (DNS rebinding). Each redirect is checked again.
"""

import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

import httpcore

from store.errors import BadSource

# All that IANA's registries of special-purpose addresses and of IPv6's address space call not global, instead
# of `ipaddress.is_global`, which differs between versions of Python and lets through what it does not list.
_NOT_GLOBAL_4 = tuple(
    IPv4Network(block)
    for block in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
_UNICAST_6 = IPv6Network("2000::/3")  # the one part of IPv6 that is assigned; everything outside is refused
_NOT_GLOBAL_6 = tuple(
    IPv6Network(block)
    for block in ("2001::/23", "2001:db8::/32", "3fff::/20")  # protocols, Teredo among them; documentation
)
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address

Allowed = Callable[[str], bool]
Resolve = Callable[[str, int], list[str]]


def is_global(address: str) -> bool:
    """Whether an IP address is on the public internet, also if IPv6 embeds an IPv4 address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64:
            inner = IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is None:
            return found in _UNICAST_6 and not any(found in block for block in _NOT_GLOBAL_6)
        found = inner
    return not any(found in block for block in _NOT_GLOBAL_4)


def looked_up(host: str, port: int) -> list[str]:
    """The IP addresses of a name, in the system's order of preference.

    Raises httpcore.ConnectError if it has none.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(f"{host} has no address: {error}") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def any_address(address: str) -> bool:
    """Accept every address: for a setting that trusts the local network."""
    return True


class Guard(httpcore.NetworkBackend):
    """Opens connections to permitted addresses only, and limits the total time of a download."""

    def __init__(self, *, allowed: Allowed = is_global, resolve: Resolve = looked_up) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._plain = httpcore.SyncBackend()
        self._of_thread = threading.local()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Limit the network time of this thread until the block ends.

        A slow answer cannot hold it for ever.
        """
        self._of_thread.until = time.monotonic() + seconds
        try:
            yield
        finally:
            del self._of_thread.until

    def left(self, timeout: float | None) -> float | None:
        """How many seconds one step may take. Raises httpcore.ReadTimeout if none are left."""
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
        """Connect to an allowed address of this name. Raises httpcore.ConnectError if it has none."""
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
                return GuardedStream(stream, self)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise last


class GuardedStream(httpcore.NetworkStream):
    """A connection, each of whose steps is limited to the time that is left."""

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
        return GuardedStream(secured, self._guard)

    def get_extra_info(self, info: str) -> Any:
        return self._plain.get_extra_info(info)
