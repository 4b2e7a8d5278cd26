"""The server's life: unfinished jobs continue before anybody opens a page.

Connections on which no complete request head arrives are closed after a while; uvicorn waits for ever.
"""

import asyncio
import contextlib
import ctypes
import logging
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from store import MemedexError, close_all, has_unfinished_jobs, open_library
from store.settings import settings

log = logging.getLogger(__name__)

_OPEN_FILES = 16_384
_LARGE = 1 << 20  # bytes
# Seconds after which a thread lets others run that are ready, for instance with an answer of the disk. A
# decision waits for the disk some fifteen times; with Python's own 5 ms, as often for every page that runs.
_LONGEST_TURN = 0.0005


@contextlib.asynccontextmanager
async def lifespan(_: object) -> AsyncIterator[None]:
    """Start with unfinished jobs without keeping anybody waiting, and close everything at the end.

    A server that is told to end never reaches `atexit`.
    """
    _allow_many_connections()
    limit_heads()
    sys.setswitchinterval(_LONGEST_TURN)
    begins = threading.Thread(target=_go_on, args=(settings().root,), name="memedex-go-on", daemon=True)
    begins.start()
    yield
    await asyncio.to_thread(begins.join)  # what it opens is to be closed as well
    await asyncio.to_thread(close_all)


def _allow_many_connections() -> None:
    """Use as many open files as the system permits: a thousand silent connections use up the usual ones."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    used, permitted = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _OPEN_FILES if permitted == resource.RLIM_INFINITY else min(permitted, _OPEN_FILES)
    if used != resource.RLIM_INFINITY and used < limit:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, permitted))


def share_memory() -> None:
    """Let all threads that begin from now on take memory from one place; glibc would keep one for each.

    That is some 150 MB after a tour. What is large lies apart, so that it goes when it is freed; glibc would
    put up to 32 MB between what stays: 60 MB. Source: mallopt(3), M_ARENA_MAX and M_MMAP_THRESHOLD.
    """
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # another C library
            mallopt = ctypes.CDLL(None).mallopt
            mallopt(-8, 1)
            mallopt(-3, _LARGE)


def _go_on(root: Path) -> None:
    try:
        if settings().read_only or not (settings().pictures or has_unfinished_jobs(root)):
            return
        library = open_library(root, files_later=True)  # the pages will have this very one
        library.jobs.resume_interrupted()
        if settings().pictures:
            library.work_in_background()  # dashboards elsewhere follow, whether or not anybody is here
    except Exception as error:  # the first page meets it again, and says what is in the way
        is_known = isinstance(error, MemedexError)
        log.warning("what was left unfinished does not go on yet: %s", error, exc_info=not is_known)


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
