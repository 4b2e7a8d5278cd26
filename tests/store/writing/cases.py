"""Every verb that changes a library, with the setup it needs, for records in every tier."""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass

from store.library import Library
from store.outcome import Outcome
from tests.store.conftest import address, coin, written
from tests.store.world import PowerCut
from tests.waiting import eventually

PENDING = [address(0), address(1)]


APPROVED = [address(2), address(3)]


CAPTIONED = [address(4), address(5)]


PROMOTED = [address(6), address(7)]


TRASH = [address(8), address(9)]


@dataclass(frozen=True)
class Case:
    """A verb, and the setup it needs."""

    verb: Callable[[Library], Outcome]
    before: Callable[[Library], object] = lambda library: None
    erases: bool = False  # pictures of what is decided may be gone before the rest


def import_three(library: Library) -> Outcome:
    return library.add(coin(number) for number in (10, 11, 12))


def recaption(library: Library) -> Outcome:
    return library.caption(PROMOTED[0], caption={"entity": "quite another", "visual": ""}, tags=["moon"])


def decisions_of_three_people(library: Library) -> Outcome:
    """Two people decide while a third holds the lock, who then carries out all three decisions."""
    ways = [
        lambda: library.approve(PENDING[:1], actor="ann"),
        lambda: library.edit_tags([PENDING[1], *PROMOTED], add=["moon"], actor="ben"),
    ]
    outcomes: list[Outcome] = []
    queue = library._journal._group._queue

    def decide(way: Callable[[], Outcome]) -> None:
        with contextlib.suppress(PowerCut):
            outcomes.append(way())

    people = [threading.Thread(target=decide, args=[way]) for way in ways]
    try:
        with library.catalog.lock:
            for number, person in enumerate(people, start=1):
                person.start()
                assert eventually(lambda number=number: len(queue) == number, every=0.001)
            outcomes.append(library.send_back(APPROVED, actor="third"))
    finally:
        for person in people:
            person.join()
    return Outcome(
        [address for each in outcomes for address in each.done],
        [refusal for each in outcomes for refusal in each.refused],
    )


def empty_the_trash(library: Library) -> Outcome:
    done = library.trash.empty(expected=len(library.trash.contents().addresses))
    return Outcome(list(done.addresses), list(done.refused), failure=done.left)


CASES = {
    "import": Case(import_three),
    "approve": Case(lambda library: library.approve(PENDING)),
    "return": Case(lambda library: library.send_back(APPROVED)),
    "reject": Case(lambda library: library.reject([*PENDING, *APPROVED], reason="a copy")),
    "promote": Case(lambda library: library.promote(CAPTIONED)),
    "degrade": Case(lambda library: library.degrade(PROMOTED)),
    "delete": Case(lambda library: library.delete([*PENDING, *PROMOTED])),
    "restore": Case(lambda library: library.restore(TRASH)),
    "settle": Case(lambda library: library.move("settle reject", [*APPROVED, *PROMOTED], decision="settled")),
    "say what was thought of a coin": Case(
        lambda library: library.note("second reject", [*APPROVED, *TRASH])
    ),
    "undo what was said": Case(
        lambda library: library.undo(), lambda library: library.note("second reject", [*APPROVED, *TRASH])
    ),
    "empty the trash": Case(empty_the_trash, erases=True),
    "empty the trash of what was in the library": Case(
        empty_the_trash, lambda library: library.delete(PROMOTED), erases=True
    ),
    "decisions of three people": Case(decisions_of_three_people),
    "caption in approved": Case(lambda library: library.caption(CAPTIONED[0], caption=written("new"))),
    "caption in the library": Case(recaption),
    "tags in every tier": Case(
        lambda library: library.edit_tags([*PENDING, *CAPTIONED, *PROMOTED], add=["moon"], remove=["dog"])
    ),
    "undo an import": Case(lambda library: library.undo(), import_three),
    "undo a caption": Case(lambda library: library.undo(), recaption),
    "undo a promotion": Case(lambda library: library.undo(), lambda library: library.promote(CAPTIONED)),
    "undo a deletion": Case(lambda library: library.undo(), lambda library: library.delete(PROMOTED)),
    "undo what was changed since": Case(
        lambda library: library.undo(actor="first"),
        lambda library: (library.approve(PENDING, actor="first"), library.edit_tags(PENDING, add=["moon"])),
    ),
    "redo a caption": Case(lambda library: library.redo(), lambda lib: (recaption(lib), lib.undo())),
}
