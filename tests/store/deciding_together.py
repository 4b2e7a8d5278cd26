"""A process in which six people decide at the same time until it is killed; it prints the decisions.

python -m tests.store.deciding_together FOLDER
"""

import os
import random
import sys
import threading
from pathlib import Path

from store.chroma.follower import ChromaFollower
from store.library import Library
from store.permissions import Actor
from store.runtime import open_library
from tests.store.conftest import address
from tests.store.hashed import Hashed

PEOPLE, COINS = 6, 36
VERBS = ("approve", "send_back", "reject", "restore")


def decide(library: Library, person: int) -> None:
    """Decide for ever about this person's coins, each line written at once."""
    chance = random.Random(person)
    while True:
        coin = address(chance.randrange(COINS // PEOPLE) * PEOPLE + person)
        if chance.random() < 0.3:
            outcome = library.edit_tags([coin], add=[chance.choice(("moon", "dog"))])
        else:
            outcome = getattr(library, chance.choice(VERBS))([coin])
        if outcome.decision:
            os.write(1, f"{outcome.decision}\n".encode())


def main() -> None:
    ChromaFollower.wake = lambda self: None  # type: ignore[method-assign]
    library = open_library(Path(sys.argv[1]), embedder=Hashed())
    people = [
        threading.Thread(target=decide, args=[library.for_actor(Actor(f"person {number}")), number])
        for number in range(PEOPLE)
    ]
    for person in people:
        person.start()


if __name__ == "__main__":
    main()
