"""What is lost between a click and the library, in a real Chromium over a real server, as a Markdown table.

    python -m bench.clicks --keep /some/folder                # everything, at a person's pace: hours
    python -m bench.clicks --keep /some/folder --pace double --load
    python -m bench.clicks --keep /some/folder --shard 3/8    # an eighth; the table adds up all shards
    python -m bench.clicks --dialogs 20 --pages 20 --decisions 20 --forms 20 --idle 10

Needs Chromium and `requirements-test.txt`; see bench/README.md.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import TimeoutError as TooLate

from bench import clicks_idle
from bench.chromium import chromium
from bench.clicks_app import Server, busy_processors, copied, prepared, serve
from bench.clicks_forms import AddedMemories, EntryDialogs, SavedSearches, TakenSuggestions
from bench.clicks_grid import Decisions, TagDialogs
from bench.clicks_pages import PageChanges
from bench.clicks_person import FAULTS, REST, ActionFailed, Person, Scene, Tally
from bench.search import machine

SCENES: dict[str, Sequence[type[Scene]]] = {
    "dialogs": (EntryDialogs, TagDialogs),
    "pages": (PageChanges,),
    "decisions": (Decisions,),
    "forms": (SavedSearches, AddedMemories, TakenSuggestions),
}
COUNTS = {"dialogs": 2_000, "pages": 2_000, "decisions": 2_000, "forms": 500}
IDLE = 50  # pages
# A tab in the background keeps its timers, as if each had a screen of its own.
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
)


def main() -> None:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # so that all that was started ends as well
    with tempfile.TemporaryDirectory() as folder:
        keep = options.keep or Path(folder)
        template = prepared(keep / f"library-{options.pending}", options.pending)
        results = options.results or keep / "results"
        with busy_processors(options.load and not options.is_part):
            if options.parallel:
                run_parts(options, keep, results)
            else:
                run(template, results, options)
        if options.is_part:
            return
        print(f"\n{machine()}\n")
        print(table(results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for kind, count in COUNTS.items():
        parser.add_argument(f"--{kind}", type=int, default=count, metavar="N")
    parser.add_argument("--idle", type=int, default=IDLE, metavar="N", help="idle pages")
    parser.add_argument("--pace", choices=REST, default="person")
    parser.add_argument("--load", action="store_true", help="two processes compute all the time meanwhile")
    parser.add_argument("--shard", type=_shard, default=(1, 1), metavar="K/N", help="only this part of it")
    parser.add_argument(
        "--parallel", type=int, metavar="N", help="so many parts at once, each with a browser"
    )
    parser.add_argument("--parts", type=int, default=12, metavar="N", help="of which --parallel does all")
    parser.add_argument("--is-part", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds until something is lost or stuck")
    parser.add_argument("--pending", type=int, default=4_000, help="coins in Review at the beginning")
    parser.add_argument("--keep", type=Path, help="where the prepared library and the results are kept")
    parser.add_argument("--results", type=Path, help="where the results are kept instead")
    return parser.parse_args()


def _shard(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not 1 <= int(number) <= int(of):
        raise argparse.ArgumentTypeError("such as 1/4 to 4/4")
    return int(number), int(of)


def run_parts(options: argparse.Namespace, keep: Path, results: Path) -> None:
    """Do all parts, so many at once, each in a process with a dashboard and a browser of its own.

    Raises SystemExit if one broke off; what the others did is kept, and the same command goes on with it.
    """
    given = ["--pace", options.pace, "--seed", options.seed, "--limit", str(options.limit)]
    given += ["--keep", str(keep), "--results", str(results), "--pending", str(options.pending)]
    for kind in (*SCENES, "idle"):
        given += [f"--{kind}", str(getattr(options, kind))]
    command = [sys.executable, "-m", "bench.clicks", *given, *["--load"] * options.load, "--is-part"]
    with ThreadPoolExecutor(options.parallel) as pool:
        shards = [f"{number}/{options.parts}" for number in range(1, options.parts + 1)]
        codes = pool.map(
            lambda shard: subprocess.run([*command, "--shard", shard], check=False).returncode, shards
        )
    if any(codes):
        raise SystemExit("a part broke off: give the same command again")


def run(template: Path, results: Path, options: argparse.Namespace) -> None:
    """Do this shard's share of each kind; what an earlier run has finished already is not done again."""
    number, of = options.shard
    name = f"{options.pace}-{'load' if options.load else 'free'}-{options.seed}-{number}-of-{of}"
    path = results / f"{name}.json"
    (results / name).mkdir(parents=True, exist_ok=True)
    known: dict[str, Any] = {"pace": options.pace, "load": options.load, "kinds": {}, "idle": None}
    known = json.loads(path.read_text()) if path.exists() else known
    shares = {kind: _share(getattr(options, kind), number, of) for kind in SCENES}
    wanted = {kind: share for kind, share in shares.items() if share > _done(known, kind)}
    idles = bool(options.idle) and number == of and not known["idle"]
    if not wanted and not idles:
        return
    with tempfile.TemporaryDirectory() as folder:
        root = copied(template, Path(folder) / "library")
        with serve(root) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=[*_ARGUMENTS])
            for kind, share in wanted.items():
                known["kinds"][kind] = act(
                    browser, server, kind, share, results / name, f"{name} {kind}", options
                )
                path.write_text(json.dumps(known, indent=1))
            if idles:
                known["idle"] = asdict(clicks_idle.measure(browser, server, options.idle))
                path.write_text(json.dumps(known, indent=1))
            browser.close()


