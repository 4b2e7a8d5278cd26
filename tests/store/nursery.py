"""Processes that write until killed: `python -m tests.store.nursery ROOT`, with commands on standard input.

    quick SEED      a child that writes until it is killed, without Chroma
    chroma SEED     the same with Chroma; it prints "chroma" when Chroma has the first promotion

The children are forked from a process that has imported everything, so that they write from the start.
Each prints JSON lines: {"begin": {address: [tier, entity]}} before a verb, with its expected result,
and {"done": true} after it.
"""

import json
import os
import random
import sys
import tempfile
from pathlib import Path

import chromadb  # noqa: F401  imported once, for all children

from store.catalog.filters import Filter
from store.chroma.collections import INDEX
from store.chroma.follower import ChromaFollower
from store.runtime import open_library
from tests.store.conftest import coin
from tests.store.hashed import Hashed

COINS = 24


def say(**line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def write_until_killed(root: Path, seed: int, *, chroma: bool) -> None:
    chance = random.Random(seed)
    INDEX.update(batch_size=2, sync_threshold=2)  # Chroma writes its index often
    if not chroma:
        ChromaFollower.wake = lambda self: None  # type: ignore[method-assign]
    library = open_library(root, embedder=Hashed())
    say(ready=True)
    waits = chroma  # wait for Chroma only once: waiting slows the writer
    while True:
        records = {record.address: record for record in library.find(Filter())}
        now = {key: [record.tier, record.caption.get("entity", "")] for key, record in records.items()}
        some = chance.sample(sorted(records), min(len(records), chance.randint(1, 5)))
        verb = chance.choice(
            ["import", "approve", "caption", "caption", "promote", "promote", "degrade", "undo"]
        )
        if verb == "import":
            coins = [coin(number) for number in chance.sample(range(COINS), 3)]
            fresh = [made.sidecar["token_address"] for made in coins]
            say(begin={key: ["pending", ""] for key in fresh if key not in records})
            library.add(coins)
        elif verb == "caption" and some:
            text = f"text {chance.random()}"
            say(begin={some[0]: [now[some[0]][0], text]})
            library.caption(some[0], caption={"entity": text, "context": f"about {text}"})
        elif verb == "undo":
            events = library.history(decision=library.decisions(limit=1)[0].id) if library.decisions() else []
            if not events or events[0].verb != "approve":
                continue
            say(begin={event.address: [event.before_tier, now[event.address][1]] for event in events})
            library.undo()
        else:
            moves = {"approve": "pending", "promote": "approved", "degrade": "library"}
            goals = {"approve": "approved", "promote": "library", "degrade": "approved"}
            fit = [
                key
                for key in some
                if now[key][0] == moves.get(verb) and (verb != "promote" or records[key].is_captioned)
            ]
            if not fit:
                continue
            say(begin={key: [goals[verb], now[key][1]] for key in fit})
            getattr(library, verb)(fit)
        say(done=True)
        if waits and verb == "promote":
            assert library.wait_for_chroma(60)
            say(chroma=True)
            waits = False


def warm_up() -> None:
    """Import what the verbs import when they are first used."""
    with tempfile.TemporaryDirectory() as folder, open_library(Path(folder), embedder=Hashed()) as library:
        library.add([coin(0)])
        library.caption(coin(0).sidecar["token_address"], caption={"entity": "warm"})


def main(root: Path) -> None:
    warm_up()
    for line in sys.stdin:
        kind, seed = line.split()
        child = os.fork()
        if not child:
            write_until_killed(root, int(seed), chroma=kind == "chroma")
        say(born=child)
        os.waitpid(child, 0)
        say(dead=child)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
