"""Connections on which no complete request head arrives are closed after a while; uvicorn waits for ever."""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_SECONDS = 10.0  # between two looks at a connection; one that has begun nothing in between is closed
_limited: set[type] = set()


def limit_heads() -> None:
    """Limit the time for request heads, on connections that are made from now on."""
    protocol: Any = AutoHTTPProtocol
    if protocol in _limited:
        return
    _limited.add(protocol)
    made = protocol.connection_made

    def connection_made(self: Any, transport: asyncio.Transport) -> None:
        made(self, transport)
        _look_later(self, transport, before=None)

    protocol.connection_made = connection_made


def _look_later(protocol: Any, transport: asyncio.Transport, *, before: Any) -> None:
    protocol.loop.call_later(HEAD_SECONDS, _look, protocol, transport, before)


def _look(protocol: Any, transport: asyncio.Transport, before: Any) -> None:
    """Close the connection unless a request was or is answered on it since the last look."""
    is_over = transport.is_closing() or transport.get_protocol() is not protocol  # closed, or a websocket
    if is_over:
        return
    cycle = protocol.cycle  # of the last request
    if cycle is before and (cycle is None or cycle.response_complete):
        transport.close()
    else:
        _look_later(protocol, transport, before=cycle)
