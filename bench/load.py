"""What many people at once cost: 50 tabs that are only looked at, at work, and opened and closed for long.

    python -m bench.load --keep /some/folder                                        # 100,000 coins, an hour
    python -m bench.load --keep /some/folder --size 10000 --sessions 20 --soak 60   # some minutes

The tabs speak Streamlit's protocol over a websocket and hold the page's stream; some are tabs of a real
Chromium. Prints Markdown tables. Needs `requirements-test.txt`.
"""

import argparse
import asyncio
import json
import os
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx
from playwright.async_api import Page, async_playwright

from bench.dashboard import ARGUMENTS, CLOCK, HEIGHT, WIDTH, Server, chromium, serve
from bench.library import Instant
from bench.load_session import GRID, HEADERS, Session
from bench.measuring import machine, memory, print_table, spread
from bench.pending import queue
from store.catalog.filters import Filter
from store.embedding import open_embedder
from store.runtime import open_library, open_reader

_PAGES = ("review", "approved", "captions", "search", "")  # of tabs that are only looked at
_WORDS = ("frog", "moon dog", "sad robot", "golden pizza", "royal ape", "tiny rocket")
_SETTLED = 15.0  # seconds before an idle measurement begins
MODEL = "offline"
_BATCH = 500
_PACE = 0.5  # seconds between two keys
_PATIENT = 180_000  # ms


@dataclass
class Figures:
    """All that was measured; times in seconds."""

    idle: float = 0.0  # per cent of a core
    server: float = 0.0  # the same at work
    durable: list[float] = field(default_factory=list)
    slider: list[float] = field(default_factory=list)
    refills: list[float] = field(default_factory=list)  # runs that brought more cards
    felt: list[float] = field(default_factory=list)  # in the browsers: key to durable
    lost: int = 0
    decided: int = 0
    overheard: int = 0
    errors: list[str] = field(default_factory=list)
    memory: dict[str, float] = field(default_factory=dict)  # MiB at certain moments


