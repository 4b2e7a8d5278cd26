"""GET /events: the server tells open pages what changed, so that no page has to ask.

A stream of server-sent events. The first message has the whole state (`current_state`), each further one only
what changed. One task reads the library for all streams, and only while there are any.
"""

import asyncio
import contextlib
import json
import logging
import math
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from components.shell.addresses import base_path
from components.shell.server import current_state
from components.shell.server.current_state import State
from components.shell.session import logins, resources, tokens
from store.errors import LoginEnded, NotPermitted

log = logging.getLogger(__name__)

TOKEN = "X-Memedex-Token"  # a header, so that it stands in no log of addresses and no other site can send it
MOST = 500  # streams at once
_EVERY = 0.5  # seconds between two readings, for all streams together …
_APART = 0.1  # … and at least, where decisions are known to have come in …
_REST = 9.0  # … and this many times as long as a reading took, up to _EVERY
_HEARTBEAT = 20.0  # seconds of silence after which a comment shows that the stream still holds
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}


def address() -> str:
    """Where pages find the stream."""
    return f"{base_path()}/events"


def routes() -> list[Route]:
    """The route, for the app."""
    return [Route(address(), serve, methods=["GET"])]


async def serve(request: Request) -> Response:
    """Open a stream for a page of this library; it ends with the page's session and login."""
    given, claims = request.headers.get(TOKEN), logins.of_request(request)

    def bearer() -> tokens.Bearer:
        return tokens.bearer(resources.library_of_routes(), given, claims=claims)

    try:
        person = await run_in_threadpool(bearer)
    except LoginEnded as error:
        return PlainTextResponse(str(error), 401, headers=_HEADERS)
    except NotPermitted as error:
        return PlainTextResponse(str(error), 403, headers=_HEADERS)
    if watcher.is_full(person.session):
        return PlainTextResponse("too many pages are open", 503, headers=_HEADERS)
    messages = watcher.follow(person, still_permitted=bearer, expires=logins.expires(claims))
    return StreamingResponse(messages, media_type="text/event-stream", headers=_HEADERS)


@dataclass(eq=False)
class _Stream:
    """What one page was told."""

    person: tokens.Bearer
    still_permitted: Callable[[], object]
    told: State = field(default_factory=dict)
    has_news: asyncio.Event = field(default_factory=asyncio.Event)
    owed_since: float = 0.0  # when its page ran: it waits for a reading that began after that
    is_over: bool = False

    def end(self) -> None:
        self.is_over = True
        self.has_news.set()

    def has_ended(self) -> bool:
        """Whether its page was closed or its login ended."""
        session = self.person.session
        return not tokens.is_open(session) or logins.has_ended(session, self.person.login)

    def is_permitted(self) -> bool:
        """Whether its page may still be told anything; if that cannot be found out, it has to ask again."""
        try:
            if self.has_ended():
                return False
            self.still_permitted()
        except (LoginEnded, NotPermitted):
            return False
        except Exception as error:  # a full table of file handles, a catalog that was just replaced
            log.warning("a page is not told what changes: %s", error, exc_info=True)
            return False
        return True

    def wakes_for(self, state: State) -> bool:
        """Whether it has something to tell, or must end. What fails here ends this stream and no other."""
        try:
            if not self.has_ended() and not self.waits_for(state):
                return False
        except Exception as error:
            log.warning("a page is not told what changes: %s", error, exc_info=True)
            self.is_over = True
        self.is_over = self.is_over or not self.is_permitted()
        return True

    def waits_for(self, state: State) -> bool:
        """Whether there is something to tell."""
        return bool(state) and (self._is_owed(state) or len(self._news(state)) > 1)

    def take_news(self, state: State) -> State:
        """What is to be told now: `at`, and the values that changed; empty if nothing did."""
        news, is_owed = self._news(state), self._is_owed(state)
        if is_owed:
            self.owed_since = 0.0
        if not is_owed and len(news) < 2:
            return {}
        self.told = current_state.for_person(state, self.person.actor)
        return news

    def _is_owed(self, state: State) -> bool:
        return 0.0 < self.owed_since < float(state["at"])

    def _news(self, state: State) -> State:
        now = current_state.for_person(state, self.person.actor)
        return {name: value for name, value in now.items() if self.told.get(name) != value}


