"""The middleware before every route: who is let in, how much may be sent, what each response says.

Streamlit's own routes are behind it as well as ours.
"""

import asyncio
import contextlib
import logging
import re
import time
from base64 import b64encode
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import file_util

from components.shell import addresses
from components.shell.addresses import base_path, counted_address
from components.shell.server import error_page, logs
from components.shell.session import login, logins, presenter, safe_mode


class OpenPlace:
    """A stranger's open page or unfinished body, until it has to give way to a newer one."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.gives_way = asyncio.Event()


class Strangers:
    """The open places of strangers, oldest first.

    Of more than `most` from one address its oldest gives way, so that a person behind the same address can
    still open the page to log in; of more than `most_of_all`, the oldest of the address that has most.
    """

    def __init__(self, *, most: int, most_of_all: int) -> None:
        self._most = most
        self._most_of_all = most_of_all
        self._open: dict[str, list[OpenPlace]] = {}

    @contextmanager
    def place(self, address: str) -> Iterator[OpenPlace]:
        """Take a place for the time of the block."""
        place = OpenPlace(address)
        own = self._open.setdefault(address, [])
        own.append(place)
        if len(own) > self._most:
            self._end(own[0])
        elif sum(map(len, self._open.values())) > self._most_of_all:
            self._end(max(self._open.values(), key=len)[0])
        try:
            yield place
        finally:
            self._forget(place)

    def _end(self, place: OpenPlace) -> None:
        place.gives_way.set()
        self._forget(place)

    def _forget(self, place: OpenPlace) -> None:
        own = self._open.get(place.address, [])
        if place in own:
            own.remove(place)
        if not own:
            self._open.pop(place.address, None)


_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@cache
def content_policy() -> str:
    """The policy of every response that does not bring a stricter one.

    No script is run that does not come from this server, and nothing is sent anywhere else, even if a name or
    a text should once be shown as markup. What Streamlit needs beyond its own files: docs/sharing.md.
    """
    inline = " ".join(f"'sha256-{digest}'" for digest in _inline_scripts())
    return "; ".join(
        [
            "default-src 'self'",
            # Streamlit runs the script of each component from a blob, and its protobuf library
            # multiplies long integers in WebAssembly.
            f"script-src 'self' blob: 'wasm-unsafe-eval' {inline}".rstrip(),
            # Streamlit and its components write style elements.
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "media-src 'self' data: blob:",
            "worker-src 'self' blob:",
            "frame-src 'none'",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


def _inline_scripts() -> list[str]:
    """The SHA-256 digests of the scripts in Streamlit's page, in base64."""
    page = Path(file_util.get_static_dir()) / "index.html"
    scripts = _INLINE.findall(page.read_text("utf-8")) if page.is_file() else []
    return [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]


log = logging.getLogger(__name__)

MOST_BYTES = 2_000_000  # of a body; uploads have Streamlit's own limit, server.maxUploadSize
MOST_REQUESTS = 1_000  # at once, the streams of open pages among them
MOST_SESSIONS = 500  # open pages
# Of people who would have to log in: open pages, half-sent logins, from one address and from all …
MOST_STRANGERS, MOST_STRANGERS_OF_ALL = 50, 250
MOST_OF_A_STRANGER = 200  # … and requests at once, from one address
LOGIN_BYTES = 20_000  # of a name and a password
BODY_SECONDS = 20.0  # in which a body has to arrive, and a second more for each _SLOWEST bytes
_SLOWEST = 16_000
_DISCARD_SECONDS = 2.0
_SAFE = {"GET", "HEAD", "OPTIONS"}
_POLICY_VIOLATION, _TRY_AGAIN_LATER = 1008, 1013  # codes of websockets

