"""Items: each is processed once, deferred, refused or retried, and written with its result."""

import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from store.errors import BadSource, LibraryStuck
from store.jobs import Item, ItemDeferred, ItemDone, ItemRefused, JobContext, Result, background_worker
from tests.store.jobs.harness import LETTERS, Gate, JobHarness
from tests.waiting import eventually


def test_the_time_worked_is_stored_with_each_result(harness: JobHarness) -> None:
    kept: list[float] = []

    def answer(item: Item) -> Result:
        with harness.catalog.reading() as db:
            kept.append(db.execute("SELECT worked FROM jobs").fetchone()[0])
        return ItemDone(item)

    harness.answer = answer
    job = harness.wait_for(harness.start())
    assert kept[0] == 0
    assert kept == sorted({*kept})
    assert job.worked >= kept[-1]


def test_a_job_processes_each_item_once_and_counts_them(harness: JobHarness) -> None:
    harness.batch, harness.lanes = 3, 4
    job = harness.wait_for(harness.start([*LETTERS, "a"]))
    assert harness.done == Counter(LETTERS)
    assert (job.state, job.total, job.done, job.refused, job.left) == ("done", 10, 10, 0, 0)
    assert 0 < job.made_at <= job.ended_at
    assert job.fraction == 1.0


def test_a_crash_between_two_items_keeps_the_job_and_its_results(tmp_path: Path) -> None:
    before = JobHarness(tmp_path)
    before.answer = gate = Gate("d")
    number = before.start()
    assert gate.reached.wait(60)  # and nobody ever closes it
    after = JobHarness(tmp_path)
    assert (after.jobs.get(number).state, after.jobs.get(number).done) == ("interrupted", 3)
    after.jobs.resume(number)
    assert after.wait_for(number).state == "done"
    assert [*after.done] == LETTERS[3:]
    after.jobs.close()
    after.catalog.close()
    gate.open.set()
    before.jobs.close()
    before.catalog.close()


def test_refused_items_have_a_reason_and_can_be_retried(harness: JobHarness) -> None:
    harness.answer = lambda item: ItemRefused(item, "no vowels") if item.key in "aei" else ItemDone(item)
    number = harness.start()
    job = harness.wait_for(number)
    assert (job.state, job.done, job.refused) == ("done", 7, 3)
    refused = harness.jobs.items(number, state="refused")
    assert [(item.key, item.reason) for item in refused] == [(key, "no vowels") for key in "aei"]
    harness.answer = ItemDone
    assert harness.jobs.try_again(number)
    assert (harness.wait_for(number).done, harness.wait_for(number).refused) == (10, 0)
    assert not harness.jobs.try_again(number)
    assert harness.done == Counter(LETTERS)


def test_a_deferred_item_is_retried_after_the_others(harness: JobHarness) -> None:
    seen: Counter[str] = Counter()

    def answer(item: Item) -> Result:
        seen[item.key] += 1
        return ItemDeferred(item) if item.key == "b" and seen["b"] < 3 else ItemDone(item)

    harness.answer = answer
    assert harness.wait_for(harness.start()).done == 10
    assert [*harness.done][-1] == "b"
    assert seen["b"] == 3


def test_a_failed_job_keeps_its_items_and_can_be_resumed(harness: JobHarness) -> None:
    def break_down(item: Item) -> Result:
        if item.key == "c":
            raise BadSource("the list has no end")
        return ItemDone(item)

    harness.answer = break_down
    number = harness.start()
    job = harness.wait_for(number)
    assert (job.state, job.error, job.done, job.left) == ("failed", "the list has no end", 2, 8)
    assert [job.id for job in harness.jobs.open()] == [number]
    harness.answer = ItemDone
    harness.jobs.resume(number)
    assert (harness.wait_for(number).state, harness.wait_for(number).error) == ("done", "")
    assert harness.done == Counter(LETTERS)


def test_an_item_and_its_result_are_written_atomically(harness: JobHarness) -> None:
    def write(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO meta VALUES ('written', 1)")

    harness.answer = lambda item: ItemDone(item, write)
    job = harness.wait_for(harness.start(["a", "b"]))  # the second cannot write the same key
    assert (job.state, job.done) == ("failed", 1)
    assert "UNIQUE" in job.error
    assert harness.catalog.meta("written") == "1"


def test_a_job_without_items_keeps_its_options_notes_and_progress(harness: JobHarness) -> None:
    def work(context: "JobContext[JobHarness]") -> None:
        context.progress.total = context.progress.done = 7
        context.store_note(cost=1.5)
        context.store_note(model=context.job.options["model"])

    harness.work = work  # type: ignore[method-assign]
    harness.reopen()
    job = harness.wait_for(harness.start((), model="m"))
    assert (job.state, job.total, job.done) == ("done", 7, 7)
    assert job.note == {"cost": 1.5, "model": "m"}


class StuckDisk:
    """Answers as a library does whose decided change waits for the disk."""

    def __init__(self) -> None:
        self.is_stuck = True

    def __call__(self, item: Item) -> Result:
        if self.is_stuck and item.key == "c":
            raise LibraryStuck("approve of c waits: no space left")
        return ItemDone(item)


def test_a_job_that_waits_for_the_disk_says_why_and_goes_on_by_itself(
    harness: JobHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker, "FIRST", 0.01)
    harness.answer = disk = StuckDisk()
    number = harness.start()
    assert eventually(lambda: "no space left" in harness.jobs.get(number).error)
    assert harness.jobs.get(number).state in ("waiting", "running")
    assert [job.id for job in harness.jobs.under_way()] == [number]
    disk.is_stuck = False
    assert eventually(lambda: harness.jobs.get(number).is_over)
    assert (harness.jobs.get(number).state, harness.jobs.get(number).error) == ("done", "")
    assert harness.done == Counter(LETTERS)


def test_a_repair_has_its_turn_behind_a_job_that_waits_for_the_disk(harness: JobHarness) -> None:
    harness.answer = disk = StuckDisk()
    stuck = harness.start()
    assert harness.wait_for(stuck).is_stuck
    later = harness.start(["c"])

    def repair(_: object) -> None:
        disk.is_stuck = False

    assert harness.wait_for(harness.jobs.run("Repair", repair).id).state == "done"
    for number in (stuck, later):
        harness.jobs.resume(number)
    assert [harness.wait_for(number).state for number in (stuck, later)] == ["done", "done"]
    assert [*harness.done] == LETTERS


@pytest.mark.parametrize(("verb", "state"), [("pause", "paused"), ("cancel", "cancelled")])
def test_a_job_that_waits_for_the_disk_can_be_stopped(harness: JobHarness, verb: str, state: str) -> None:
    harness.answer = disk = StuckDisk()
    number = harness.start()
    assert harness.wait_for(number).is_stuck
    getattr(harness.jobs, verb)(number)
    disk.is_stuck = False
    assert harness.wait_for(harness.start(["z"])).state == "done"
    job = harness.wait_for(number)
    assert (job.state, job.error, job.is_stopping, job.done) == (state, "", False, 2)


def test_a_job_that_waits_for_the_disk_goes_on_after_a_restart(harness: JobHarness) -> None:
    harness.answer = disk = StuckDisk()
    number = harness.start()
    assert harness.wait_for(number).is_stuck
    harness.reopen()
    assert (harness.jobs.get(number).state, harness.jobs.get(number).error) == ("interrupted", "")
    disk.is_stuck = False
    harness.jobs.resume_interrupted()
    assert harness.wait_for(number).state == "done"
    assert harness.done == Counter(LETTERS)
