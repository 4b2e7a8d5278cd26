"""What is lost between a click and the library, in a real Chromium over a real server, as Markdown tables.

    python -m bench.clicks                                              # at a person's pace: some hours
    python -m bench.clicks --pace double --load                         # twice as fast, both cores busy
    python -m bench.clicks --decisions 20 --forms 10 --pages 20 --idle 10

After each action the outcome is looked up in what is *stored*, by a reader next to the dashboard; see
bench/README.md. Needs Chromium and `requirements-test.txt`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, WebSocket
from playwright.sync_api import TimeoutError as TooLate

from bench.clicks_scenes import FAULTS, REST, SCENES, ActionFailed, Person, Scene, Stored, Tally
from bench.dashboard import MODEL, Server, browsing, new_page, serve
from bench.library import coins
from bench.measuring import machine, print_head, print_row, spread
from bench.pending import queue
from store.embedding import open_embedder
from store.memory.memory import Memory
from store.runtime import open_library

COUNTS = {"decisions": 2_000, "forms": 500, "pages": 2_000}
_APPROVED, _MEMORIES = 120, 200
_STREAM = "/events"
_IDLE_PAGES = ("review", "approved", "captions", "search", "")  # kept up to date by changes, jobs, or both
_IDLE_SECONDS = 30.0  # that are measured
_SETTLED, _LONGEST = 10.0, 300.0  # seconds without a request before that, and to wait for them
# It ends by itself if its parent is killed.
_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for kind, count in COUNTS.items():
        parser.add_argument(f"--{kind}", type=int, default=count, metavar="N")
    parser.add_argument("--idle", type=int, default=50, metavar="N", help="idle pages")
    parser.add_argument("--pace", choices=REST, default="person")
    parser.add_argument("--load", action="store_true", help="two processes compute all the time meanwhile")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds until something is lost or stuck")
    parser.add_argument("--pending", type=int, default=4_000, help="coins in Review at the beginning")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = _prepared(Path(folder) / "res", options.pending)
        with serve(root) as server, browsing() as browser, _busy_processors(options.load):
            print(f"{machine()}; pace: {options.pace}\n")
            print_head("what", "done", *FAULTS, "errors", "seconds until the outcome")
            for kind in COUNTS:
                if count := getattr(options, kind):
                    _act(browser, server, kind, count, options)
            if options.idle:
                _idle(browser, server, options.idle)


def _prepared(root: Path, pending: int) -> Path:
    """A library with so many pending coins, approved and promoted ones, and a text memory."""
    os.environ["MEMEDEX_EMBEDDER"] = MODEL
    queue(root, pending)
    with open_library(root, embedder=open_embedder(MODEL)) as library:
        made = list(coins(_APPROVED))
        library.add(made)
        addresses = [str(coin.sidecar["token_address"]) for coin in made]
        library.approve(addresses)
        library.promote(addresses[: _APPROVED // 2])
    with Memory.open(root) as memory:
        for number in range(_MEMORIES):
            memory.memories.store_memory(f"The curator noted the number {number} about frogs.", ["note"])
    return root


@contextmanager
def _busy_processors(wanted: bool) -> Iterator[None]:
    """Two processes that compute all the time, if `wanted`; they end with the block."""
    eaters = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(2 if wanted else 0)]
    try:
        yield
    finally:
        for process in eaters:
            process.kill()
            process.wait()


def _act(browser: Browser, server: Server, kind: str, count: int, options: argparse.Namespace) -> None:
    """Do one kind of action so many times, block by block, and print its row."""
    before, tally, console = len(server.errors()), Tally(), list[str]()
    page = new_page(browser, patient=options.limit)
    _note_errors(page, console)
    stored = Stored(server.root)
    person = Person(page, server.url, pace=options.pace, limit=options.limit, seed=f"{options.seed} {kind}")
    scene = SCENES[kind](person, stored, tally)
    while tally.done < count:
        _do(scene, min(scene.block, count - tally.done), tally)
    scene.check_at_the_end()
    stored.close()
    page.close()
    errors = console + server.errors()[before:]
    faults = [tally.faults[fault] for fault in FAULTS]
    print_row(kind, f"{tally.done:,}", *faults, len(errors), spread(tally.seconds))
    for message in [*tally.messages, *errors]:
        print(f"  {message}", file=sys.stderr)


def _do(scene: Scene, block: int, tally: Tally) -> None:
    """So many actions; after one that failed the page is opened again."""
    is_open = False
    for _ in range(block):
        tally.done += 1
        try:
            if not is_open:
                scene.open()
                is_open = True
            tally.seconds.append(scene.act())
        except (ActionFailed, TooLate) as error:
            tally.fail(error.fault if isinstance(error, ActionFailed) else "stuck", f"{tally.done}: {error}")
            is_open = False
    scene.close()


def _note_errors(page: Page, errors: list[str]) -> None:
    """Errors in the browser's console, and exceptions that no script caught."""

    def note(message: ConsoleMessage) -> None:
        # Streamlit finds its server by asking below the page's own path first, where nothing is.
        path = urlsplit(message.location["url"]).path
        is_search = "404" in message.text and "/_stcore/" in path and not path.startswith("/_stcore/")
        if message.type == "error" and not is_search:
            errors.append(f"{message.text} ({message.location['url']})")

    page.on("console", note)
    page.on("pageerror", lambda error: errors.append(f"uncaught: {error}"))


def _idle(browser: Browser, server: Server, pages: int) -> None:
    """Open so many tabs, wait until they ask for nothing more, and count what they cost for half a minute."""
    counting, last = False, time.monotonic()
    seen: Counter[str] = Counter()

    def sent(_: object) -> None:  # a message of a page to Streamlit asks for a run
        seen["runs"] += counting

    def follow(socket: WebSocket) -> None:
        if "/_stcore/stream" in socket.url:
            socket.on("framesent", sent)

    def asked(request: Request) -> None:
        nonlocal last
        if request.url.startswith("http") and not urlsplit(request.url).path.endswith(_STREAM):
            last = time.monotonic()
            seen["requests"] += counting

    tabs = [new_page(browser) for _ in range(pages)]
    for number, page in enumerate(tabs):
        page.on("websocket", follow)
        page.on("request", asked)
        page.goto(f"{server.url}/{_IDLE_PAGES[number % len(_IDLE_PAGES)]}")
        page.get_by_role("heading", level=1).first.wait_for()
    end = time.monotonic() + _LONGEST
    while time.monotonic() < min(last + _SETTLED, end):
        page.wait_for_timeout(500)
    counting, used, began = True, server.seconds_used(), time.monotonic()
    page.wait_for_timeout(_IDLE_SECONDS * 1000)
    share = 100 * (server.seconds_used() - used) / (time.monotonic() - began)
    print()
    print_head("idle pages", "script runs", "requests besides the stream", "processor")
    print_row(pages, seen["runs"], seen["requests"], f"{share:.1f} % of a core")


if __name__ == "__main__":
    main()
