"""Taking back what was done to very many: as work in the background that can be stopped and goes on."""

import threading
from typing import Any

import pytest

from store.library import Library
from store.outcome import Outcome
from store.progress import Progress
from store.tasks.undo import reverse, start
from store.writing import transitions
from tests.store.conftest import address, coin

FOUR = [address(number) for number in range(4)]

pytestmark = pytest.mark.usefixtures("without_chroma")


class Stopping(Progress):
    """Cancelled by itself once something is done."""

    @property
    def cancelled(self) -> bool:  # type: ignore[override]
        return self.done > 0

    @cancelled.setter
    def cancelled(self, value: bool) -> None: ...


@pytest.fixture
def approved(library: Library) -> Library:
    library.add(coin(number) for number in range(4))
    library.approve(FOUR)
    return library


def in_tier(library: Library, tier: str) -> int:
    return [library.get(each).tier for each in FOUR].count(tier)


def finished(library: Library) -> None:
    for job in library.jobs.under_way():
        assert library.jobs.wait(job.id, timeout=60)


def test_a_large_decision_goes_back_in_the_background_and_forth_again(approved: Library) -> None:
    assert reverse(approved, "undo", at_once=3).done == []
    finished(approved)
    assert in_tier(approved, "pending") == 4
    [job] = approved.jobs.all()
    assert (job.state, job.done, job.total, job.name) == ("done", 4, 4, "Undo what was done to 4 coins")
    reverse(approved, "redo", at_once=3)
    finished(approved)
    assert in_tier(approved, "approved") == 4


def test_a_small_one_is_taken_back_at_once(approved: Library) -> None:
    assert sorted(reverse(approved, "undo", at_once=4).done) == sorted(FOUR)
    assert approved.jobs.all() == []


def test_stopped_in_the_middle_the_rest_can_still_be_taken_back(
    approved: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transitions, "OPERATION", 1)
    [decision, _] = approved.decisions()
    approved.undo_decisions([decision.id], progress=Stopping())
    assert in_tier(approved, "pending") == 1
    assert not approved.decisions()[1].is_undone
    approved.undo()
    assert in_tier(approved, "pending") == 4
    approved.undo_decisions([decision.id])
    assert in_tier(approved, "pending") == 4, "what is taken back already is passed over"


def test_the_next_undo_waits_its_turn_behind_one_under_way(
    approved: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved.reject(FOUR[:1])
    approved.reject(FOUR[1:2])
    asked, take_back = threading.Event(), approved.undo_decisions

    def once_all_are_asked_for(*decisions: Any, **how: Any) -> Outcome:
        assert asked.wait(60)
        return take_back(*decisions, **how)

    monkeypatch.setattr(approved, "undo_decisions", once_all_are_asked_for)
    for _ in "zzz":
        assert reverse(approved, "undo", at_once=0).done == []
    assert (len(approved.jobs.under_way()), in_tier(approved, "trash")) == (3, 2)
    asked.set()
    finished(approved)
    assert in_tier(approved, "pending") == 4
    assert {decision.verb for decision in approved.decisions() if not decision.is_undone} == {
        "import",
        "undo",
    }


@pytest.mark.parametrize(
    ("keys", "left"), [("zZ", "approved"), ("zZz", "pending"), ("zZzZ", "approved"), ("zZZ", "approved")]
)
def test_a_redo_waits_its_turn_too_and_what_comes_after_it(
    approved: Library, monkeypatch: pytest.MonkeyPatch, keys: str, left: str
) -> None:
    asked, take_back = threading.Event(), approved.undo_decisions

    def once_all_are_asked_for(*decisions: Any, **how: Any) -> Outcome:
        assert asked.wait(60)
        return take_back(*decisions, **how)

    monkeypatch.setattr(approved, "undo_decisions", once_all_are_asked_for)
    for key in keys:
        assert reverse(approved, "undo" if key == "z" else "redo", at_once=3).done == []
    asked.set()
    finished(approved)
    assert in_tier(approved, left) == 4
    assert {job.state for job in approved.jobs.all()} == {"done"}


def test_what_was_changed_since_is_left_and_named(approved: Library) -> None:
    [decision, _] = approved.decisions()
    approved.reject(FOUR[:1])
    job = start(approved, [decision.id], at_once=3)
    finished(approved)
    assert job
    ended = approved.jobs.get(job.id)
    assert ended
    assert "1 were left as they are" in ended.error
    assert in_tier(approved, "pending") == 3
