"""An HTTP client over httpcore's public pool, which is how httpx accepts custom connections."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import cast

import httpcore
import httpx

from store.errors import BadSource
from store.fetching.guard import Guard, GuardedStream

_CONNECTIONS = 16
_RAISED: dict[type[Exception], type[httpx.TransportError]] = {
    httpcore.TimeoutException: httpx.TimeoutException,
    httpcore.NetworkError: httpx.NetworkError,
    httpcore.ProtocolError: httpx.ProtocolError,
    httpcore.UnsupportedProtocol: httpx.UnsupportedProtocol,
    httpcore.ProxyError: httpx.ProxyError,
}


def guarded_client(guard: Guard, *, timeout: float, redirects: int) -> httpx.Client:
    """An HTTP client that connects only through this guard: no proxy, no settings of the environment."""
    return httpx.Client(
        transport=GuardedTransport(guard),
        trust_env=False,
        timeout=timeout,
        follow_redirects=True,
        max_redirects=redirects,
        headers={"user-agent": "Memedex (logos of a token list)", "accept": "image/*"},
    )


class GuardedTransport(httpx.BaseTransport):
    """Sends requests over connections that the guard opened; refuses an answer over any other."""

    def __init__(self, guard: Guard) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=_CONNECTIONS,
            network_backend=guard,
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        core_request = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=cast(httpx.SyncByteStream, request.stream),
            extensions=request.extensions,
        )
        with _as_httpx():
            answer = self._pool.handle_request(core_request)
        if not isinstance(answer.extensions.get("network_stream"), GuardedStream):
            answer.close()  # a pool that opens connections by itself must not go unnoticed
            raise BadSource("the answer came over a connection that nobody checked; nothing is fetched")
        return httpx.Response(
            answer.status, headers=answer.headers, stream=_Body(answer), extensions=answer.extensions
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    """The body of an answer, with httpx's errors."""

    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from cast(Iterable[bytes], self._answer.stream)

    def close(self) -> None:
        self._answer.close()


@contextmanager
def _as_httpx() -> Iterator[None]:
    """Turn httpcore's errors into those that httpx's callers expect."""
    try:
        yield
    except tuple(_RAISED) as error:
        kind = next(raised for known, raised in _RAISED.items() if isinstance(error, known))
        raise kind(str(error)) from error
