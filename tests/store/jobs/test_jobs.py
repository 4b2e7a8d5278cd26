"""Jobs can be watched, paused, cancelled and resumed after a restart, and process nothing twice."""

import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from store.catalog.catalog import Catalog
from store.disk.files import Disk
from store.errors import BadSource, ReadOnly, Superseded, UnknownJob
from store.jobs import (
    Item,
    ItemDeferred,
    ItemDone,
    ItemRefused,
    Job,
    JobContext,
    JobKind,
    Jobs,
    Result,
    background_worker,
    job_rows,
    runner,
)
from store.library import Library
from store.permissions import Actor
from store.progress import Progress
from store.runtime import open_reader
from store.settings import settings
from tests.store.conftest import address, approved_with_caption, coin
from tests.waiting import eventually

LETTERS = [*"abcdefghij"]


class JobHarness:
    """Jobs with their own catalog, one kind of work, and a count of finished items."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done: Counter[str] = Counter()
        self.answer: Callable[[Item], Result] = ItemDone
        self.batch, self.lanes = 1, 1
        self.open()

    def open(self) -> None:
        self.catalog = Catalog(self.folder / "catalog.sqlite3", disk=Disk(), writable=True)
        self.jobs = Jobs.to_do(
            self.catalog, [JobKind("letters", self.work), JobKind("other", self.work, "o")], self
        )

    def reopen(self) -> None:
        """Close and open everything, as after a restart of the program."""
        self.jobs.close()
        self.catalog.close()
        self.open()

    def work(self, context: "JobContext[JobHarness]") -> None:
        def do(items: Sequence[Item]) -> list[Result]:
            results = [self.answer(item) for item in items]
            self.done.update(result.item.key for result in results if isinstance(result, ItemDone))
            return results

        context.each(do, batch=self.batch, lanes=self.lanes)

    def start(self, keys: Sequence[Any] = LETTERS, kind: str = "letters", **options: Any) -> int:
        return self.jobs.start(kind, keys, name="Letters", options=options).id

    def wait_for(self, number: int) -> Job:
        assert self.jobs.wait(number, timeout=60)
        job = self.jobs.get(number)
        assert job
        return job


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobHarness]:
    monkeypatch.setattr(runner, "_PATIENCE", 60.0)  # the machine may be busy
    harness = JobHarness(tmp_path)
    yield harness
    harness.jobs.close()
    harness.catalog.close()


class Gate:
    """Makes a job wait at one item until the gate opens."""

    def __init__(self, at: str) -> None:
        self.at, self.reached, self.open = at, threading.Event(), threading.Event()

    def __call__(self, item: Item) -> Result:
        if item.key == self.at:
            self.reached.set()
            assert self.open.wait(60)
        return ItemDone(item)


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
    assert ran_by
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
    read = harness.jobs._book.job(number)
    assert read
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

    def close_told(worker: background_worker.Worker, *, patience: float) -> bool:
        gate.open.set()  # the work was told to stop before
        return close(worker, patience=patience)

    with monkeypatch.context() as patch:
        patch.setattr(background_worker.Worker, "close", close_told)
        harness.reopen()
    assert harness.jobs.get(number).state == "interrupted"
    assert harness.jobs.under_way() == []
    harness.jobs.resume_interrupted()
    assert harness.wait_for(number).state == "done"
    assert harness.done == Counter(LETTERS)


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


def test_a_background_promotion_is_one_decision_and_lists_refused_records(library: Library) -> None:
    ready = approved_with_caption(library, *range(70))
    library.add([coin(99)])
    job = library.jobs.start("move", [*ready, address(99)], name="Promote", options={"verb": "promote"})
    assert library.jobs.wait(job.id, timeout=60)
    over = library.jobs.get(job.id)
    assert (over.state, over.done, over.refused) == ("done", 70, 1)
    (refused,) = library.jobs.items(job.id, state="refused")
    assert (refused.key, "it is in pending" in refused.reason) == (address(99), True)
    assert {event.decision for event in library.history(address=ready[0], limit=1)} == {job.decision}
    library.undo()
    assert library.counts()["library"] == 0


def test_a_resumed_decision_does_not_refuse_records_it_already_moved(
    library: Library,
) -> None:
    library.add([coin(number) for number in range(3)])
    keys = [address(number) for number in range(3)]
    job = library.jobs.start("move", keys[:1], name="Approve", options={"verb": "approve"})
    assert library.jobs.wait(job.id, timeout=60)
    with library.catalog.writing() as db:  # as if killed after the move, before marking the item
        db.execute("UPDATE job_items SET state = 'waiting'")
        db.execute("UPDATE jobs SET state = 'interrupted', done = 0")
    library.jobs.resume_interrupted()
    assert library.jobs.wait(job.id, timeout=60)
    assert (library.jobs.get(job.id).done, library.jobs.get(job.id).refused) == (1, 0)
    assert len(library.history(decision=job.decision)) == 1


def test_a_decision_undone_while_running_does_not_continue(library: Library) -> None:
    library.add([coin(number) for number in range(2)])
    library.move("approve", [address(0)], decision="all that match")
    library.undo()
    with pytest.raises(Superseded, match="the rest is left alone"):
        library.move("approve", [address(1)], decision="all that match")
    assert library.counts()["pending"] == 2


@pytest.fixture
def immediate_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry immediately."""
    monkeypatch.setattr(background_worker, "FIRST", 0.0)


def workers_with_fault(reason: str) -> list[str]:
    """The workers of this process with this fault; workers of other tests may have other faults."""
    return [one.worker for one in background_worker.faults() if reason in one.reason]


@pytest.mark.usefixtures("immediate_retries")
def test_jobs_continue_after_the_catalog_was_briefly_missing(
    harness: JobHarness, caplog: pytest.LogCaptureFixture
) -> None:
    came, both, catalog = threading.Event(), threading.Event(), harness.catalog.path

    def answer(item: Item) -> Result:
        if item.key == "d" and not came.is_set():
            assert both.wait(60)
            catalog.rename(catalog.with_name("away"))
            came.set()
        return ItemDone(item)

    harness.answer = answer
    number, behind = harness.start(), harness.start(["z"])
    both.set()
    assert came.wait(60)
    assert eventually(lambda: workers_with_fault("removed or replaced") == ["long work (library)"])
    assert "Traceback" in caplog.text
    catalog.with_name("away").rename(catalog)
    assert eventually(lambda: harness.jobs.get(behind).state == "done")
    assert (harness.jobs.get(number).state, harness.jobs.get(number).done) == ("done", 10)
    assert {*LETTERS, "z"} == harness.done.keys()
    assert workers_with_fault("removed or replaced") == []


@pytest.mark.parametrize("error", [OSError("the folder was away"), KeyError("surprise")])
def test_a_queue_that_cannot_start_a_job_starts_it_later(
    harness: JobHarness, error: Exception, monkeypatch: pytest.MonkeyPatch, immediate_retries: None
) -> None:
    asked: list[int] = []
    next_waiting = harness.jobs._book.next_waiting

    def failing(kinds: Any) -> Job | None:
        asked.append(1)
        if len(asked) <= 3:
            raise error
        return next_waiting(kinds)

    monkeypatch.setattr(harness.jobs._book, "next_waiting", failing)
    number = harness.start()
    assert eventually(lambda: harness.jobs.get(number).state == "done")
    assert harness.done == Counter(LETTERS)


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
