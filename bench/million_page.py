"""The search page of a million coins in a real browser, from the start of its dashboard on.

    python -m bench.million_page --keep /some/folder                  # the library of `bench.million`
    python -m bench.million_page --keep /some/folder --without-work   # without background work

From Enter until the frame that shows the first card of the new question with its picture; from a slider's
movement until the frame with its outcome. Questions have two words, of which one is the ticker of some coins.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from bench.chromium import chromium, wait_for_dashboard
from bench.million_stages import _forget
from bench.search import machine

PROJECT = Path(__file__).resolve().parent.parent
PORT = 8497
_PARTS = ((0, 30), (30, 60), (60, 120))  # seconds since the dashboard was started, of one row each

_GRID = """[...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")]
    .map((each) => each.shadowRoot).find((each) => each?.querySelector(".sliders"))"""

# Notes when a question was sent, and the frame that shows another first card with its picture.
_CLOCK = f"""() => {{
  const first = () => ({_GRID})?.querySelector(".card.loaded")?.dataset.address;
  window.addEventListener("keydown", (event) => {{
    if (event.key !== "Enter") return;
    const before = first(), began = event.timeStamp;
    window.asked = null;
    const look = () => {{
      const now = first();
      if (now && now !== before) window.asked = performance.now() - began;
      else requestAnimationFrame(look);
    }};
    requestAnimationFrame(look);
  }}, true);
}}"""

_MOVE = f"""async (number) => {{
    const root = {_GRID};
    const input = root.querySelectorAll("input[type=range]")[1 + (number % 4)];
    await new Promise(requestAnimationFrame);
    input.value = String((Number(input.value) + 2.7) % 10);
    const began = performance.now();
    input.dispatchEvent(new Event("input"));
    await new Promise(requestAnimationFrame);
    const {{ port1, port2 }} = new MessageChannel();
    await new Promise((done) => ((port1.onmessage = done), port2.postMessage(0)));
    return performance.now() - began;
}}"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, required=True, help="the folder in which libraries are kept")
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--data", choices=["captions", "random"], default="captions")
    parser.add_argument("--without-work", action="store_true", help="no background work")
    parser.add_argument("--cold", action="store_true", help="the library is in no memory at the beginning")
    parser.add_argument("--seconds", type=int, default=120)
    options = parser.parse_args()
    root = options.keep / f"{options.data}-{options.size}"
    if options.cold:
        for file in (*root.rglob("*.npy"), *root.rglob("catalog.sqlite3")):
            _forget(file)
    work = "without" if options.without_work else "with"
    print(f"{machine()}; {options.size:,} coins, {work} background work\n")
    settings = {"BENCH_KIND": options.data, "BENCH_WORK": "" if options.without_work else "1"}
    began = time.monotonic()
    with _dashboard(root, settings) as number, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.goto(f"http://127.0.0.1:{PORT}/search")
        page.get_by_role("searchbox", name="Search").wait_for(timeout=120_000)
        print(f"the page is complete {time.monotonic() - began:.1f} s after the start")
        page.evaluate(_CLOCK)
        asked: list[tuple[float, float]] = []
        moved: list[float] = []
        while time.monotonic() - began < options.seconds:
            at = time.monotonic() - began
            asked.append((at, _ask(page, len(asked))))
            print(f"  {at:5.1f} s: {asked[-1][1]:,.0f} ms", file=sys.stderr, flush=True)
            page.wait_for_timeout(1_000)
            moved += [page.evaluate(_MOVE, len(moved)) for _ in range(4)]
            page.wait_for_timeout(1_500)
        browser.close()
        memory = _memory(number)
    print("| what | times | median | 95 % | most | load |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    _row("the first question", [asked[0][1]])
    for start, end in _PARTS:
        _row(f"… after {start} to {end} s", [took for at, took in asked[1:] if start <= at < end])
    _row("a slider's step on the screen", moved)
    print(f"\nmemory beside mapped files {memory:,.0f} MiB")


def _row(name: str, times: list[float]) -> None:
    if times:
        figures = (np.median(times), np.quantile(times, 0.95), max(times))
        cells = " | ".join(f"{figure:,.0f} ms" for figure in figures)
        print(f"| {name} | {len(times)} | {cells} | {os.getloadavg()[0]:.0f} |", flush=True)


def _ask(page: Page, number: int) -> float:
    """Milliseconds until the results of one more question are seen."""
    line = page.get_by_role("searchbox", name="Search")
    line.fill(f"babb{number} {number}")
    line.press("Enter")
    return float(page.wait_for_function("() => window.asked", timeout=120_000).json_value())


@contextmanager
def _dashboard(root: Path, settings: dict[str, str]) -> Iterator[int]:
    """A dashboard on its port, its process."""
    own = {
        "PYTHONPATH": str(PROJECT),
        "MEMEDEX_ROOT": str(root),
        "MEMEDEX_EMBEDDER": "offline",
        "MEMEDEX_CHROMA": "off",
    }
    command = [sys.executable, "-m", "bench.million_server", "run", "app.py", "--server.headless=true"]
    server = subprocess.Popen(
        [*command, f"--server.port={PORT}"], env={**os.environ, **own, **settings}, cwd=PROJECT,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for_dashboard(PORT)
        yield server.pid
    finally:
        server.terminate()
        server.wait(60)


def _memory(number: int) -> float:
    lines = Path(f"/proc/{number}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1_024 for line in lines if line.startswith("RssAnon"))


if __name__ == "__main__":
    main()
