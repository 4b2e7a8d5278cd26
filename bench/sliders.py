"""From the movement of a slider to re-ranked cards on the screen, in a real browser, as a Markdown table.

    python -m bench.sliders --sizes 10000 100000

A separate dashboard page shows made-up similarities with the demo's pictures; see bench/README.md.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Page

from bench.dashboard import browsing, new_page, serve
from bench.measuring import machine, print_head, print_row, spread
from store import demo
from store.runtime import open_library

MOVES = 120
STEP, LEAP = 0.3, 2.7  # how far dragging moves a slider between two frames, and a distant click

# One movement: from the event until the frame with its result is on the screen.
_MOVE = """async ([number, by]) => {
    const hosts = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")];
    const root = hosts.map((each) => each.shadowRoot).find((each) => each?.querySelector(".sliders"));
    const input = root.querySelectorAll("input[type=range]")[1 + (Math.floor(number / 30) % 4)];
    await new Promise(requestAnimationFrame);
    input.value = String((Number(input.value) + by) % 10);
    const began = performance.now();
    input.dispatchEvent(new Event("input"));
    const worked = performance.now();
    await new Promise(requestAnimationFrame);
    const { port1, port2 } = new MessageChannel();
    await new Promise((done) => ((port1.onmessage = done), port2.postMessage(0)));
    return [worked - began, performance.now() - began];
}"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--shown", type=int, default=60)
    options = parser.parse_args()
    print(f"{machine()}; {MOVES} movements of each kind, {options.shown} cards; milliseconds\n")
    print_head(
        "records", "rows in the page", "a drag's step: work", "on the screen", "a leap: work",
        "on the screen", "until the first cards, s",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "res"
        with open_library(root) as library:
            demo.load(library)
        for size in options.sizes:
            print_row(f"{size:,}", *_measured(root, size=size, shown=options.shown))


def _measured(root: Path, *, size: int, shown: int) -> list[str]:
    settings = {"BENCH_SIZE": str(size), "BENCH_SHOWN": str(shown)}
    app = ("streamlit", "run", "bench/sliders_app.py")
    with serve(root, app=app, settings=settings) as server, browsing() as browser:
        _opened(new_page(browser), server.url)  # the program is imported, and records are made up, only once
        page = new_page(browser)
        first = _opened(page, server.url)
        page.wait_for_timeout(2_000)
        rows = page.evaluate(_ROWS)
        times = np.concatenate(
            [np.array([page.evaluate(_MOVE, [at, by]) for at in range(MOVES)]).T for by in (STEP, LEAP)]
        )
        return [f"{rows:,}", *(spread(one.tolist()) for one in times), f"{first:.1f}"]


def _opened(page: Page, url: str) -> float:
    """Seconds until the first cards of a new query."""
    began = time.perf_counter()
    page.goto(url)
    page.wait_for_selector(".card.loaded")
    return time.perf_counter() - began


_ROWS = "() => Number(document.querySelector('[data-testid=stText]').textContent)"


if __name__ == "__main__":
    main()