class Load:
    """The phases, one after the other, on one server."""

    def __init__(self, server: Server, options: argparse.Namespace) -> None:
        self.server, self.options = server, options
        self.figures = Figures()
        self.random = random.Random(options.seed)
        self._tabs: list[Session] = []
        self._number = 0

    async def run(self) -> Figures:
        """All phases."""
        first = await self._open("search", "q=frog")  # loads the model and the vectors, once for all
        await asyncio.sleep(_SETTLED)
        self._remember("one tab")
        async with Browsers(self.server.url, self.options.browsers) as browsers:
            await self._idle()
            await self._work(browsers)
        for tab in [tab for tab in self._tabs if tab is not first]:
            await self._close(tab)
        await self._rest()
        self._remember("all others closed")
        await self._soak()
        self._remember("after the soak")
        await self._close(first)
        return self.figures

    async def _idle(self) -> None:
        for number in range(self.options.sessions - self.options.browsers - 1):
            await self._open(_PAGES[number % len(_PAGES)])
        await asyncio.sleep(_SETTLED)
        used, began = self.server.seconds_used(), time.monotonic()
        await asyncio.sleep(self.options.idle)
        seconds = time.monotonic() - began
        self.figures.idle = 100 * (self.server.seconds_used() - used) / seconds
        self._remember(f"{self.options.sessions} tabs")

    async def _work(self, browsers: "Browsers") -> None:
        workers = self.options.workers
        reviewing = [await self._open("review") for _ in range(workers)]
        searching = [await self._open("search", f"q={self._words()}") for _ in range(workers)]
        with open_reader(self.server.root) as stored:
            queue = stored.find(Filter(tier="pending"), sort="oldest")
            drafted = stored.find(Filter(tier="approved"), limit=20)
        self.random.shuffle(queue)
        end = time.monotonic() + self.options.work
        given = iter([(record.address, record.revision) for record in queue])
        done: list[str] = []

        async def review(tab: Session) -> None:
            address, revision = next(given)
            self.figures.durable.append(await tab.decide("approve", address, revision))
            done.append(address)

        async def search(tab: Session) -> None:
            if GRID in tab.components and "ranking" in tab.components[GRID][1]:
                facet = self.random.choice(("entity", "context", "visual", "emotions"))
                self.figures.slider.append(await tab.move_slider(facet, self.random.randint(0, 10)))
            record = self.random.choice(drafted)
            await tab.draft(record.address, record.revision)

        jobs = [self._repeat(review, tab, end) for tab in reviewing]
        jobs += [self._repeat(search, tab, end) for tab in searching]
        began, used = time.monotonic(), self.server.seconds_used()
        at_work = asyncio.gather(*jobs)
        self.figures.felt, decided = await browsers.review(self.options.work)
        await at_work
        seconds = time.monotonic() - began
        self.figures.server = 100 * (self.server.seconds_used() - used) / seconds
        self.figures.refills = [one for tab in reviewing for one in tab.runs]
        done += decided
        self.figures.decided = len(done)
        with open_reader(self.server.root) as stored:
            self.figures.lost = sum(stored.get(address).tier != "approved" for address in done)
        self._remember("at work")

    async def _soak(self) -> None:
        end = time.monotonic() + self.options.soak
        while time.monotonic() < end:
            tabs = [await self._open(self.random.choice(_PAGES)) for _ in range(5)]
            await asyncio.sleep(self.random.uniform(0, 2))
            for tab in tabs:
                await self._close(tab)
        if self.options.soak:
            await self._rest()

    async def _rest(self) -> None:
        """Wait, then come back with one tab: Streamlit lets closed sessions go when a user comes."""
        await asyncio.sleep(self.options.rest)
        await self._close(await self._open("review"))

    async def _repeat(self, work: Callable[[Session], Awaitable[None]], tab: Session, end: float) -> None:
        """Twice a second; later if the one before took longer."""
        while (now := time.monotonic()) < end:
            try:
                await work(tab)
            except (TimeoutError, OSError, httpx.TransportError) as error:
                self.figures.errors.append(f"{tab.page}: {error!r}")
            await asyncio.sleep(max(0.0, now + 0.5 - time.monotonic()))

    async def _open(self, page: str, query: str = "") -> Session:
        self._number += 1
        tab = Session(self.server.url, f"p{self._number:04}@bench", page, query)
        await tab.open()
        self._tabs.append(tab)
        return tab

    async def _close(self, tab: Session) -> None:
        self._tabs.remove(tab)
        self.figures.errors += tab.errors
        self.figures.overheard += len(tab.overheard)
        await tab.close()

    def _remember(self, moment: str) -> None:
        self.figures.memory[moment] = memory("RssAnon", self.server.process.pid)

    def _words(self) -> str:
        return self.random.choice(_WORDS).replace(" ", "+")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, help="where the library is kept; made there when missing")
    parser.add_argument("--size", type=int, default=100_000, help="coins")
    parser.add_argument("--sessions", type=int, default=50, help="tabs that are only looked at")
    parser.add_argument("--browsers", type=int, default=5, help="how many of them are a real Chromium's")
    parser.add_argument("--workers", type=int, default=10, help="tabs reviewing, and as many searching")
    parser.add_argument("--idle", type=float, default=60.0, help="seconds")
    parser.add_argument("--work", type=float, default=60.0, help="seconds")
    parser.add_argument(
        "--rest",
        type=float,
        default=600.0,
        help="seconds after the tabs have closed; Streamlit keeps them for 120",
    )
    parser.add_argument("--soak", type=float, default=1_800.0, help="seconds of tabs opened and closed")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = prepared((options.keep or Path(folder)) / str(options.size), options.size)
        people = json.dumps(HEADERS)
        with serve(root, more=[f"--server.trustedUserHeaders={people}"]) as server:
            figures = asyncio.run(Load(server, options).run())
            figures.errors += server.errors()
    print(f"{machine()}; {options.size:,} coins\n")
    show(figures, options.sessions)


