"""How fast captions are drafted and coins promoted by jobs, as Markdown tables.

    python -m bench.drafting --coins 160 --promoted 200

Drafting calls a server on loopback, through litellm, that answers each request after one second: the gap to
`lanes` requests a second is the program's own time. Promotion runs as a job with the `offline`
model, and again with one that answers at once, which is the store's own time.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.library import Instant, coins
from store.catalog.filters import Filter
from store.embedding import open_embedder
from store.embedding.protocol import Embedder
from store.jobs import Job
from store.library import Library
from store.runtime import open_library
from store.settings import settings
from store.tasks.draft_start import plan_drafting, start
from tests.store.language_model_server import GOOD, running, says

ANSWERS_AFTER = 1.0  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coins", type=int, default=160, help="drafted with each number of lanes")
    parser.add_argument("--lanes", type=int, nargs="+", default=[1, 8, 16])
    parser.add_argument("--promoted", type=int, default=200, help="with the offline model")
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| drafting, answers after 1 s | coins | seconds | coins a second | processor, ms a coin |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for lanes in options.lanes:
        count = min(options.coins, 20 * lanes)
        seconds, processor = drafted(count, lanes)
        each = 1000 * processor / count
        print(
            f"| {lanes} at once | {count} | {seconds:.1f} | {count / seconds:.2f} | {each:.0f} |", flush=True
        )
    print("\n| promoting as a job | coins | seconds | coins a second |")
    print("| --- | ---: | ---: | ---: |")
    offline = open_embedder("offline")
    offline.warm()
    for name, embedder, count in (
        ("with the offline model", offline, options.promoted),
        ("with a model that answers at once", Instant(), 10 * options.promoted),
    ):
        seconds = promoted(count, embedder)
        print(f"| {name} | {count:,} | {seconds:.1f} | {count / seconds:,.1f} |", flush=True)


def drafted(count: int, lanes: int) -> tuple[float, float]:
    """Seconds from the first question to the last suggestion, and of the processor, the server included."""
    with running() as model, library_of(count, Instant(), captions=False) as library:
        answer = says(json.dumps(GOOD))
        answer.after = ANSWERS_AFTER
        model.answers = [answer]
        os.environ |= {"OPENAI_API_KEY": "none", "MEMEDEX_CAPTION_MODEL": "openai/gpt-4o-mini"}
        os.environ["MEMEDEX_CAPTION_API_BASE"] = model.address
        settings.cache_clear()
        plan = plan_drafting(library, library.addresses(Filter(tier="approved")))
        before = time.process_time()
        seconds = wait_until_done(library, start(library, plan, lanes=lanes))
        return seconds, time.process_time() - before


def promoted(count: int, embedder: Embedder) -> float:
    with library_of(count, embedder, captions=True) as library:
        addresses = library.addresses(Filter(tier="approved"))
        return wait_until_done(
            library, library.jobs.start("move", addresses, name="x", options={"verb": "promote"})
        )


def wait_until_done(library: Library, job: Job) -> float:
    library.jobs.wait(job.id)
    found = library.jobs.get(job.id)
    assert found
    assert (found.state, found.refused) == ("done", 0), found
    return found.worked


@contextmanager
def library_of(count: int, embedder: Embedder, *, captions: bool) -> Iterator[Library]:
    """Approved coins, without Chroma."""
    with (
        tempfile.TemporaryDirectory(prefix="memedex-bench-") as folder,
        open_library(Path(folder), embedder=embedder) as library,
        patch.object(library._follower, "wake"),
    ):
        library.add(candidate if captions else without_caption(candidate) for candidate in coins(count))
        library.approve(library.addresses(Filter(tier="pending")))
        yield library


def without_caption(candidate: Any) -> Any:
    candidate.sidecar.pop("caption", None)
    return candidate


if __name__ == "__main__":
    began = time.monotonic()
    main()
    print(f"\n{time.monotonic() - began:.0f} seconds in all")
