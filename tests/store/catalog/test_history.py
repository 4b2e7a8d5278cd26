"""Every decision is recorded and can be undone and redone, even after a restart."""

import contextlib
import itertools
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.disk.files import Disk
from store.errors import NothingToUndo
from store.library import Library
from store.runtime import open_library
from store.writing import transitions
from tests.length import STRIDE
from tests.store.conftest import address, approved_with_caption, coin, written
from tests.store.hashed import Hashed
from tests.store.invariants import contents, holds
from tests.store.world import FaultInjector, PowerCut, abandon

FIRST, SECOND, THIRD = address(0), address(1), address(2)

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def root(quick_root: Path) -> Path:
    return quick_root


def tiers(library: Library) -> dict[str, str]:
    return {record.address: record.tier for record in library.find(Filter())}


@pytest.fixture
def ann(library: Library) -> Library:
    """A library with three coins imported by ann."""
    library.add([coin(0), coin(1), coin(2)], actor="ann")
    return library


def test_every_decision_records_its_actor_verb_record_and_reason(ann: Library) -> None:
    ann.approve([FIRST, SECOND], actor="ann")
    ann.reject([SECOND], reason="a copy of coin 0", actor="bob")
    event = ann.history(address=SECOND)[0]
    assert (event.verb, event.name, event.actor, event.reason) == (
        "reject",
        "Coin 1",
        "bob",
        "a copy of coin 0",
    )
    assert (event.before_tier, event.after_tier, event.is_undone) == ("approved", "trash", False)
    assert [(made.verb, made.actor, made.count) for made in ann.decisions()] == [
        ("reject", "bob", 1),
        ("approve", "ann", 2),
        ("import", "ann", 3),
    ]
    assert [event.address for event in ann.history(decision=ann.decisions()[1].id)] == [SECOND, FIRST]


