"""Jobs can be watched, paused, cancelled and resumed after a restart, and process nothing twice."""

import sqlite3
import threading
from collections import Counter

import pytest

from store.errors import BadSource, ReadOnly, UnknownJob
from store.jobs import Item, ItemDone, Result, background_worker, job_rows
from store.library import Library
from store.outcome import Outcome, Refusal
from store.permissions import Actor
from store.progress import Progress
from store.runtime import open_reader
from store.settings import settings
from tests.store.jobs.harness import LETTERS, Gate, JobHarness
from tests.waiting import eventually


def test_jobs_of_one_queue_run_in_order_and_other_queues_run_in_parallel(harness: JobHarness) -> None:
    harness.answer = gate = Gate("a")
    first, second = harness.start(), harness.start(["x"])
    assert gate.reached.wait(60)
    assert harness.wait_for(harness.start(["y"], kind="other")).state == "done"
    assert [job.id for job in harness.jobs.under_way()] == [first, second]
    assert harness.jobs.keys_under_way("letters") == {*LETTERS, "x"}
    gate.open.set()
    assert harness.wait_for(second).state == "done"
    assert [*harness.done][0:2] == ["y", "a"]
    assert harness.jobs.under_way() == []


def test_a_paused_job_stays_paused_after_a_restart_and_continues(harness: JobHarness) -> None:
    harness.answer = gate = Gate("d")
    number = harness.start()
    assert gate.reached.wait(60)
    harness.jobs.pause(number)
    assert harness.jobs.get(number).is_stopping
    gate.open.set()
    assert (harness.wait_for(number).state, harness.wait_for(number).done) == ("paused", 4)
    harness.reopen()
    harness.jobs.resume_interrupted()
    assert harness.wait_for(number).state == "paused"
    harness.jobs.resume(number)
    assert (harness.wait_for(number).state, harness.wait_for(number).done) == ("done", 10)
    assert harness.done == Counter(LETTERS)


