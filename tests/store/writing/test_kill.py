"""A writing process killed at any moment: every acknowledged change is stored, and none is half done."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from store.catalog.filters import Filter
from store.chroma.catalog_source import faults as differences
from store.chroma.follower import ChromaFollower
from store.library import Library
from store.runtime import open_library
from tests.length import repeated
from tests.store.conftest import coin
from tests.store.deciding_together import COINS
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars, contents, holds

pytestmark = pytest.mark.kills
KILLS = repeated(30)
FEW = 10  # kills, of which each may come between two verbs
MOST = 20  # finished verbs before the kill, which interrupts another one
LONGEST = 0.01  # seconds after the last of them; a verb takes some milliseconds
PROGRAM = Path(__file__).resolve().parents[3]

States = dict[str, list[str]]


@pytest.fixture
def nursery(root: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.store.nursery", str(root)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=PROGRAM) as process:
        yield process
        process.kill()


def test_a_process_killed_at_any_moment_keeps_all_acknowledged_changes(
    nursery: subprocess.Popen[str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(20)
    expected: States = {}
    verbs = cut_short = 0
    for number in range(KILLS):
        kind = "chroma" if number % 10 == 2 else "quick"
        lines = killed(nursery, f"{kind} {number}", chance=chance)
        before, after, acknowledged = expected_states(lines, expected)
        verbs += acknowledged
        cut_short += before != after
        with monkeypatch.context() as patch:
            patch.setattr(ChromaFollower, "wake", lambda self: None)
            with open_library(root, embedder=Hashed()) as library:
                found = states(library)
                assert found in (before, after), f"kill {number}"
                expected = found
                kept = contents(library)
                holds(library)
            with open_library(root, embedder=Hashed()) as library:
                assert contents(library) == kept, "recovering twice equals once"
    assert verbs > 5 * KILLS, "it was killed while it worked, not while it began"
    assert cut_short > KILLS / 5 or KILLS < FEW, "and often in the middle of something"

    with open_library(root, embedder=Hashed()) as library:
        assert library.wait_for_chroma(120)
        assert library.counts()["library"]
    chroma_agrees_with_the_sidecars(root, Hashed())
    assert differences(root) == []


@pytest.mark.usefixtures("without_chroma")
def test_decisions_of_several_people_survive_a_kill_at_any_moment(root: Path) -> None:
    chance, kept = random.Random(5), 0
    with open_library(root, embedder=Hashed()) as library:
        library.add(coin(number) for number in range(COINS))
    for _ in range(max(3, KILLS // 6)):
        command = [sys.executable, "-m", "tests.store.deciding_together", str(root)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROGRAM) as people:
            assert people.stdout
            acknowledged = [people.stdout.readline() for _ in range(chance.randrange(1, 60))]
            people.send_signal(signal.SIGKILL)
            acknowledged += [line for line in people.stdout if line.endswith("\n")]
        with open_library(root, embedder=Hashed()) as library:
            holds(library)
            assert not library.status().applying
            made = {event.decision for event in library.history(limit=-1)}
            assert {line.strip() for line in acknowledged} <= made
        kept += len(acknowledged)
    assert kept > 3 * KILLS


def killed(nursery: subprocess.Popen[str], order: str, *, chance: random.Random) -> list[dict[str, Any]]:
    """The output of a writer until SIGKILL ended it at a random moment."""
    assert nursery.stdin
    assert nursery.stdout
    nursery.stdin.write(order + "\n")
    nursery.stdin.flush()
    verbs, moment = chance.randrange(MOST), chance.uniform(0, LONGEST)
    ready = "chroma" if order.startswith("chroma") else "ready"  # only after it has started
    lines: list[dict[str, Any]] = []
    timer: threading.Timer | None = None
    child = 0
    left = -1  # verbs left before the kill, once the writer is ready
    for text in nursery.stdout:
        line = json.loads(text)
        child = line.get("born", child)
        if "dead" in line:
            break
        lines.append(line)
        if ready in line:
            left = verbs
        elif "done" in line and left > 0:
            left -= 1
        if left == 0 and child and timer is None:
            timer = threading.Timer(moment, os.kill, (child, signal.SIGKILL))
            timer.start()
    assert timer
    timer.join()
    return lines


def expected_states(lines: list[dict[str, Any]], known: States) -> tuple[States, States, int]:
    """The state before and after the interrupted verb, and the number of finished verbs."""
    before, under_way, done = dict(known), States(), 0
    for line in lines:
        if "begin" in line:
            under_way = line["begin"]
        if "done" in line:
            before |= under_way
            under_way = {}
            done += 1
    return before, before | under_way, done


def states(library: Library) -> States:
    return {
        record.address: [record.tier, record.caption.get("entity", "")] for record in library.find(Filter())
    }
