"""A killed promotion and a killed drafting run continue where they stopped, and do nothing twice."""

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.disk.layout import Layout
from store.runtime import open_library
from store.settings import settings
from store.tasks.draft import plan_drafting, start
from tests.store.conftest import address, approved_with_caption, coin
from tests.store.hashed import Hashed
from tests.store.invariants import holds
from tests.store.language_model_server import GOOD, Answer, LanguageModelServer, running, says
from tests.waiting import eventually

pytestmark = pytest.mark.kills
PROGRAM = Path(__file__).resolve().parents[3]
COUNT = 160
KILLS = 3
GO_ON = """
import signal, sys
from pathlib import Path
from store.chroma.follower import ChromaFollower
from store.runtime import open_library, open_reader
from tests.store.hashed import Hashed
ChromaFollower.wake = lambda self: None
library = open_library(Path(sys.argv[1]), embedder=Hashed())
library.jobs.resume_interrupted()
print("going", flush=True)
for job in library.jobs.under_way():
    library.jobs.wait(job.id)
print("done", flush=True)
signal.pause()
"""


def kill_while_resuming(root: Path, *, once: Callable[[], bool]) -> bool:
    """Resume the jobs in a process, kill it once `once` holds, and return whether it was still working."""
    command = [sys.executable, "-c", GO_ON, str(root)]
    with subprocess.Popen(command, cwd=PROGRAM, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "going\n"
        came = eventually(once, every=0.001)
        os.kill(process.pid, signal.SIGKILL)
        assert came, "it did not come so far"
        return "done" not in process.stdout.read()


def test_a_killed_promotion_continues_where_it_stopped(quick_root: Path, without_chroma: None) -> None:
    with open_library(quick_root, embedder=Hashed()) as library:
        addresses = approved_with_caption(library, *range(COUNT))
        with library.catalog.writing() as db:
            db.execute("CREATE TABLE never_twice (address TEXT UNIQUE)")
            db.execute(
                "CREATE TRIGGER once AFTER INSERT ON history WHEN new.verb = 'promote' "
                "BEGIN INSERT INTO never_twice VALUES (new.address); END"
            )
        library.jobs._runner.close()  # type: ignore[union-attr]  the job is only stored, not run
        job = library.jobs._repository.add("move", "Promote", addresses, {"verb": "promote"}, actor="ann")
    promoted = Layout(quick_root).sidecar_folder("library")

    def has_promoted(count: int) -> bool:
        return sum(1 for _ in promoted.glob("*.json")) >= count

    moments = sorted(random.Random(3).sample(range(1, COUNT - 64), KILLS))
    cut = sum(kill_while_resuming(quick_root, once=partial(has_promoted, count)) for count in moments)
    assert cut >= 1, "it was killed while it worked"
    with open_library(quick_root, embedder=Hashed()) as library:
        library.jobs.resume_interrupted()
        assert library.jobs.wait(job, timeout=60)
        over = library.jobs.get(job)
        assert over
        assert (over.state, over.done, over.refused) == ("done", COUNT, 0)
        assert library.counts()["library"] == COUNT
        with library.catalog.reading() as db:
            assert db.execute("SELECT count(*) FROM never_twice").fetchone()[0] == COUNT
        assert {event.decision for event in library.history(limit=COUNT)} == {over.decision}
        holds(library)
        library.undo(actor="ann")
        assert library.count(Filter(tier="approved")) == COUNT


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch):
    with running() as server:
        monkeypatch.setenv("MEMEDEX_CAPTION_MODEL", "openai/gpt-4o-mini")
        monkeypatch.setenv("MEMEDEX_CAPTION_API_BASE", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        settings.cache_clear()
        yield server
    settings.cache_clear()


def test_a_killed_drafting_run_repeats_only_the_requests_in_progress(
    quick_root: Path, without_chroma: None, model: LanguageModelServer
) -> None:
    lanes, count = 4, 60
    slow: Answer = says(json.dumps(GOOD))
    slow.after = 0.05
    model.answers = [slow]
    with open_library(quick_root, embedder=Hashed()) as library:
        library.add(coin(number) for number in range(count))
        library.approve([address(number) for number in range(count)])
        library.jobs._runner._is_closing = True  # type: ignore[union-attr]  the job is only stored, not run
        job = start(library, plan_drafting(library, library.addresses(Filter())), lanes=lanes)
    assert kill_while_resuming(quick_root, once=lambda: len(model.requests) >= count // 3)
    with open_library(quick_root, embedder=Hashed()) as library:
        library.jobs.resume_interrupted()
        assert library.jobs.wait(job.id, timeout=60)
        over = library.jobs.get(job.id)
        assert over
        assert (over.state, over.done) == ("done", count)
        for one in library.addresses(Filter()):
            kept = library.suggestions.of(one, states=["open", "replaced"])
            assert [each.facet for each in kept].count("entity") == 1
    requests = Counter(str(each["messages"][0]["content"][0]["text"]) for each in model.requests)
    assert len(requests) == count
    assert sum(requests.values()) <= count + lanes
