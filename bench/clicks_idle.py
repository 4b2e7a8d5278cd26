"""The cost of idle pages: script runs, requests besides the stream, and processor time."""

import time
from collections import Counter
from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Request, WebSocket

from bench.clicks_app import Server

SECONDS = 30.0  # that are measured
_STREAM = "/events"
_TABS = 5  # of one person: a browser opens six connections to one server, and a stream takes one
_SETTLED = 10.0  # seconds without a request, before the measurement begins
_LONGEST = 300.0  # seconds to wait for that
# Each with what keeps it up to date: the library's changes, jobs, or both.
_PAGES = ("pending", "approved", "captions", "search", "")


@dataclass(frozen=True)
class Idle:
    """Of all pages together, over the time measured."""

    pages: int
    seconds: float
    runs: int  # messages from the pages to Streamlit, each of which asks for a run
    requests: dict[str, int]  # by path, besides the stream
    processor: float  # seconds of the server's processor time

    @property
    def cells(self) -> str:
        share = 100 * self.processor / self.seconds
        per_second = self.runs / self.seconds
        requests = sum(self.requests.values())
        return f"| {self.pages} | {self.runs} ({per_second:.1f}/s) | {requests} | {share:.1f} % of a core |"


def measure(browser: Browser, server: Server, pages: int) -> Idle:
    """Open so many tabs, wait until they ask for nothing more, and count for half a minute."""
    counting, last = False, time.monotonic()
    runs = 0
    requests: Counter[str] = Counter()

    def sent(_: object) -> None:
        nonlocal runs
        runs += counting

    def follow(socket: WebSocket) -> None:
        if "/_stcore/stream" in socket.url:
            socket.on("framesent", sent)

    def asked(request: Request) -> None:
        nonlocal last
        path = urlsplit(request.url).path
        if request.url.startswith("http") and not path.endswith(_STREAM):
            last = time.monotonic()
            requests[path] += counting

    contexts: list[BrowserContext] = []
    for number in range(pages):
        if number % _TABS == 0:
            contexts.append(browser.new_context(viewport={"width": 1440, "height": 1000}))
            contexts[-1].set_default_timeout(120_000)
        page = contexts[-1].new_page()
        page.on("websocket", follow)
        page.on("request", asked)
        page.goto(f"{server.url}/{_PAGES[number % len(_PAGES)]}")
        page.get_by_role("heading", level=1).first.wait_for()
    end = time.monotonic() + _LONGEST
    while time.monotonic() < min(last + _SETTLED, end):
        page.wait_for_timeout(500)
    counting, before, began = True, server.seconds_used(), time.monotonic()
    page.wait_for_timeout(SECONDS * 1000)
    counting, seconds = False, time.monotonic() - began
    used = server.seconds_used() - before
    for context in contexts:
        context.close()
    return Idle(pages, seconds, runs, dict(+requests), used)
