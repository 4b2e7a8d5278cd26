"""Undoing decisions about very many records: a background job that can be stopped and resumed."""

import threading
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from store.disk.files import Disk
from store.jobs import background_worker
from store.library import Library
from store.outcome import Outcome
from store.progress import Progress
from store.runtime import open_library
from store.tasks.undo import reverse, start
from store.writing import transitions
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed
from tests.store.world import FullDisk
from tests.waiting import eventually

FOUR = [address(number) for number in range(4)]

pytestmark = pytest.mark.usefixtures("without_chroma")


class CancelledAfterFirst(Progress):
    """Progress that is cancelled as soon as one item is done."""

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


def wait_for_jobs(library: Library) -> None:
    for job in library.jobs.under_way():
        assert library.jobs.wait(job.id, timeout=60)


def test_a_large_decision_is_undone_and_redone_in_the_background(approved: Library) -> None:
    decision, taken_back = approved.decisions()[0].id, uuid4().hex
    assert reverse(approved, decision, at_once=3, decision=taken_back).done == []
    wait_for_jobs(approved)
    assert in_tier(approved, "pending") == 4
    [job] = approved.jobs.all()
    assert (job.state, job.done, job.total, job.name) == ("done", 4, 4, "Undo what was done to 4 coins")
    reverse(approved, taken_back, at_once=3)
    wait_for_jobs(approved)
    assert in_tier(approved, "approved") == 4


def test_a_small_decision_is_undone_immediately(approved: Library) -> None:
    assert sorted(reverse(approved, approved.decisions()[0].id, at_once=4).done) == sorted(FOUR)
    assert approved.jobs.all() == []


def test_a_partly_undone_decision_can_be_undone_completely(
    approved: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transitions, "OPERATION", 1)
    [decision, _] = approved.decisions()
    approved.undo_decisions([decision.id], progress=CancelledAfterFirst())
    assert in_tier(approved, "pending") == 1
    assert not approved.decisions()[1].is_undone
    approved.undo()
    assert in_tier(approved, "pending") == 4
    approved.undo_decisions([decision.id])
    assert in_tier(approved, "pending") == 4, "what is taken back already is passed over"


def test_a_second_undo_waits_for_the_running_one(approved: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    approved.reject(FOUR[:1])
    approved.reject(FOUR[1:2])
    requested, original_undo = threading.Event(), approved.undo_decisions

    def undo_after_all_requests(*decisions: Any, **how: Any) -> Outcome:
        assert requested.wait(60)
        return original_undo(*decisions, **how)

    monkeypatch.setattr(approved, "undo_decisions", undo_after_all_requests)
    for decision in approved.decisions(limit=3):
        assert reverse(approved, decision.id, at_once=0).done == []
    assert (len(approved.jobs.under_way()), in_tier(approved, "trash")) == (3, 2)
    requested.set()
    wait_for_jobs(approved)
    assert in_tier(approved, "pending") == 4
    assert {decision.verb for decision in approved.decisions() if not decision.is_undone} == {
        "import",
        "undo",
    }


@pytest.mark.parametrize(("keys", "left"), [("zZ", "approved"), ("zZz", "pending"), ("zZzZ", "approved")])
def test_undo_and_redo_name_what_they_take_back_also_while_it_is_under_way(
    approved: Library, keys: str, left: str
) -> None:
    decision = approved.decisions()[0].id
    for _ in keys:
        last, decision = decision, uuid4().hex
        for _ in range(2):  # sent twice
            assert reverse(approved, last, at_once=3, decision=decision).done == []
    wait_for_jobs(approved)
    assert in_tier(approved, left) == 4
    assert {job.name for job in approved.jobs.all()} == {"Undo what was done to 4 coins"}


def test_records_changed_since_are_left_unchanged_and_reported(approved: Library) -> None:
    [decision, _] = approved.decisions()
    approved.reject(FOUR[:1])
    job = start(approved, [decision.id], at_once=3)
    wait_for_jobs(approved)
    assert "1 were left as they are" in approved.jobs.get(job.id).error
    assert in_tier(approved, "pending") == 3


def test_an_undo_that_waits_for_the_disk_goes_on_by_itself_and_takes_back_one_decision(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker, "FIRST", 0.01)
    disk = FullDisk("rename", is_full=False)
    with open_library(root, embedder=Hashed(), disk=Disk(before=disk)) as library:
        library.add(coin(number) for number in range(4))
        earlier = library.approve(FOUR[:1]).decision
        last = library.approve(FOUR[1:]).decision
        disk.is_full = True
        job = library.jobs.start("reverse", name="Undo", options={"decisions": [last]})
        assert eventually(lambda: "is decided but waits" in library.jobs.get(job.id).error)
        assert library.jobs.get(job.id).state in ("waiting", "running")
        disk.is_full = False
        assert eventually(lambda: library.jobs.get(job.id).is_over)
        assert (library.jobs.get(job.id).state, library.jobs.get(job.id).error) == ("done", "")
        assert in_tier(library, "pending") == 3
        assert [library.decision(each).is_undone for each in (earlier, last)] == [False, True]