@pytest.mark.parametrize("verb", ["pause", "cancel"])
def test_a_job_that_is_stopped_is_under_way_until_its_work_has_ended(
    harness: JobHarness, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    harness.answer = gate = Gate("d")
    number = harness.start()
    assert gate.reached.wait(60)
    ran_by = harness.jobs._runner
    tell, before = ran_by.stop, []

    def stop(number: int) -> None:
        """The row says so already, and the work has not heard of it."""
        before.append((harness.jobs.get(number).is_under_way, harness.jobs.wait(number, timeout=0)))
        tell(number)

    monkeypatch.setattr(ran_by, "stop", stop)
    getattr(harness.jobs, verb)(number)
    assert before == [(True, False)]
    assert not harness.jobs.wait(number, timeout=0)
    gate.open.set()
    assert not harness.wait_for(number).is_stopping
    assert harness.done == Counter("abcd")


def test_a_job_that_ends_while_its_row_is_read_is_not_interrupted(harness: JobHarness) -> None:
    harness.answer = gate = Gate("d")
    number = harness.start()
    assert gate.reached.wait(60)
    read = harness.jobs._repository.job(number)
    assert read.state == "running"
    gate.open.set()
    assert harness.wait_for(number).state == "done"
    assert eventually(lambda: harness.jobs._seen(read).state == "done")


def test_a_job_interrupted_by_a_restart_waits_until_it_is_resumed(
    harness: JobHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.answer = gate = Gate("d")
    number = harness.start()
    assert gate.reached.wait(60)
    killed = sqlite3.connect(harness.folder / "catalog.sqlite3")  # as a crash leaves the row
    assert killed.execute("SELECT state FROM jobs").fetchone() == ("running",)
    killed.close()
    close = background_worker.Worker.close

    def close_told(worker: background_worker.Worker, *, timeout: float) -> bool:
        gate.open.set()  # the work was told to stop before
        return close(worker, timeout=timeout)

    with monkeypatch.context() as patch:
        patch.setattr(background_worker.Worker, "close", close_told)
        harness.reopen()
    assert harness.jobs.get(number).state == "interrupted"
    assert harness.jobs.under_way() == []
    harness.jobs.resume_interrupted()
    assert harness.wait_for(number).state == "done"
    assert harness.done == Counter(LETTERS)


def test_a_job_whose_options_are_no_json_since_an_earlier_version_can_run(harness: JobHarness) -> None:
    number = harness.start(budget=1)
    harness.wait_for(number)
    with harness.catalog.writing() as db:
        db.execute("UPDATE job_items SET state = 'waiting'")
        db.execute("""UPDATE jobs SET state = 'interrupted', options = '{"budget": Infinity, "hint": "x"}'""")
    harness.reopen()
    harness.jobs.resume_interrupted()
    assert harness.wait_for(number).state == "done"
    assert harness.jobs.get(number).options == {"budget": None, "hint": "x"}


def test_cancelling_keeps_finished_items_and_skips_the_rest(harness: JobHarness) -> None:
    harness.answer = gate = Gate("c")
    number, waiting = harness.start(), harness.start(["z"])
    assert gate.reached.wait(60)
    harness.jobs.cancel(waiting)
    harness.jobs.cancel(number)
    gate.open.set()
    job = harness.wait_for(number)
    assert (job.state, job.done, job.left) == ("cancelled", 3, 7)
    assert harness.wait_for(waiting).state == "cancelled"
    harness.jobs.resume(number)
    assert harness.wait_for(number).state == "cancelled"
    assert harness.done == Counter("abc")


def test_an_in_memory_job_has_a_result_and_fails_after_a_restart(harness: JobHarness) -> None:
    job = harness.jobs.run("Add", lambda _: 2 + 2)
    assert (harness.wait_for(job.id).state, harness.wait_for(job.id).result) == ("done", 4)
    began, never = threading.Event(), threading.Event()

    def count(progress: Progress) -> int:
        while not progress.cancelled:
            progress.done += 1
            began.set()
            never.wait(0.001)  # let other threads run
        return progress.done

    counting = harness.jobs.run("Count", count)
    assert began.wait(60)
    harness.jobs.pause(counting.id)  # it cannot be
    assert harness.jobs.get(counting.id).state == "running"
    harness.jobs.cancel(counting.id)
    assert harness.wait_for(counting.id).state == "cancelled"
    assert harness.wait_for(counting.id).result > 0

    began.clear()
    cut_short = harness.jobs.run("Count on", count)
    assert began.wait(60)
    harness.reopen()
    assert harness.jobs.get(cut_short.id).state == "failed"
    assert "begin it again" in harness.jobs.get(cut_short.id).error
    assert harness.jobs.open() == []


def test_a_load_of_coins_counts_the_coins_and_not_its_steps_after_a_restart_as_well(
    harness: JobHarness,
) -> None:
    def load(progress: Progress) -> Outcome:
        progress.total = progress.done = 613  # coins, and those of them that were promoted
        return Outcome(done=[*"abc"], refused=[Refusal("d", "no picture")])

    number = harness.jobs.run("Load", load).id
    job = harness.wait_for(number)
    assert (job.state, job.done, job.refused, job.total) == ("done", 3, 1, 0)
    harness.reopen()
    job = harness.jobs.get(number)
    assert (job.state, job.done, job.refused, job.total) == ("done", 3, 1, 0)


def test_an_unknown_job_kind_or_number_is_reported(harness: JobHarness) -> None:
    with pytest.raises(UnknownJob, match="no kind of work called 'dance'"):
        harness.start(kind="dance")
    with pytest.raises(UnknownJob, match="no job 99"):
        harness.jobs.pause(99)


def test_a_viewer_can_see_jobs_but_not_control_them(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = library.jobs.run("Add", lambda _: 1)
    library.jobs.wait(job.id, timeout=60)
    monkeypatch.setenv("MEMEDEX_VIEWERS", "vera")
    settings.cache_clear()
    jobs = library.for_actor(Actor("vera")).jobs
    assert [job.name for job in jobs.all()] == ["Add"]
    for direct in (jobs.pause, jobs.resume, jobs.cancel, jobs.try_again):
        with pytest.raises(ReadOnly, match="vera may look"):
            direct(job.id)
    assert library.for_actor(Actor("carl")).jobs.run("Subtract", lambda _: 0).actor == "carl"
    with open_reader(library.layout.root) as reader, pytest.raises(ReadOnly):
        reader.jobs.start("move", ["x"], name="Move")
    settings.cache_clear()


def test_a_job_records_who_cancelled_it(harness: JobHarness) -> None:
    harness.answer = gate = Gate("c")
    number = harness.start()
    assert gate.reached.wait(60)
    harness.jobs.cancel(number, actor="ann")
    gate.open.set()
    assert harness.wait_for(number).note["ended_by"] == "ann"


def test_deleted_old_jobs_are_logged_and_resumable_jobs_are_kept(
    harness: JobHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_rows, "KEPT", 1)
    harness.answer = lambda item: ItemDone(item)
    harness.wait_for(harness.start(["a"]))

    def break_down(_: Item) -> Result:
        raise BadSource("no end")

    harness.answer = break_down
    failed = harness.start(["b"])
    assert harness.wait_for(failed).state == "failed"
    harness.answer = ItemDone
    for letter in "cd":
        harness.wait_for(harness.start([letter]))
    assert harness.jobs.get(failed).can_resume
    with harness.catalog.reading() as db:
        noted = db.execute("SELECT who, what, name, kept FROM removed").fetchall()
    assert [tuple(row)[:3] for row in noted] == [("", "job", "Letters")]
    assert '"done": 1' in noted[0]["kept"]


def test_a_job_whose_options_json_cannot_hold_is_not_stored(harness: JobHarness) -> None:
    with pytest.raises(ValueError, match="JSON"):
        harness.start(budget=float("inf"))
    assert harness.jobs.all() == []