def _share(count: int, number: int, of: int) -> int:
    return count * number // of - count * (number - 1) // of


def _done(known: dict[str, Any], kind: str) -> int:
    return int(known["kinds"].get(kind, {"done": 0})["done"])


def act(
    browser: Browser,
    server: Server,
    kind: str,
    count: int,
    shots: Path,
    seed: str,
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Do one kind of action so many times, block by block; returns what is written down of it."""
    with browser.new_context(viewport={"width": 1440, "height": 1000}) as context:
        person = Person(context.new_page(), server, pace=options.pace, limit=options.limit, seed=seed)
        errors_before = len(server.errors())
        tally = Tally()
        scenes = [scene(person, tally) for scene in SCENES[kind]]
        turn = 0
        while tally.done < count:
            scene = scenes[turn % len(scenes)]
            block = min(scene.block, -(-count // len(scenes)), count - tally.done)
            _do(scene, block, tally, shots)
            turn += 1
        for scene in scenes:
            scene.check_at_the_end()
        print(f"{seed}: {tally.done} done, {dict(tally.faults) or 'no fault'}", flush=True)
        return {**vars(tally), "console": person.errors.errors, "server": server.errors()[errors_before:]}


def _do(scene: Scene, block: int, tally: Tally, shots: Path) -> None:
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
            fault = error.fault if isinstance(error, ActionFailed) else "stuck"
            tally.fail(fault, f"{type(scene).__name__} {tally.done}: {error}")
            scene.person.screenshot(shots / f"{scene.kind}-{tally.done}-{fault}.png")
            is_open = False
    scene.close()


def table(results: Path) -> str:
    """What all shards in this folder came to, a row for each kind, pace and load."""
    sums: dict[tuple[str, str, bool], list[dict[str, Any]]] = {}
    idle = []
    for path in sorted(results.glob("*.json")):
        known = json.loads(path.read_text())
        for kind, found in known["kinds"].items():
            sums.setdefault((kind, known["pace"], known["load"]), []).append(found)
        if known["idle"]:
            idle.append(f"| {_yes(known['load'])} {clicks_idle.Idle(**known['idle']).cells}")
    lines = [
        "| what | pace | both cores busy | done | lost | stuck | empty | done twice | errors "
        "| seconds, median (95 %) |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for (kind, pace, load), found in sums.items():
        done = sum(each["done"] for each in found)
        faults: Counter[str] = sum((Counter(each["faults"]) for each in found), Counter())
        errors = sum(len(each["console"]) + len(each["server"]) for each in found)
        seconds = np.array([second for each in found for second in each["seconds"]] or [np.nan])
        cells = [kind, pace, _yes(load), f"{done:,}", *(str(faults[fault]) for fault in FAULTS)]
        spread = f"{np.median(seconds):.2f} ({np.quantile(seconds, 0.95):.2f})"
        lines.append(f"| {' | '.join(cells)} | {errors} | {spread} |")
    if idle:
        lines += ["", "| both cores busy | idle pages | script runs | requests | processor |"]
        lines += ["| --- | ---: | ---: | ---: | ---: |", *idle]
    return "\n".join(lines)


def _yes(load: bool) -> str:
    return "yes" if load else "no"


if __name__ == "__main__":
    main()
