"""Download one picture, within limits of size, type and time."""

import httpx

from store.disk.images import MAX_BYTES
from store.disk.picture_files import BEGINNING, is_picture
from store.errors import BadSource, MemedexError
from store.fetching.guard import Guard
from store.fetching.retry_after import LATER, seconds_to_wait
from store.fetching.transport import guarded_client

STEP = 15.0  # seconds for connecting, and without a sign of life
WHOLE = 60.0  # seconds for one picture, redirects included
REDIRECTS = 5
_PIECE = 65_536
_LONGEST_WAIT = 1e10  # seconds: shown as the server asks for it, but no infinite time
_UNREADABLE = {"text/html": "a web page", "application/json": "JSON"}
_ARWEAVE = "https://arweave.net"


class TryLater(MemedexError):
    """The server, or the way to it, is not ready; `seconds` is how long it asks to wait, if it says."""

    def __init__(self, reason: str, *, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.seconds = seconds


class Downloads:
    """Downloads pictures; thread-safe."""

    def __init__(
        self, guard: Guard, *, gateway: str, step: float = STEP, whole: float = WHOLE, limit: int = MAX_BYTES
    ) -> None:
        self._guard = guard
        self._gateway = gateway
        self._whole = whole
        self._limit = limit
        self._client = guarded_client(guard, timeout=step, redirects=REDIRECTS)

    def address(self, reference: str) -> str:
        """The URL behind a `logoURI`; `ipfs://` and `ar://` go through a gateway.

        Raises BadSource for an `ipfs://` address if no gateway is set.
        """
        reference = reference.strip()
        if reference.startswith("ipfs://"):
            if not self._gateway:
                raise BadSource("ipfs: addresses need MEMEDEX_IPFS_GATEWAY, which is empty")
            path = reference.removeprefix("ipfs://").removeprefix("ipfs/")
            return f"{self._gateway.rstrip('/')}/{path}"
        if reference.startswith("ar://"):
            return f"{_ARWEAVE}/{reference.removeprefix('ar://')}"
        return reference

    def host(self, reference: str) -> str:
        """The host whose request rate has to be limited. Raises BadSource if the reference is no address."""
        try:
            return httpx.URL(self.address(reference)).host
        except httpx.InvalidURL as error:
            raise BadSource(f"{reference[:120]} is no address: {error}") from error

    def picture(self, reference: str) -> bytes:
        """The bytes at this address.

        Raises BadSource for a permanent failure, TryLater for a temporary one.
        """
        try:
            with (
                self._guard.within(self._whole),
                self._client.stream("GET", self.address(reference)) as answer,
            ):
                return self._read(answer)
        except (httpx.TransportError, httpx.StreamError) as error:
            if isinstance(error, httpx.UnsupportedProtocol):
                raise BadSource(f"it is no http or https address: {error}") from error
            raise TryLater(f"{self.host(reference)}: {error or type(error).__name__}") from error
        except (httpx.TooManyRedirects, httpx.DecodingError, httpx.InvalidURL) as error:
            raise BadSource(f"{self.host(reference)}: {error}") from error

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _read(self, answer: httpx.Response) -> bytes:
        host = answer.url.host
        if answer.status_code in LATER:
            seconds = seconds_to_wait(answer.headers.get("retry-after"), most=_LONGEST_WAIT)
            raise TryLater(f"{host} answers {answer.status_code}", seconds=seconds)
        if answer.status_code != 200:
            raise BadSource(f"{host} answers {answer.status_code} {answer.reason_phrase}".rstrip())
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in _UNREADABLE:
            raise BadSource(f"{host} has {_UNREADABLE[kind]} there, not a picture that is read")
        if _number(answer.headers.get("content-length", "")) > self._limit:
            raise BadSource(self._too_large())
        content = bytearray()
        for piece in answer.iter_bytes(_PIECE):
            content += piece
            if len(content) > self._limit:  # with any announced length, and any compression
                raise BadSource(self._too_large())
        if content and not is_picture(bytes(content[:BEGINNING])):
            raise BadSource(f"{host} has no picture there, but {kind or 'something else'}")
        return bytes(content)

    def _too_large(self) -> str:
        return f"the picture is larger than {self._limit // 1_000_000} MB"


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 19 else 0
