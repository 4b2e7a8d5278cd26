"""Clicks, load and search of this version and an earlier one, by turns in one run, as a Markdown table.

    git worktree add --detach ../before b07e4b1c                              # version 1.1.2
    python -m bench.versions --before ../before --keep /some/folder           # half an hour the first time
    python -m bench.versions --before ../before --keep /some/folder --parts search --turns 10

The earlier version makes the libraries, since it cannot read later ones, and each works on a copy. In a turn
both do the same for some seconds: so other work on the machine slows both down, and a ratio is of one turn.
Needs Chromium and `requirements-test.txt`.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser

from bench.dashboard import CLOCK, DECIDED, MODEL, PROJECT, Server, browsing, new_page, serve
from bench.load_session import HEADERS
from bench.measuring import machine, print_head, print_row
from bench.million_vectors import questions

_QUIET = 2.0  # seconds after a turn's last action, in which the server ends what it began
_PRESSES, _ASKED = 10, 8  # in one turn
_SUBJECTS = ("frog", "dog", "cat", "ape", "bear", "rocket", "moon", "pizza", "robot", "king", "banana", "car")
_MANNERS = (
    "sad",
    "golden",
    "tiny",
    "royal",
    "sleepy",
    "green",
    "angry",
    "happy",
    "pixel",
    "neon",
    "old",
    "wet",
)
Figures = dict[str, list[float]]  # by name: what one turn measured

# Both answer a line of JSON with one. They run in the folder of a version, with its own modules.
_SEARCH = """
import json, sys, time
from pathlib import Path
import numpy as np
from store.embedding import open_embedder
from store.records import FACETS
from store.runtime import open_library
from store.search.query import Part, Query

root, vectors = sys.argv[1:]
embedder = open_embedder("offline")
if vectors:
    known, number = np.load(vectors), lambda text: int(text.split()[0]) if text[0].isdigit() else 0
    type(embedder).embed_texts = lambda self, texts: known[[number(text) for text in texts]]
library = open_library(Path(root), embedder=embedder)
while library.status().comparing:
    time.sleep(0.1)
library.prepare_search()
print(json.dumps({}), flush=True)
for line in sys.stdin:
    first, moved, used = [], [], time.process_time()
    for text in json.loads(line):
        query = Query((Part(text=text),), fused=True)
        weights = dict(query.sliders)
        for facet in (None, *FACETS[1:]):
            if facet:
                weights = {**weights, facet: float(len(text) * 7 % 10 + 1)}
                query = Query(query.parts, fused=True, weights=weights)
            began = time.perf_counter()
            library.search(query)
            (moved if facet else first).append(1000 * (time.perf_counter() - began))
    used = time.process_time() - used
    answer = {"first": first, "moved": moved, "processor": [1000 * used / len(first)]}
    print(json.dumps(answer), flush=True)
"""

_LOAD = """
import asyncio, json, random, sys, time
from pathlib import Path
from bench.load_session import GRID, Session
from store.catalog.filters import Filter
from store.runtime import open_reader

