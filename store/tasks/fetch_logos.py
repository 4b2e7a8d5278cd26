"""The job "fetch logos": download the logos of a token list, a few at a time, each once."""

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from store.errors import MemedexError, UnknownRecord
from store.fetching.download import Downloads, TryLater
from store.fetching.guard import Guard, any_address, is_global
from store.importing.candidate import Candidate, RemoteLogo
from store.jobs import Item, ItemDeferred, ItemDone, ItemRefused, Job, JobContext, Result
from store.jobs.circuit_breaker import Attempt, CircuitBreaker
from store.settings import settings

if TYPE_CHECKING:
    from store.library import Library
    from store.reading.reader import Reader

LANES = 8  # pictures at a time …
OF_ONE_HOST = 4  # … and from one server
TRIES = 4
LONGEST_PAUSE = 120.0  # seconds: who asks for more is asked another day
_NAP = 1.0


def start(library: "Library", found: Iterable[RemoteLogo], *, name: str, actor: str = "") -> Job | None:
    """Start to download these logos and add the coins to pending; None if no logo is missing."""
    items = [
        (logo.address, {"uri": logo.uri, "sidecar": logo.sidecar, "item": logo.item})
        for logo in found
        if not _is_there(library, logo.address)
    ]
    return library.jobs.start("logos", items, name=name, actor=actor) if items else None


def fetch(context: "JobContext[Library]") -> None:
    """Run the job; each item is a token's address with its `logoURI`, sidecar and name for people."""
    found = settings()
    guard = Guard(allowed=any_address if found.fetch_private else is_global)
    downloads = Downloads(guard, gateway=found.ipfs_gateway)
    try:
        Fetching(context, downloads).run()
    finally:
        downloads.close()


class Fetching:
    """One run through the logos of a job."""

    def __init__(self, context: "JobContext[Library]", downloads: Downloads) -> None:
        self._context = context
        self._downloads = downloads
        self._hosts = Hosts()
        self._tries: defaultdict[int, int] = defaultdict(int)

    def run(self) -> None:
        """Fetch every logo that waits."""
        self._context.progress.what = "fetching logos"
        self._context.each(self._fetch, lanes=LANES)

    def _fetch(self, items: Sequence[Item]) -> Iterable[Result]:
        return [self._one(item) for item in items]

    def _one(self, item: Item) -> Result:
        library = self._context.library
        uri = item.payload["uri"]
        try:
            if _is_there(library, item.key):
                return ItemDone(item)
            host = self._downloads.host(uri)
        except MemedexError as error:
            return ItemRefused(item, str(error))
        with self._hosts.breaker(host).attempt() as attempt:
            if attempt.pause:
                self._context.rest(min(attempt.pause, _NAP), reason=f"{host} asked to wait")
                return ItemDeferred(item)
            try:
                with self._hosts.turn(host):
                    picture = self._downloads.picture(uri)
            except TryLater as error:
                return self._again(item, attempt, error)
            except MemedexError as error:
                return ItemRefused(item, str(error))
        candidate = Candidate(item.payload["item"], item.payload["sidecar"], picture)
        report = library.add(
            [candidate],
            source=item.payload["item"].partition(":")[0],
            decision=self._context.job.decision,
            actor=self._context.job.actor,
        )
        report.raise_failure()
        if report.refused and not _is_there(library, item.key):  # an earlier try of it may have waited
            return ItemRefused(item, report.refused[0].reason)
        return ItemDone(item)

    def _again(self, item: Item, attempt: Attempt, error: TryLater) -> Result:
        self._tries[item.position] += 1
        if error.seconds is not None and error.seconds > LONGEST_PAUSE:
            return ItemRefused(
                item, f"{error}, and asks to come back in {error.seconds / 60:,.0f} min; try it again then"
            )
        attempt.failed(retry_after=error.seconds)
        if self._tries[item.position] >= TRIES:
            return ItemRefused(item, f"{error}; asked {TRIES} times, try it again later")
        return ItemDeferred(item)


class Hosts:
    """The load and waiting time of each server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Semaphore] = {}
        self._breakers: dict[str, CircuitBreaker] = {}

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait until the next request to this host is allowed."""
        with self._lock:
            turn = self._turns.setdefault(host, threading.Semaphore(OF_ONE_HOST))
        with turn:
            yield

    def breaker(self, host: str) -> CircuitBreaker:
        """The circuit breaker of this host."""
        with self._lock:
            return self._breakers.setdefault(host, CircuitBreaker())


def _is_there(reader: "Reader", address: str) -> bool:
    try:
        reader.get(address)
    except UnknownRecord:
        return False
    return True