_HEADERS: Mapping[str, Callable[[], str]] = {
    "Content-Security-Policy": content_policy,
    "X-Content-Type-Options": lambda: "nosniff",
    "Referrer-Policy": lambda: "same-origin",
    "X-Frame-Options": lambda: "DENY",  # what frame-ancestors says, for older browsers
    "Cross-Origin-Opener-Policy": lambda: "same-origin",
    "Cross-Origin-Resource-Policy": lambda: "same-origin",
    "Permissions-Policy": lambda: "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class _TooLarge(Exception):
    """More of a body arrived than any route takes."""


class _TooSlow(Exception):
    """A body did not arrive in time."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a request is not answered."""

    status: int
    reason: str


class RequestGuard:
    """Middleware that answers only to this server's own names and pages, within limits."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._requests = 0
        self._sessions = 0
        self._requests_of_strangers: Counter[str] = Counter()  # by address
        self._pages, self._logins = (
            Strangers(most=MOST_STRANGERS, most_of_all=MOST_STRANGERS_OF_ALL) for _ in range(2)
        )
        self._logged_at = -1.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        number, body = logs.begin_request(), _LimitedBody(scope, receive)
        begun, status, has_begun = time.monotonic(), 0, False

        async def send_with_headers(message: Message) -> None:
            nonlocal has_begun, status
            if message["type"] == "http.response.start":
                has_begun, status = True, message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = number
                if body.is_unread:
                    headers["Connection"] = "close"  # else the server would read it to its end
                for switch in (safe_mode.SWITCH, presenter.SWITCH):
                    if chosen := switch.set_cookie(scope):
                        headers.append("Set-Cookie", chosen)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value())
            await send(message)

        async def refuse(status: int, reason: str) -> None:
            response = PlainTextResponse(reason, status, headers={"Cache-Control": "no-store"})
            await response(scope, receive, send_with_headers)

        stranger = _stranger(scope)
        if refusal := self._refusal(scope, stranger=stranger, has_body=body.is_unread):
            self._log_refusal(f"request {number}: {refusal.reason}")
            await refuse(refusal.status, refusal.reason)
            return
        self._requests += 1
        self._requests_of_strangers[stranger] += bool(stranger)
        try:
            if stranger and body.is_unread:
                with self._logins.place(stranger) as place:
                    await body.arrive(before=place.gives_way)
            with presenter.request(HTTPConnection(scope).cookies):
                await self._app(scope, body.receive, send_with_headers)
        except ClientDisconnect:
            pass  # nobody waits for the answer
        except Exception as error:
            if has_begun:
                raise
            if isinstance(error, _TooLarge):
                await body.discard()
                await refuse(413, "too large")
            elif isinstance(error, _TooSlow):
                await refuse(408, "too slow")
            else:
                error_page.log_error(error)
                await refuse(500, f"error {number}: its cause stands in the server's log")
        finally:
            self._requests -= 1
            self._requests_of_strangers[stranger] -= bool(stranger)
            self._requests_of_strangers += Counter()  # keeps those that have any
            logs.request(scope["method"], scope["path"], status, time.monotonic() - begun)

    def _refusal(self, scope: Scope, *, stranger: str, has_body: bool) -> _Refusal | None:
        request = HTTPConnection(scope)
        host = request.headers.get("host", "")
        if not addresses.is_own(host):
            return _Refusal(421, _another_name(host))
        if _is_from_another_site(request, host=host, is_safe=scope["method"] in _SAFE):
            return _Refusal(403, "this is from a page of another site, not of this server")
        if stranger and (has_body or _needs_login(scope)) and not _is_login(scope):
            return _Refusal(401, "log in to do this")
        if not _is_login(scope) and (
            self._requests >= MOST_REQUESTS or self._requests_of_strangers[stranger] >= MOST_OF_A_STRANGER
        ):
            return _Refusal(503, "too many requests at once; try again")
        if not _is_upload(scope) and _announced_bytes(request) > MOST_BYTES:
            return _Refusal(413, "too large")
        return None

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = HTTPConnection(scope)
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if not addresses.is_own(host):
            await self._close(send, _POLICY_VIOLATION, _another_name(host))
            return
        if origin is not None and not addresses.is_own_origin(origin, host=host):
            await self._close(send, _POLICY_VIOLATION, f"a page of {origin[:200]!r}, not of this server")
            return
        stranger = _stranger(scope)
        if not stranger and self._sessions >= MOST_SESSIONS:
            await self._close(send, _TRY_AGAIN_LATER, "too many pages are open")
            return
        if stranger:
            await self._connect_stranger(scope, receive, send, address=stranger)
            return
        self._sessions += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._sessions -= 1

    async def _connect_stranger(self, scope: Scope, receive: Receive, send: Send, *, address: str) -> None:
        with self._pages.place(address) as place:

            async def receive_or_end() -> Message:
                if message := await _before(place.gives_way, receive):
                    return message
                await self._close(send, _TRY_AGAIN_LATER, "too many pages are open without a login")
                return {"type": "websocket.disconnect", "code": _TRY_AGAIN_LATER}

            await self._app(scope, receive_or_end, send)

    async def _close(self, send: Send, code: int, reason: str) -> None:
        self._log_refusal(f"a page: {reason}")
        await send({"type": "websocket.close", "code": code, "reason": ""})

    def _log_refusal(self, refusal: str) -> None:
        """Log at most one refusal a second, so that nobody can fill the disk with them."""
        now = time.monotonic()
        if now >= self._logged_at + 1.0:
            self._logged_at = now
            log.warning("refused %s", refusal)


class _LimitedBody:
    """The body of a request, as long as it is neither too large nor too slow."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._most = None if _is_upload(scope) else LOGIN_BYTES if _is_login(scope) else MOST_BYTES
        self._arrived: deque[Message] = deque()  # and not asked for by the route yet
        self._begun = time.monotonic()
        self._received = 0
        self._is_complete = False
        headers = Headers(scope=scope)
        self._is_sent = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers

    @property
    def is_unread(self) -> bool:
        """Whether some of it may still come."""
        return self._is_sent and not self._is_complete

    async def arrive(self, *, before: asyncio.Event) -> None:
        """Wait for all of it. Raises _TooLarge, or _TooSlow if it has not arrived before this event."""
        while self.is_unread:
            if (part := await _before(before, self._next)) is None:
                raise _TooSlow
            self._arrived.append(part)

    async def receive(self) -> Message:
        """The next part. Raises _TooLarge or _TooSlow."""
        return self._arrived.popleft() if self._arrived else await self._next()

    async def discard(self) -> None:
        """Read what still comes of it, for a moment: nginx says 502 if it cannot hand on a whole request."""
        rest = MOST_BYTES
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DISCARD_SECONDS):
                while rest > 0 and self.is_unread:
                    message = await self._receive()
                    rest -= len(message.get("body", b""))
                    self._is_complete = not message.get("more_body", False)

    async def _next(self) -> Message:
        if self._is_complete:  # the route waits for the end of the connection
            return await self._receive()
        until = self._begun + BODY_SECONDS + self._received / _SLOWEST
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, until - time.monotonic()))
        except TimeoutError:
            raise _TooSlow from None
        self._received += len(message.get("body", b""))
        self._is_complete = not message.get("more_body", False)
        if self._most is not None and self._received > self._most:
            raise _TooLarge
        return message


