"""A co-pilot that was taught: coins that a person decided by a plain habit, and coins that wait."""

from dataclasses import replace
from typing import Any

from store.catalog import advice
from store.importing.candidate import Candidate
from store.library import Library
from store.progress import Progress
from store.rules import copilot
from store.rules.rule import Rule, checked, plain
from store.runtime import LibraryRuntime
from tests.store.conftest import address, coin

GOOD, BAD = "a frog on the moon", "a scam of a rug"
TAUGHT = range(60)
NEW = range(100, 140)
BLIND = 119  # one of these
DAY = 86_400.0


def taught(number: int, **more: Any) -> Candidate:
    """A coin that people approve if its number is even."""
    return coin(number, description=BAD if number % 2 else GOOD, holders=10 if number % 2 else 900, **more)


def judge(**values: Any) -> Rule:
    """The co-pilot's rule, changed by these values; it bears 20 %, since few decisions teach it here."""
    return checked({**plain(replace(copilot.usual(), promise=0.8)), **values})


def decide(library: Library, numbers: range, *, actor: str = "ann") -> None:
    """Approve even coins and reject odd ones, some at a time."""
    for start in range(numbers.start, numbers.stop, 10):
        some = range(start, min(start + 10, numbers.stop))
        library.approve([address(number) for number in some if number % 2 == 0], actor=actor)
        library.reject([address(number) for number in some if number % 2], actor=actor)


def looked(library: Library) -> None:
    """Everything that a dashboard's workers do before the co-pilot looks."""
    assert isinstance(library, LibraryRuntime)
    library.embed_new(progress=Progress())
    library.picture_faults.look(progress=Progress())
    with library.catalog.writing() as db:
        db.execute("DELETE FROM unexamined")  # no two of these pictures are alike


def days_ago(library: Library, days: float) -> None:
    """As if it had first learned, and said all it said, so many days ago."""
    with library.catalog.writing() as db:
        db.execute("UPDATE copilots SET at = at - ?", [days * DAY])
        db.execute("UPDATE advice SET at = at - ?", [days * DAY])


def past_moment(library: Library) -> float:
    """A moment in the week in which it watched."""
    with library.catalog.reading() as db:
        first = advice.first_at(db)
    assert first is not None
    return first + 2 * DAY