class StateWatcher:
    """Reads the state of the library for all streams, while there are any."""

    def __init__(self, read: Callable[[State | None], State]) -> None:
        self._read = read
        self._streams: dict[str, _Stream] = {}  # by session: a page has one
        self._state: State | None = None
        self._watching: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._fault = ""

    def is_full(self, session: str) -> bool:
        """Whether there is no room for a stream of this session."""
        return len(self._streams) >= MOST and session not in self._streams

    def page_ran(self, session: str) -> None:
        """Tell this session the time of the next reading, even if nothing changed. From any thread."""
        if stream := self._streams.get(session):
            stream.owed_since = current_state.now()

    def hurry(self) -> None:
        """Read soon: something was decided here. What other processes decide waits for the next reading."""
        self._hurry.set()

    async def follow(
        self, person: tokens.Bearer, *, still_permitted: Callable[[], object], expires: float = math.inf
    ) -> AsyncIterator[str]:
        """The messages for one page, until it is not permitted to have them, or `expires` (UNIX seconds)."""
        if earlier := self._streams.get(person.session):
            earlier.end()
        stream = self._streams[person.session] = _Stream(person, still_permitted)
        self._begin()
        if stream.waits_for(self._state or {}):  # what is newer comes with the next reading
            stream.has_news.set()
        try:
            yield ": the stream is open\n\n"  # so that the page knows it at once
            while not stream.is_over:
                patience = min(_HEARTBEAT, max(0.0, expires - time.time()))
                try:
                    await asyncio.wait_for(stream.has_news.wait(), patience)
                except TimeoutError:
                    if time.time() >= expires or not await run_in_threadpool(stream.is_permitted):
                        return
                stream.has_news.clear()
                if stream.is_over:
                    return
                news = stream.take_news(self._state) if self._state else {}
                yield f"data: {json.dumps(news, separators=(',', ':'))}\n\n" if news else ":\n\n"
        finally:
            if self._streams.get(person.session) is stream:
                del self._streams[person.session]

    async def read_state(self) -> None:
        """Read the state once, and wake the streams that it concerns."""
        try:
            for stream in await run_in_threadpool(self._concerned):
                stream.has_news.set()
        except Exception as error:  # noqa: BLE001  no thread can be had; the next reading may succeed
            self._note(error)

    def _concerned(self) -> list[_Stream]:
        """Read the state, and return the streams that it concerns; those that must end are among them."""
        try:
            self._state = self._read(self._state)
            self._fault = ""
        except Exception as error:  # noqa: BLE001  noted; the next reading may succeed
            self._note(error)
        # Listed after the reading: one that is opened later looks itself at what was read.
        return [stream for stream in list(self._streams.values()) if stream.wakes_for(self._state or {})]

    def _note(self, error: Exception) -> None:
        if self._fault != repr(error):
            log.warning("pages are not told what changes: %s", error, exc_info=True)
        self._fault = repr(error)

    def _begin(self) -> None:
        if self._watching is None or self._watching.done():
            self._hurry = asyncio.Event()
            self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        while self._streams:
            self._hurry.clear()
            began = time.monotonic()
            await self.read_state()
            apart = min(_EVERY, max(_APART, _REST * (time.monotonic() - began)))
            await asyncio.sleep(apart)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), _EVERY - apart)


def _read(before: State | None) -> State:
    library = resources.library_of_routes()
    state = current_state.read(library, before)
    if not state["ready"]:
        resources.warm(library)  # somebody has a page open, so it will be needed
    return state


watcher = StateWatcher(_read)