async def main(url, root, people):
    with open_reader(Path(root)) as reader:
        queue = [(one.address, one.revision) for one in reader.find(Filter(tier="pending"))]
        drafted = [(one.address, one.revision) for one in reader.find(Filter(tier="approved"), limit=20)]
    random.Random(1).shuffle(queue)
    tabs = [Session(url, f"p{n:04}@bench", "review") for n in range(people)]
    tabs += [Session(url, f"q{n:04}@bench", "search", "q=frog") for n in range(people)]
    for tab in tabs:
        await tab.open()
    print(json.dumps({}), flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        durable, slider, draft = [], [], []
        async def review(tab):
            for _ in range(5):
                durable.append(1000 * await tab.decide("approve", *queue.pop()))
                await asyncio.sleep(0.2)
        async def search(tab):
            for number in range(3):
                slider.append(1000 * await tab.move_slider("entity", random.randint(1, 10)))
                began = time.perf_counter()
                await tab.draft(*drafted[number])
                draft.append(1000 * (time.perf_counter() - began) / 2)
        await asyncio.gather(*map(review, tabs[:people]), *map(search, tabs[people:]))
        errors = [error for tab in tabs for error in tab.errors]
        answer = {"durable": durable, "slider": slider, "draft": draft, "errors": errors}
        print(json.dumps(answer), flush=True)

url, root, people = sys.argv[1:]
asyncio.run(main(url, root, int(people)))
"""


@dataclass(frozen=True)
class Version:
    """A program in a folder, with copies of the libraries for itself."""

    name: str
    program: Path
    libraries: Path

    @contextmanager
    def worker(self, script: str, *arguments: str) -> Iterator[Callable[[object], dict[str, Any]]]:
        """A process of this version that answers lines; it is ready when the block begins."""
        process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments], cwd=self.program, env=_settings(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin
        assert process.stdout
        lines, questions = process.stdout, process.stdin

        def ask(question: object) -> dict[str, Any]:
            print(json.dumps(question), file=questions, flush=True)
            return dict(json.loads(lines.readline()))

        try:
            json.loads(lines.readline())
            yield ask
        finally:
            questions.close()
            process.wait(60)

    def run(self, *command: str) -> None:
        """Wait for a command of this version."""
        subprocess.run([sys.executable, *command], cwd=self.program, env=_settings(), check=True)

    def dashboard(self, root: Path) -> AbstractContextManager[Server]:
        people = f"--server.trustedUserHeaders={json.dumps(HEADERS)}"
        return serve(root, program=self.program, more=[people])


def _settings() -> Mapping[str, str]:
    return {
        **os.environ,
        "MEMEDEX_EMBEDDER": MODEL,
        "MEMEDEX_CHROMA": "off",
        "MEMEDEX_READ_PICTURES": "false",
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, required=True, help="the folder of the earlier version")
    parser.add_argument("--keep", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--people", type=int, default=5, help="tabs that review, and as many that search")
    options = parser.parse_args()
    keep = options.keep.resolve()
    before = Version("before", options.before.resolve(), keep / "before")
    now = Version("now", PROJECT, keep / "now")
    _make_libraries(before, keep / "made")
    print(f"{machine()}; {options.turns} turns\n")
    print_head("what", "before", "now", "ratio, median (quartiles)")
    for part in options.parts:
        library, measure = PARTS[part]
        with browsing() as browser, ExitStack() as stack:
            turns = []
            for version in (before, now):
                shutil.rmtree(version.libraries, ignore_errors=True)
                root = version.libraries / library
                version.libraries.mkdir()
                subprocess.run(
                    ["cp", "-a", str(keep / "made" / library), str(root)], check=True
                )  # with its links
                turns.append(stack.enter_context(measure(version, root, browser, options.people)))
            measured: list[list[Figures]] = [[], []]
            for number in range(options.turns + 1):
                for which in (0, 1) if number % 2 else (1, 0):
                    figures = turns[which](number)
                    if number:  # the first turn warms up
                        measured[which].append(figures)
            _show(part, *measured)


def _make_libraries(version: Version, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "demo").exists():
        version.run("-m", "store", "--root", str(folder / "demo"), "demo")
    for name, module, call in (
        ("load", "load_library", "prepared(root, 10_000)"),
        ("search", "million_library", "made(root, 100_000, kind='captions')"),
    ):
        script = (
            f"import sys, pathlib; from bench.{module} import *; root = pathlib.Path(sys.argv[1]); {call}"
        )
        version.run("-c", script, str(folder / name))


def _show(part: str, before: list[Figures], now: list[Figures]) -> None:
    for name in before[0]:
        pairs = np.array(
            [(np.median(one[name]), np.median(other[name])) for one, other in zip(before, now, strict=True)]
        )
        low, middle, high = np.quantile(pairs[:, 1] / pairs[:, 0], (0.25, 0.5, 0.75))
        medians = (f"{value:,.1f} ms" for value in np.median(pairs, axis=0))
        print_row(f"{part}: {name}", *medians, f"{middle:.2f} ({low:.2f}–{high:.2f})")


Turn = Callable[[int], Figures]


@contextmanager
def _search(version: Version, root: Path, *_: object) -> Iterator[Turn]:
    vectors = ""  # the demo's questions are embedded by its model
    if root.name == "search":
        vectors = str(version.libraries / "questions.npy")
        np.save(vectors, questions("captions", count=60))
    with version.worker(_SEARCH, str(root), vectors) as ask:

        def turn(number: int) -> Figures:
            random = np.random.default_rng(number)
            words = [f"{random.choice(_MANNERS)} {random.choice(_SUBJECTS)}" for _ in range(_ASKED)]
            if vectors:
                words = [f"{random.integers(60)} babble" for _ in range(_ASKED)]
            found = ask([f"{text} {number}" for text in words])
            return {
                "a new question": found["first"],
                "a weight changed": found["moved"],
                "processor, a question and four weights": found["processor"],
            }

        yield turn


@contextmanager
def _clicks(version: Version, root: Path, browser: Browser, _: int) -> Iterator[Turn]:
    with version.dashboard(root) as server:
        page = new_page(browser)
        page.goto(f"{server.url}/review")
        page.wait_for_selector(".card.loaded")
        page.eval_on_selector(".memedex-grid", CLOCK)

        def turn(_: int) -> Figures:
            used = server.seconds_used()
            page.evaluate("measured.length = 0")
            for pressed in range(1, _PRESSES + 1):
                page.keyboard.press("a")
                page.wait_for_function(DECIDED, arg=pressed)
            page.wait_for_timeout(_QUIET * 1000)
            measured = page.evaluate("measured")
            used = server.seconds_used() - used
            return {
                "key → next card": [one["moved"] for one in measured],
                "key → durable decision": [one["durable"] for one in measured],
                "processor of the server, a decision": [1000 * used / _PRESSES],
            }

        yield turn


@contextmanager
def _load(version: Version, root: Path, _: Browser, people: int) -> Iterator[Turn]:
    with (
        version.dashboard(root) as server,
        version.worker(_LOAD, server.url, str(root), str(people)) as ask,
    ):

        def turn(_: int) -> Figures:
            used = server.seconds_used()
            found = ask("a turn")
            time.sleep(_QUIET)
            used = server.seconds_used() - used
            if found["errors"]:
                raise SystemExit(f"{version.name}: {found['errors'][:5]}")
            acts = len(found["durable"]) + len(found["slider"]) + len(found["draft"])
            return {
                "key → durable decision": found["durable"],
                "slider → missing cards": found["slider"],
                "a draft kept": found["draft"],
                "processor of the server, an act": [1000 * used / acts],
            }

        yield turn


Measure = Callable[[Version, Path, Browser, int], AbstractContextManager[Turn]]
# The library of each part, and what is done in it.
PARTS: dict[str, tuple[str, Measure]] = {
    "demo": ("demo", _search),
    "search": ("search", _search),
    "clicks": ("load", _clicks),
    "load": ("load", _load),
}


if __name__ == "__main__":
    main()