def show(figures: Figures, tabs: int) -> None:
    """All figures as Markdown."""
    grown = (figures.memory[f"{tabs} tabs"] - figures.memory["one tab"]) / max(1, tabs - 1)
    rows: list[tuple[str, str]] = [
        ("tabs, idle: processor", f"{figures.idle:.1f} % of a core"),
        ("at work: processor", f"{figures.server:.0f} % of a core"),
        ("key → durable and confirmed, sessions without a browser", _times(figures.durable)),
        ("… and runs that brought more cards", _times(figures.refills)),
        ("key → durable, in the browsers", _times(figures.felt)),
        ("slider: missing cards", _times(figures.slider)),
        ("decisions", f"{figures.decided:,}, lost {figures.lost}"),
        ("drafts of others seen", f"{figures.overheard}"),
        ("errors", f"{len(figures.errors)}"),
        ("memory for each tab", f"{grown:.1f} MiB"),
        *((f"memory, {moment}", f"{mib:.0f} MiB") for moment, mib in figures.memory.items()),
    ]
    print_table((f"{tabs} tabs", ""), rows)
    for error in [*dict.fromkeys(figures.errors)][:10]:
        print(f"\n- {error}")


def _times(times: list[float]) -> str:
    return f"{spread([1_000 * one for one in times], 'ms')}, {len(times):,} times"


if __name__ == "__main__":
    main()


def prepared(root: Path, size: int) -> Path:
    """A library of so many coins; made once, as files that are imported on opening."""
    mark = root / f"load-{size}"
    if mark.exists():
        return root
    os.environ["MEMEDEX_EMBEDDER"] = MODEL
    queue(root, size, compares=False)
    _write_captions(root, size)
    with open_library(root, embedder=Instant(named=open_embedder(MODEL))) as library:
        pending = [record.address for record in library.find(Filter(tier="pending"))]
        chosen = [address for address in pending if int(address[-32:], 16) % 2]
        for start in range(0, len(chosen), _BATCH):
            library.approve(chosen[start : start + _BATCH])
            library.promote(chosen[start : start + _BATCH])
        library.approve(sorted(set(pending) - set(chosen))[:100])  # for drafts of captions
        library.duplicates.examine()  # so that a measurement finds no work in the background
    mark.touch()
    return root


def _write_captions(root: Path, size: int) -> None:
    """Captions for the coins that will be promoted, as a person outside the program would write them."""
    for number in range(1, size, 2):
        path = root / "memecoins" / "pending" / f"local-{number:032x}.json"
        sidecar = json.loads(path.read_text())
        words = f"{sidecar['token_name']} with {' and '.join(sidecar['tags'])}"
        sidecar["caption"] = {"entity": words, "context": f"a joke about {words}", "visual": "flat colours"}
        path.write_text(json.dumps(sidecar))


class Browsers:
    """So many tabs on the review page, each in a profile of its own."""

    def __init__(self, url: str, count: int) -> None:
        self._url, self._count = url, count
        self._pages: list[Page] = []

    async def __aenter__(self) -> Self:
        self._playwright: Any = await async_playwright().start()
        self._browser = await self._playwright.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS])
        for _ in range(self._count):
            context = await self._browser.new_context(
                viewport={"width": WIDTH, "height": HEIGHT},
                reduced_motion="reduce",  # drawn without a GPU, moving cards cost the server's cores
            )
            context.set_default_timeout(_PATIENT)
            page = await context.new_page()
            await page.goto(f"{self._url}/review")
            await page.wait_for_selector(".card.loaded")
            self._pages.append(page)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._browser.close()
        await self._playwright.stop()

    async def review(self, seconds: float) -> tuple[list[float], list[str]]:
        """Approve twice a second in every tab: seconds until each was durable, and the coins decided on.

        Each tab begins at another card, because all show the same page.
        """
        tabs = [self._review(page, at, seconds) for at, page in enumerate(self._pages)]
        found = await asyncio.gather(*tabs)
        return [one for times, _ in found for one in times], [key for _, keys in found for key in keys]

    async def _review(self, page: Page, at: int, seconds: float) -> tuple[list[float], list[str]]:
        await page.eval_on_selector(".memedex-grid", CLOCK)
        for _ in range(at):
            await page.keyboard.press("ArrowRight")
        end, keys = time.monotonic() + seconds, []
        while (now := time.monotonic()) < end:
            card = page.locator(".card.at")
            if await card.count():
                keys.append(await card.first.get_attribute("data-address"))
                await page.keyboard.press("a")
            await asyncio.sleep(max(0.0, now + _PACE - time.monotonic()))
        await page.wait_for_function("() => !undecided()")
        measured = await page.evaluate("measured")
        times = [one["durable"] / 1_000 for one in measured if one["durable"] is not None]
        return times, [key for key in keys if key]
