"""The logos of a token list, fetched in the background: few at a time, never in a hurry, never twice."""

import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from store.errors import MemedexError, UnknownRecord
from store.fetching.download import Downloads, TryLater
from store.fetching.guard import Guard, any_address, is_global
from store.importing.candidate import Candidate, RemoteLogo
from store.jobs import Done, Item, Job, Later, Refused, Result, Shift
from store.settings import settings

if TYPE_CHECKING:
    from store.library import Library
    from store.reading import Reader

LANES = 8  # pictures at a time …
OF_ONE_HOST = 4  # … and from one server
TRIES = 4
FIRST_PAUSE = 1.0  # seconds after a first failure; doubled each time
LONGEST_PAUSE = 120.0  # seconds: who asks for more is asked another day
_NAP = 1.0


def begin(library: "Library", found: Iterable[RemoteLogo], *, name: str) -> Job | None:
    """Fetch these logos in the background and take the coins into pending; None where none is missing."""
    items = [(logo.address, _payload(logo)) for logo in found if not _is_there(library, logo.address)]
    return library.jobs.start("logos", items, name=name) if items else None


def fetch(shift: Shift) -> None:
    """Each item: a token's address, with its `logoURI`, its sidecar and what people call it."""
    found = settings()
    guard = Guard(allowed=any_address if found.fetch_private else is_global)
    downloads = Downloads(guard, gateway=found.ipfs_gateway)
    try:
        Fetching(shift, downloads).run()
    finally:
        downloads.close()


class Fetching:
    """One run through the logos of a job."""

    def __init__(self, shift: Shift, downloads: Downloads) -> None:
        self._shift = shift
        self._downloads = downloads
        self._hosts = Hosts(first_pause=FIRST_PAUSE)
        self._tries: defaultdict[int, int] = defaultdict(int)

    def run(self) -> None:
        self._shift.progress.what = "fetching logos"
        self._shift.each(self._fetch, lanes=LANES)

    def _fetch(self, items: Sequence[Item]) -> Iterable[Result]:
        return [self._one(item) for item in items]

    def _one(self, item: Item) -> Result:
        library: Library = self._shift.library
        uri = item.payload["uri"]
        try:
            if _is_there(library, item.key):
                return Done(item)
            host = self._downloads.host(uri)
            if pause := self._hosts.pause(host):
                self._shift.rest(min(pause, _NAP), why=f"{host} asked to wait")
                return Later(item)
            with self._hosts.turn(host):
                picture = self._downloads.picture(uri)
        except TryLater as error:
            return self._again(item, host, error)
        except MemedexError as error:
            return Refused(item, str(error))
        self._hosts.went_well(host)
        candidate = Candidate(item.payload["item"], item.payload["sidecar"], picture)
        report = library.add(
            [candidate],
            source=item.payload["item"].partition(":")[0],
            decision=self._shift.job.decision,
            who=self._shift.job.who,
        )
        return Refused(item, report.refused[0].reason) if report.refused else Done(item)

    def _again(self, item: Item, host: str, error: TryLater) -> Result:
        self._tries[item.position] += 1
        pause = self._hosts.trouble(host, asked_for=error.seconds)
        if pause > LONGEST_PAUSE:
            return Refused(
                item, f"{error}, and asks to come back in {pause / 60:,.0f} min; try it again then"
            )
        if self._tries[item.position] >= TRIES:
            return Refused(item, f"{error}; asked {TRIES} times, try it again later")
        return Later(item)


class Hosts:
    """How each server is doing: how many ask it at once, and until when it is left alone."""

    def __init__(self, *, first_pause: float) -> None:
        self._first_pause = first_pause
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Semaphore] = {}
        self._until: dict[str, float] = {}
        self._failures: defaultdict[str, int] = defaultdict(int)

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        with self._lock:
            turn = self._turns.setdefault(host, threading.Semaphore(OF_ONE_HOST))
        with turn:
            yield

    def pause(self, host: str) -> float:
        """The seconds for which nobody asks this server."""
        with self._lock:
            return max(0.0, self._until.get(host, 0.0) - time.monotonic())

    def trouble(self, host: str, *, asked_for: float | None) -> float:
        """Leave the server alone for as long as it asked for, else twice as long each time, and a bit."""
        with self._lock:
            self._failures[host] += 1
            pause = self._first_pause * 2 ** min(self._failures[host] - 1, 6) * random.uniform(1, 1.25)
            pause = pause if asked_for is None else max(asked_for, self._first_pause)
            if pause <= LONGEST_PAUSE:
                self._until[host] = max(self._until.get(host, 0.0), time.monotonic() + pause)
            return pause

    def went_well(self, host: str) -> None:
        with self._lock:
            self._failures[host] = 0


def _is_there(reader: "Reader", address: str) -> bool:
    try:
        reader.get(address)
    except UnknownRecord:
        return False
    return True


def _payload(logo: RemoteLogo) -> dict[str, object]:
    return {"uri": logo.uri, "sidecar": logo.sidecar, "item": logo.item}
