"""Every verb that changes a library, with the setup it needs, for records in every tier."""

from collections.abc import Callable
from dataclasses import dataclass

from store.library import Library
from store.outcome import Outcome
from tests.store.conftest import address, coin, written

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


def import_three(library: Library) -> Outcome:
    return library.add(coin(number) for number in (10, 11, 12))


def recaption(library: Library) -> Outcome:
    return library.caption(PROMOTED[0], caption={"entity": "quite another", "visual": ""}, tags=["moon"])


CASES = {
    "import": Case(import_three),
    "approve": Case(lambda library: library.approve(PENDING)),
    "return": Case(lambda library: library.send_back(APPROVED)),
    "reject": Case(lambda library: library.reject([*PENDING, *APPROVED], reason="a copy")),
    "promote": Case(lambda library: library.promote(CAPTIONED)),
    "degrade": Case(lambda library: library.degrade(PROMOTED)),
    "delete": Case(lambda library: library.delete([*PENDING, *PROMOTED])),
    "restore": Case(lambda library: library.restore(TRASH)),
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