async def _before(event: asyncio.Event, wanted: Receive) -> Message | None:
    """The next message; None if this event comes first."""
    message, end = asyncio.ensure_future(wanted()), asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({message, end}, return_when=asyncio.FIRST_COMPLETED)
        return None if event.is_set() else message.result()
    finally:
        message.cancel()
        end.cancel()


def _stranger(scope: Scope) -> str:
    """The address of a client who would have to log in; "" of others."""
    is_stranger = login.is_required() and not _is_known(HTTPConnection(scope))
    return counted_address(scope) or "unknown" if is_stranger else ""


def _is_login(scope: Scope) -> bool:
    return bool(scope["path"] == login.password_address())


def _another_name(host: str) -> str:
    return (
        f"this server was not started for the name {host[:200]!r}; "
        f"if it should answer to it, start it with --{addresses.OPTION}"
    )


def _is_from_another_site(request: HTTPConnection, *, host: str, is_safe: bool) -> bool:
    """Whether a page of another origin asks for more than to be followed here by a link.

    Browsers say so in `Origin` where something may be changed, and in `Sec-Fetch-Site` also of pictures and
    scripts that a page includes.
    """
    headers = request.headers
    origin, mode = headers.get("origin"), headers.get("sec-fetch-mode")
    is_elsewhere = headers.get("sec-fetch-site") in {"cross-site", "same-site"} and mode != "navigate"
    if origin is not None and (is_elsewhere or not is_safe):
        return not addresses.is_own_origin(origin, host=host)
    return is_elsewhere


def _is_known(request: HTTPConnection) -> bool:
    return login.is_permitted(logins.of_request(request))


def _needs_login(scope: Scope) -> bool:
    """Whether the path is one of Streamlit's that hold or take people's files, or tell figures."""
    below = f"{base_path()}/"
    return scope["path"].startswith((f"{below}media/", f"{below}_stcore/metrics")) or _is_upload(scope)


def _is_upload(scope: Scope) -> bool:
    return bool(scope["path"].startswith(f"{base_path()}/_stcore/upload_file/"))


def _announced_bytes(request: HTTPConnection) -> int:
    length = request.headers.get("content-length", "0")
    return int(length) if length.isdecimal() else 0