VERBS: dict[str, Callable[[Library], object]] = {
    "approve": lambda library: library.approve([address(3)], actor="ann"),
    "return": lambda library: library.send_back([address(4)], actor="ann"),
    "reject": lambda library: library.reject([address(3), address(4)], actor="ann"),
    "promote": lambda library: library.promote([address(5)], actor="ann"),
    "degrade": lambda library: library.degrade([address(6)], actor="ann"),
    "delete": lambda library: library.delete([address(6)], actor="ann"),
    "restore": lambda library: library.restore([address(7)], actor="ann"),
    "caption": lambda library: library.caption(address(6), caption={"entity": "other"}, actor="ann"),
    "tags": lambda library: library.edit_tags([address(3), address(6)], add=["moon"], actor="ann"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_undo_and_redo_restore_the_exact_content(library: Library, verb: str) -> None:
    library.add([coin(3), coin(4)])
    library.approve([address(4)])
    library.promote(approved_with_caption(library, 6, 7))
    approved_with_caption(library, 5)
    library.delete([address(7)])
    before = contents(library).records
    VERBS[verb](library)
    after = contents(library).records
    assert before != after
    for _ in range(2):
        assert library.undo(actor="ann").done
        assert contents(library).records == before
        assert library.redo(actor="ann").done
        assert contents(library).records == after
    holds(library)


def test_concurrent_undos_each_undo_one_decision(library: Library) -> None:
    library.add([coin(number) for number in range(20)], actor="bob")
    for number in range(20):
        library.approve([address(number)], actor="ann")

    def ten_times() -> None:
        for _ in range(10):
            library.undo(actor="ann")

    places = [threading.Thread(target=ten_times) for _ in range(2)]
    for place in places:
        place.start()
    for place in places:
        place.join()
    assert set(tiers(library).values()) == {"pending"}


def test_undo_and_redo_work_after_a_restart(library: Library, ann: Library) -> None:
    root, embedder = library.layout.root, library.embedder
    ann.approve([FIRST], actor="ann")
    ann.approve([SECOND], actor="ann")
    library.close()
    with open_library(root, embedder=embedder) as library:
        library.undo(actor="ann")
        assert tiers(library)[SECOND] == "pending"
    with open_library(root, embedder=embedder) as library:
        library.undo(actor="ann")
        assert tiers(library)[FIRST] == "pending"
    with open_library(root, embedder=embedder) as library:
        library.redo(2, actor="ann")
        assert tiers(library) == {FIRST: "approved", SECOND: "approved", THIRD: "pending"}


def test_undo_affects_only_the_users_own_decisions(ann: Library) -> None:
    ann.approve([FIRST], actor="ann")
    ann.approve([SECOND], actor="bob")
    ann.undo(actor="ann")
    assert (tiers(ann)[FIRST], tiers(ann)[SECOND]) == ("pending", "approved")
    with pytest.raises(NothingToUndo, match="nothing to undo"):
        ann.undo(actor="eve")


def test_a_new_decision_clears_redo(ann: Library) -> None:
    ann.approve([FIRST], actor="ann")
    ann.undo(actor="ann")
    ann.approve([SECOND], actor="ann")
    with pytest.raises(NothingToUndo, match="nothing to redo"):
        ann.redo(actor="ann")


def test_undo_skips_records_changed_since_and_undoes_the_rest(ann: Library) -> None:
    ann.approve([FIRST, SECOND], actor="ann")
    ann.edit_tags([FIRST], add=["moon"], actor="bob")
    outcome = ann.undo(actor="ann")
    assert outcome.done == [SECOND]
    assert [(refusal.item, refusal.reason) for refusal in outcome.refused] == [
        (FIRST, "it was changed since; undo would lose that")
    ]
    assert tiers(ann)[FIRST] == "approved"
    assert ann.get(FIRST).tags == ["dog", "moon"]


def test_a_decision_that_cannot_be_undone_is_skipped_next_time(ann: Library) -> None:
    ann.approve([FIRST], actor="ann")
    ann.edit_tags([FIRST], add=["moon"], actor="bob")
    assert not ann.undo(actor="ann").done
    assert len(ann.undo(actor="ann").done) == 2, "the import of the two that nobody touched"
    assert tiers(ann) == {FIRST: "approved", SECOND: "trash", THIRD: "trash"}


def test_undoing_a_library_caption_restores_its_search_words(library: Library) -> None:
    library.promote(approved_with_caption(library, 0))
    requests = library.embedder.requests
    library.caption(FIRST, caption=written("new"))
    library.undo()
    assert library.embedder.requests == requests + 3, "the old vectors are still known"
    assert library.addresses(Filter(words="text 0 entity")) == [FIRST]
    assert library.addresses(Filter(words="new")) == []
    holds(library)


def open_on(injector: FaultInjector, root: Path) -> Library:
    return open_library(root, embedder=Hashed(), disk=Disk(before=injector))


@pytest.fixture
def many(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which ann approved six coins in one go, in three operations of two."""
    monkeypatch.setattr(transitions, "OPERATION", 2)
    with open_on(FaultInjector(), root) as library:
        library.add((coin(number) for number in range(6)), actor="ann")
        library.approve(library.addresses(Filter()), actor="ann")
    return root


@pytest.mark.slow
@pytest.mark.parametrize("end", ["power cut", "full disk"])
def test_an_interrupted_batch_undo_can_be_completed(many: Path, end: str) -> None:
    copy = many.parent / "copy"
    for step in itertools.count(1, STRIDE):
        shutil.copytree(many, copy)
        injector = FaultInjector()
        library = open_on(injector, copy)
        if end == "power cut":
            injector.cut_power(step)
            with contextlib.suppress(PowerCut):
                library.undo(actor="ann")
            abandon(library)
        else:
            injector.fail(step, OSError(28, "no room"), lasts=True)
            library.undo(actor="ann")
            injector.stop_failing()
            library.close()
        with open_on(FaultInjector(), copy) as library:
            if "approved" in tiers(library).values():
                assert not library.undo(actor="ann").refused, f"step {step}"
            assert set(tiers(library).values()) == {"pending"}, f"step {step}"
            assert library.history(limit=7)[6].is_undone
            holds(library)
            while "pending" in tiers(library).values():
                library.redo(actor="ann")
        shutil.rmtree(copy)
        if not injector.has_failed:
            break
    assert step > 20
