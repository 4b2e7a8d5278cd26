"""A dashboard that is measured, and the Chromium that looks at it."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from bench.measuring import processor_seconds

PROJECT = Path(__file__).resolve().parent.parent
MODEL = "offline"
WIDTH, HEIGHT = 1440, 1000  # of a window
# A tab in the background keeps its timers, as if each had a screen of its own.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
_START = 120.0  # seconds
_SETTINGS = {
    "MEMEDEX_EMBEDDER": MODEL,
    "MEMEDEX_CAPTION_MODEL": "",
    "MEMEDEX_READ_PICTURES": "false",  # thousands would be read meanwhile, for hours
}

# In the review page, from the key's own time stamp: until another card is under the cursor, until that is
# painted, and until the server has answered the decision. One timer looks for all that wait, since looking
# takes time as well. Version 1.1.2 numbered its decisions, and called their log otherwise.
CLOCK = """(grid) => {
  const at = () => grid.querySelector(".card.at")?.dataset.address;
  const own = () => Object.keys(localStorage).filter((key) => /^memedex-(log|decisions):/.test(key));
  const waiting = () => own().flatMap((key) => JSON.parse(localStorage.getItem(key) ?? "[]"));
  const named = () => new Set(waiting().map(({ id, n }) => id ?? n));
  const seen = new Set();
  const confirm = () => {
    const left = named();
    const open = window.measured.filter(({ durable }) => durable === null);
    for (const one of open) if (!left.has(one.id)) one.durable = performance.now() - one.at;
    if (open.length) setTimeout(confirm, 5);
  };
  window.undecided = () => own().length;
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
      figures.id = [...named()].find((id) => !seen.has(id));
      if (figures.id === undefined) return;
      seen.add(figures.id);
      if (window.measured.every(({ durable }) => durable !== null)) setTimeout(confirm, 5);
      window.measured.push(figures);
    }, 0);
  }, true);
}"""


# Whether so many presses are painted, and decided.
DECIDED = (
    """(pressed) => measured.length === pressed && measured.every((one) => one.durable && one.painted)"""
)


def chromium() -> str:
    """The path of a Chromium. Raises SystemExit without one."""
    for path in filter(None, map(shutil.which, _NAMES)):
        return path
    raise SystemExit("no Chromium was found (Debian: apt install chromium)")


@contextmanager
def browsing() -> Iterator[Browser]:
    """A headless Chromium for the duration of the block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS])
        yield browser
        browser.close()


def new_page(browser: Browser, *, patient: float = 120.0) -> Page:
    """A tab in a profile of its own; `patient`: seconds for each thing that it waits for."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.set_default_timeout(patient * 1000)
    return page


@dataclass
class Server:
    """A running dashboard."""

    url: str
    root: Path
    process: subprocess.Popen[bytes]
    log: Path

    def seconds_used(self) -> float:
        """Of the processor, by the dashboard's own process so far."""
        return processor_seconds(self.process.pid)

    def errors(self) -> list[str]:
        """The last line of each traceback that the dashboard printed, and where it was raised."""
        found, inside, place = [], False, ""
        for line in self.log.read_text(errors="replace").splitlines():
            if "Traceback (most recent call last)" in line:
                inside = True
            elif inside and line.lstrip().startswith('File "'):
                place = line.strip()
            elif inside and line.strip() and not line.startswith((" ", "\t", "│", "╭", "╰")):
                found.append(f"{line.strip()} ({place})")
                inside = False
        return found


@contextmanager
def serve(
    root: Path,
    *,
    app: Sequence[str] = ("streamlit", "run", "app.py"),
    program: Path = PROJECT,
    more: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """The dashboard of a program's folder over a library, on a free port; `more`: options of Streamlit."""
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = int(place.getsockname()[1])
    own = {"MEMEDEX_ROOT": str(root), "PYTHONPATH": str(program), **_SETTINGS, **(settings or {})}
    command = [sys.executable, "-m", *app, "--server.headless=true", f"--server.port={port}", *more]
    log = root.with_name(f"{root.name}.log")
    with log.open("wb") as printed:
        process = subprocess.Popen(
            command, cwd=program, env={**os.environ, **own}, stdout=printed, stderr=subprocess.STDOUT
        )
        server = Server(f"http://127.0.0.1:{port}", root, process, log)
        try:
            _wait(server)
            yield server
        finally:
            process.terminate()
            process.wait(60)


def _wait(server: Server) -> None:
    end = time.monotonic() + _START
    while time.monotonic() < end and server.process.poll() is None:
        try:
            urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=5).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit(f"the dashboard did not start:\n{server.log.read_text(errors='replace')}")
