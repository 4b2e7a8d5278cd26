"""How fast the review page responds, in a real Chromium with a real server, as a Markdown table.

    python -m bench.grid --keep /some/folder                # 1,000 and 50,000 pending; makes them first, once
    python -m bench.grid --keep /some/folder --sizes 1000

Needs Chromium and `requirements-test.txt`.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from bench.chromium import chromium
from bench.pending import queue

PROJECT = Path(__file__).resolve().parent.parent
PORT = 8497
_ARGUMENTS = ["--no-sandbox", "--disable-gpu"]
_PER_PAGE = 240

# From the key's own time stamp: until another card is under the cursor, until that is painted, and until the
# server has confirmed the decision. One timer looks for all that wait, since looking takes time as well.
_CLOCK = """(grid) => {
  const at = () => grid.querySelector(".card.at")?.dataset.address;
  const own = () => Object.keys(localStorage).filter((key) => key.startsWith("memedex-log:"));
  const entries = () => own().flatMap((key) => JSON.parse(localStorage.getItem(key) ?? "[]"));
  let last = 0;
  const confirm = () => {
    const unconfirmed = new Set(entries().map(({ n }) => n));
    const waiting = window.measured.filter(({ durable }) => durable === null);
    for (const one of waiting) if (!unconfirmed.has(one.n)) one.durable = performance.now() - one.at;
    if (waiting.length) setTimeout(confirm, 5);
  };
  window.measured = [];
  window.addEventListener("keydown", (event) => {
    const before = at();
    const figures = { at: event.timeStamp, moved: null, painted: null, durable: null };
    const since = () => performance.now() - event.timeStamp;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => (figures.painted = since());
    const look = () => {
      if (at() === before) return since() < 5000 && setTimeout(look, 0);
      figures.moved = since();
      requestAnimationFrame(() => port2.postMessage(0));
    };
    setTimeout(look, 0);
    setTimeout(() => {  // the grid has heard the key and stored what was decided
      figures.n = Math.max(...entries().map(({ n }) => n));
      if (!(figures.n > last)) return;
      last = figures.n;
      if (window.measured.every(({ durable }) => durable !== null)) setTimeout(confirm, 5);
      window.measured.push(figures);
    }, 0);
  }, true);
}"""


@dataclass(frozen=True)
class Timings:
    """Milliseconds of each key press, and of each first view of the page."""

    moved: list[float]
    painted: list[float]
    durable: list[float]
    first_paint: list[float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="where the queues are kept; made there when missing")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 50_000])
    parser.add_argument("--presses", type=int, default=100)
    parser.add_argument("--paged", type=int, default=10_000, help="cards to page through for the memory")
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}\n")
    with tempfile.TemporaryDirectory() as folder:
        keep = options.keep or Path(folder)
        rows = [measure(keep, size, options) for size in options.sizes]
    print(
        "| pending | next card under the cursor | … and painted | decision durable | first paint | memory |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    print("\n".join(rows))


def measure(keep: Path, size: int, options: argparse.Namespace) -> str:
    """One row of the table: medians / 95th percentiles."""
    root = queue(keep / str(size), size)
    with serve(root) as process, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=_ARGUMENTS)
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.set_default_timeout(120_000)
        timings = time_key_presses(page, options.presses)
        paged = min(options.paged, size)
        grown = page_through(page, process.pid, paged)
        browser.close()
    return (
        f"| {size:,} | {_two(timings.moved)} | {_two(timings.painted)} | {_two(timings.durable)} | "
        f"{_two(timings.first_paint)} | + {grown:.0f} MiB after {paged:,} cards |"
    )


def time_key_presses(page: Page, presses: int) -> Timings:
    """Approve with the key, one coin after the other; then undo everything."""
    first = [time_first_view(page) for _ in range(6)]
    page.eval_on_selector(".memedex-grid", _CLOCK)
    for pressed in range(1, presses + 1):
        page.keyboard.press("a")
        page.wait_for_function(
            "(pressed) => measured.length === pressed && measured.every((one) => one.durable && one.painted)",
            arg=pressed,
        )
    measured = page.evaluate("measured")
    for _ in range(presses):
        page.keyboard.press("z")
    page.wait_for_function("() => !Object.keys(localStorage).some((key) => key.startsWith('memedex-log:'))")
    moved, painted, durable = (
        [figures[kind] for figures in measured] for kind in ("moved", "painted", "durable")
    )
    return Timings(moved, painted, durable, first_paint=first[1:])  # the very first one imports the program


def time_first_view(page: Page) -> float:
    """Milliseconds from asking for the page to the first card with its picture."""
    start = time.perf_counter()
    page.goto(f"http://127.0.0.1:{PORT}/pending")
    page.wait_for_selector(".card.loaded")
    return (time.perf_counter() - start) * 1000


def page_through(page: Page, pid: int, cards: int) -> float:
    """MiB by which the server has grown after showing this many cards with all pictures."""
    page.goto(f"http://127.0.0.1:{PORT}/pending?pending_per={_PER_PAGE}+a+page")
    _pictures(page)
    start = resident(pid)
    for _ in range(cards // _PER_PAGE - 1):
        first = page.locator(".card").first.get_attribute("data-address")
        page.keyboard.press("]")
        page.wait_for_selector(f".card[data-address='{first}']", state="detached")
        _pictures(page)
    return resident(pid) - start


def _pictures(page: Page) -> None:
    page.wait_for_selector(".card.loaded")
    page.eval_on_selector_all(".card img", "(images) => Promise.all(images.map((image) => fetch(image.src)))")


def resident(pid: int) -> float:
    """MiB of private memory of the process, without the catalog's pages, which the system can reclaim."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    raise LookupError("the system does not tell how much memory a process has")


@contextmanager
def serve(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The dashboard on this library, with the model loaded."""
    environment = {**os.environ, "MEMEDEX_ROOT": str(root), "MEMEDEX_EMBEDDER": "offline"}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    with subprocess.Popen(
        [*command, f"--server.port={PORT}"], cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL
    ) as process:
        try:
            while process.poll() is None:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{PORT}/_stcore/health", timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.2)
            yield process
        finally:
            process.terminate()


def _two(milliseconds: list[float]) -> str:
    return f"{np.median(milliseconds):,.0f} / {np.percentile(milliseconds, 95):,.0f} ms"


if __name__ == "__main__":
    main()
