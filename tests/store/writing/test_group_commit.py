"""Decisions of several people at the same moment are carried out together, each with its own result."""

import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.operations import Change, Operation, State
from store.outcome import Outcome
from store.writing import journal
from store.writing.journal import GroupCommit, Payload, QueuedOperation
from tests.store.world import FaultInjector
from tests.store.writing.cases import APPROVED, CAPTIONED, CASES, PENDING, PROMOTED
from tests.store.writing.test_every_step import Scenario
from tests.waiting import eventually

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def copied(prepared: Path, root: Path) -> Path:
    """A folder with the coins of the cases."""
    return Path(shutil.copytree(prepared, root, dirs_exist_ok=True))


class Together:
    """Operations that wait for one lock, and the groups in which they were carried out."""

    def __init__(self, perform: Callable[[list[QueuedOperation]], None]) -> None:
        self.groups: list[list[str]] = []
        self.lock = threading.RLock()
        self._perform = perform
        self.commit = GroupCommit(lambda: self.lock, self._note_and_perform)
        self.results: dict[str, object] = {}

    def _note_and_perform(self, group: list[QueuedOperation]) -> None:
        self.groups.append([one.operation.id for one in group])
        self._perform(group)

    def carry_out(self, operations: dict[str, list[str]]) -> None:
        """Let a thread for each id wait with an operation on these records, in this order."""
        threads = []
        with self.lock:
            for number, (id, addresses) in enumerate(operations.items(), start=1):
                threads.append(threading.Thread(target=self._one, args=[id, addresses]))
                threads[-1].start()
                assert eventually(lambda number=number: len(self.commit._queue) == number, every=0.001)
        for thread in threads:
            thread.join()

    def _one(self, id: str, addresses: list[str]) -> None:
        state = State("pending", "", "", None)
        changes = tuple(Change(each, state, state, 1) for each in addresses)
        operation = Operation(id, id, "approve", "ann", 0.0, changes)
        try:
            self.results[id] = self.commit.carry_out(operation, Payload())
        except ValueError as error:
            self.results[id] = str(error)


def refuse_nothing(group: list[QueuedOperation]) -> None:
    for one in group:
        one.refused = {}


def test_operations_that_wait_are_carried_out_together() -> None:
    together = Together(refuse_nothing)
    together.carry_out({"a": ["x"], "b": ["y"], "c": ["z"]})
    assert together.groups == [["a", "b", "c"]]
    assert together.results == {"a": {}, "b": {}, "c": {}}


def test_two_operations_on_one_record_never_share_a_group_and_keep_their_order() -> None:
    together = Together(refuse_nothing)
    together.carry_out({"a": ["x"], "b": ["y", "X"], "c": ["z"]})
    assert together.groups == [["a"], ["b", "c"]]


def test_an_operation_that_cannot_be_carried_out_does_not_prevent_the_others() -> None:
    def perform(group: list[QueuedOperation]) -> None:
        if any(one.operation.id == "b" for one in group):
            raise ValueError("the disk says no")
        refuse_nothing(group)

    together = Together(perform)
    together.carry_out({"a": ["x"], "b": ["y"], "c": ["z"]})
    assert together.results == {"a": {}, "b": "the disk says no", "c": {}}
    assert together.groups == [["a", "b", "c"], ["a"], ["b"], ["c"]]


@pytest.mark.parametrize("first", [[], [OSError("the disk says no")]], ids=["the group", "one by one"])
def test_a_mistake_after_the_decision_tells_everybody_that_theirs_waits(
    copied: Path, monkeypatch: pytest.MonkeyPatch, first: list[Exception]
) -> None:
    """Also where the disk refuses the group, and then one of them cannot be entered."""

    def fail(*_: object, **__: object) -> None:
        raise first.pop() if first else ValueError("a mistake of the program")

    with Scenario.opened(copied) as library:
        with monkeypatch.context() as patch:
            patch.setattr(journal, "enter", fail)
            outcome = CASES["decisions of three people"].verb(library)
        assert not outcome.done
        assert {each.item for each in outcome.refused} == set(library.status().applying)
        for each in outcome.refused:
            assert re.search("is decided but waits.*a mistake of the program", each.reason)
        assert library.edit_tags([CAPTIONED[0]], add=["later"]).done
        assert library.get(PENDING[0]).tier == "approved"


def test_a_file_that_went_away_lets_only_what_needs_it_wait(copied: Path) -> None:
    with Scenario.opened(copied) as library:
        real, picture = library._journal._decide, library.layout.image("approved", APPROVED[1])

        def decide_and_lose(ready: Any) -> None:
            real(ready)
            picture.rename(copied / "elsewhere.jpg")

        library._journal._decide = decide_and_lose  # type: ignore[method-assign]
        outcome = CASES["decisions of three people"].verb(library)
        assert {PENDING[0], PENDING[1]} <= set(outcome.done)
        assert {each.item for each in outcome.refused} == set(APPROVED)
        (copied / "elsewhere.jpg").rename(picture)


def test_three_decisions_share_their_commits_and_stay_three(copied: Path) -> None:
    injector = FaultInjector()
    with Scenario.opened(copied, injector) as library:
        injector.cut_power(10**6)
        outcome = CASES["decisions of three people"].verb(library)
        commits = [step for step, _ in injector.steps if step == "commit"]
        assert sorted(outcome.done) == sorted([*PENDING, *APPROVED, *PROMOTED])
        assert [library.get(each).tier for each in (PENDING[0], APPROVED[0])] == ["approved", "pending"]
        assert "moon" in library.get(PENDING[1]).tags
        made = library.history(limit=20)
        assert {event.actor for event in made} >= {"ann", "ben", "third"}
    assert len(commits) == 2, "one decides, one enters what is done"


def test_an_operation_that_waits_while_the_library_is_closed_writes_nothing(copied: Path) -> None:
    injector, outcomes = FaultInjector(), list[Outcome]()
    with Scenario.opened(copied, injector) as library:
        approving = threading.Thread(target=lambda: outcomes.append(library.approve([PENDING[0]])))
        with library.catalog.lock:
            approving.start()
            assert eventually(lambda: len(library._journal._group._queue) == 1, every=0.001)
            library.catalog.close()
            injector.cut_power(1)
        approving.join()
    assert [refusal.item for refusal in outcomes[0].refused] == [PENDING[0]]
    assert injector.steps == []
