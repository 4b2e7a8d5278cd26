"""From the movement of a slider to re-ranked cards on the screen, in a real browser, as a Markdown table.

    python -m bench.sliders --sizes 10000 100000

A separate dashboard page shows made-up similarities with the demo's pictures; see bench/README.md.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from bench.chromium import chromium, wait_for_dashboard
from bench.search import machine
from store import demo
from store.runtime import open_library

STAGE = Path(__file__).with_name("sliders_app.py")
PORT = 8977
MOVES = 120
STEP, LEAP = 0.3, 2.7  # how far dragging moves a slider between two frames, and a distant click

Milliseconds = np.ndarray[tuple[int, int], np.dtype[np.float64]]

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
    print(f"{machine()}; {MOVES} movements of each kind, {options.shown} cards\n")
    print(
        "| records | rows in the page | a drag's step: work, ms | on the screen, ms "
        "| a leap: work, ms | on the screen, ms | until the first cards, s |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        with open_library(Path(folder)) as library:
            demo.load(library)
        for size in options.sizes:
            print(measured(Path(folder), size=size, shown=options.shown), flush=True)


def measured(root: Path, *, size: int, shown: int) -> str:
    """One row of the table."""
    settings = {
        "PYTHONPATH": str(STAGE.parent.parent),
        "MEMEDEX_ROOT": str(root),
        "BENCH_SIZE": str(size),
        "BENCH_SHOWN": str(shown),
    }
    command = [sys.executable, "-m", "streamlit", "run", str(STAGE), "--server.headless=true"]
    server = subprocess.Popen(
        [*command, f"--server.port={PORT}"], env={**os.environ, **settings}, stdout=subprocess.DEVNULL
    )
    try:
        wait_for_dashboard(PORT)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"]
            )
            _opened(browser.new_page())  # the program is imported, and the records are made up, only once
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            first = _opened(page)
            page.wait_for_timeout(2_000)
            rows = page.evaluate(_ROWS)
            times = [_times(page, by) for by in (STEP, LEAP)]
            browser.close()
    finally:
        server.terminate()
        server.wait(30)
    cells = (f"{np.median(of):.1f} (95 %: {np.quantile(of, 0.95):.1f})" for of in np.concatenate(times))
    return f"| {size:,} | {rows:,} | {' | '.join(cells)} | {first:.1f} |"


def _times(page: Page, by: float) -> Milliseconds:
    """Thirty movements of each slider: the handler's time, and the time until the frame; (2, MOVES)."""
    return np.array([page.evaluate(_MOVE, [number, by]) for number in range(MOVES)]).T


def _opened(page: Page) -> float:
    """Seconds until the first cards of a new query."""
    began = time.perf_counter()
    page.goto(f"http://127.0.0.1:{PORT}")
    page.wait_for_selector(".card.loaded", timeout=180_000)
    return time.perf_counter() - began


_ROWS = "() => Number(document.querySelector('[data-testid=stText]').textContent)"


if __name__ == "__main__":
    main()
