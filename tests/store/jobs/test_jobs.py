"""Long work: watched, paused, cancelled, continued after a restart, and nothing of it done twice."""

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


class Workshop:
    """Jobs over a catalog of their own, one kind of work, and what was done of it."""

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
        """As after a restart of the program."""
        self.jobs.close()
        self.catalog.close()
        self.open()

    def work(self, context: "JobContext[Workshop]") -> None:
        def do(items: Sequence[Item]) -> list[Result]:
            results = [self.answer(item) for item in items]
            self.done.update(result.item.key for result in results if isinstance(result, ItemDone))
            return results

        context.each(do, batch=self.batch, lanes=self.lanes)

    def start(self, keys: Sequence[Any] = LETTERS, kind: str = "letters", **options: Any) -> int:
        return self.jobs.start(kind, keys, name="Letters", options=options).id

    def rested(self, number: int) -> Job:
        assert self.jobs.wait(number, timeout=60)
        job = self.jobs.get(number)
        assert job
        return job


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    monkeypatch.setattr(runner, "_PATIENCE", 60.0)  # the machine may be busy
    shop = Workshop(tmp_path)
    yield shop
    shop.jobs.close()
    shop.catalog.close()


class Gate:
    """Lets a job come as far as one item and then wait."""

    def __init__(self, at: str) -> None:
        self.at, self.reached, self.open = at, threading.Event(), threading.Event()

    def __call__(self, item: Item) -> Result:
        if item.key == self.at:
            self.reached.set()
            assert self.open.wait(60)
        return ItemDone(item)


def test_the_time_worked_is_kept_with_each_result(shop: Workshop) -> None:
    kept: list[float] = []

    def answer(item: Item) -> Result:
        with shop.catalog.reading() as db:
            kept.append(db.execute("SELECT worked FROM jobs").fetchone()[0])
        return ItemDone(item)

    shop.answer = answer
    job = shop.rested(shop.start())
    assert kept[0] == 0
    assert kept == sorted({*kept})
    assert job.worked >= kept[-1]


def test_a_job_does_each_of_its_items_once_and_counts_them(shop: Workshop) -> None:
    shop.batch, shop.lanes = 3, 4
    job = shop.rested(shop.start([*LETTERS, "a"]))
    assert shop.done == Counter(LETTERS)
    assert (job.state, job.total, job.done, job.refused, job.left) == ("done", 10, 10, 0, 0)
    assert 0 < job.made_at <= job.ended_at
    assert job.fraction == 1.0


def test_jobs_of_one_queue_follow_each_other_and_another_queue_does_not_wait(shop: Workshop) -> None:
    shop.answer = gate = Gate("a")
    first, second = shop.start(), shop.start(["x"])
    assert gate.reached.wait(60)
    assert shop.rested(shop.start(["y"], kind="other")).state == "done"
    assert [job.id for job in shop.jobs.under_way()] == [first, second]
    assert shop.jobs.keys_under_way("letters") == {*LETTERS, "x"}
    gate.open.set()
    assert shop.rested(second).state == "done"
    assert [*shop.done][0:2] == ["y", "a"]
    assert shop.jobs.under_way() == []


def test_a_paused_job_stays_so_past_a_restart_and_goes_on_where_it_was(shop: Workshop) -> None:
    shop.answer = gate = Gate("d")
    number = shop.start()
    assert gate.reached.wait(60)
    shop.jobs.pause(number)
    assert shop.jobs.get(number).is_stopping
    gate.open.set()
    assert (shop.rested(number).state, shop.rested(number).done) == ("paused", 4)
    shop.reopen()
    shop.jobs.resume_interrupted()
    assert shop.rested(number).state == "paused"
    shop.jobs.resume(number)
    assert (shop.rested(number).state, shop.rested(number).done) == ("done", 10)
    assert shop.done == Counter(LETTERS)


@pytest.mark.parametrize("verb", ["pause", "cancel"])
def test_a_job_that_is_stopped_is_under_way_until_its_work_has_ended(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    shop.answer = gate = Gate("d")
    number = shop.start()
    assert gate.reached.wait(60)
    ran_by = shop.jobs._runner
    assert ran_by
    tell, before = ran_by.stop, []

    def stop(number: int) -> None:
        """The row says so already, and the work has not heard of it."""
        before.append((shop.jobs.get(number).is_under_way, shop.jobs.wait(number, timeout=0)))
        tell(number)

    monkeypatch.setattr(ran_by, "stop", stop)
    getattr(shop.jobs, verb)(number)
    assert before == [(True, False)]
    assert not shop.jobs.wait(number, timeout=0)
    gate.open.set()
    assert not shop.rested(number).is_stopping
    assert shop.done == Counter("abcd")


def test_a_job_that_ends_while_its_row_is_read_is_not_interrupted(shop: Workshop) -> None:
    shop.answer = gate = Gate("d")
    number = shop.start()
    assert gate.reached.wait(60)
    read = shop.jobs._book.job(number)
    assert read
    assert read.state == "running"
    gate.open.set()
    assert shop.rested(number).state == "done"
    assert shop.jobs._seen(read).state == "done"


def test_what_a_restart_interrupted_waits_until_somebody_goes_on_with_it(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.answer = gate = Gate("d")
    number = shop.start()
    assert gate.reached.wait(60)
    killed = sqlite3.connect(shop.folder / "catalog.sqlite3")  # as a crash leaves the row
    assert killed.execute("SELECT state FROM jobs").fetchone() == ("running",)
    killed.close()
    close = background_worker.Worker.close

    def close_told(worker: background_worker.Worker, *, patience: float) -> bool:
        gate.open.set()  # the work was told to stop before
        return close(worker, patience=patience)

    with monkeypatch.context() as patch:
        patch.setattr(background_worker.Worker, "close", close_told)
        shop.reopen()
    assert shop.jobs.get(number).state == "interrupted"
    assert shop.jobs.under_way() == []
    shop.jobs.resume_interrupted()
    assert shop.rested(number).state == "done"
    assert shop.done == Counter(LETTERS)


def test_a_crash_between_two_items_loses_neither_the_job_nor_what_is_done(tmp_path: Path) -> None:
    before = Workshop(tmp_path)
    before.answer = gate = Gate("d")
    number = before.start()
    assert gate.reached.wait(60)  # and nobody ever closes it
    after = Workshop(tmp_path)
    assert (after.jobs.get(number).state, after.jobs.get(number).done) == ("interrupted", 3)
    after.jobs.resume(number)
    assert after.rested(number).state == "done"
    assert [*after.done] == LETTERS[3:]
    after.jobs.close()
    after.catalog.close()
    gate.open.set()
    before.jobs.close()
    before.catalog.close()


def test_cancelling_keeps_what_is_done_and_leaves_the_rest(shop: Workshop) -> None:
    shop.answer = gate = Gate("c")
    number, waiting = shop.start(), shop.start(["z"])
    assert gate.reached.wait(60)
    shop.jobs.cancel(waiting)
    shop.jobs.cancel(number)
    gate.open.set()
    job = shop.rested(number)
    assert (job.state, job.done, job.left) == ("cancelled", 3, 7)
    assert shop.rested(waiting).state == "cancelled"
    shop.jobs.resume(number)
    assert shop.rested(number).state == "cancelled"
    assert shop.done == Counter("abc")


def test_what_was_refused_has_its_reason_and_can_be_tried_again(shop: Workshop) -> None:
    shop.answer = lambda item: ItemRefused(item, "no vowels") if item.key in "aei" else ItemDone(item)
    number = shop.start()
    job = shop.rested(number)
    assert (job.state, job.done, job.refused) == ("done", 7, 3)
    refused = shop.jobs.items(number, state="refused")
    assert [(item.key, item.reason) for item in refused] == [(key, "no vowels") for key in "aei"]
    shop.answer = ItemDone
    assert shop.jobs.try_again(number)
    assert (shop.rested(number).done, shop.rested(number).refused) == (10, 0)
    assert not shop.jobs.try_again(number)
    assert shop.done == Counter(LETTERS)


def test_an_item_put_off_comes_up_again_after_the_others(shop: Workshop) -> None:
    seen: Counter[str] = Counter()

    def answer(item: Item) -> Result:
        seen[item.key] += 1
        return ItemDeferred(item) if item.key == "b" and seen["b"] < 3 else ItemDone(item)

    shop.answer = answer
    assert shop.rested(shop.start()).done == 10
    assert [*shop.done][-1] == "b"
    assert seen["b"] == 3


def test_work_that_breaks_down_keeps_its_items_and_can_be_resumed(shop: Workshop) -> None:
    def break_down(item: Item) -> Result:
        if item.key == "c":
            raise BadSource("the list has no end")
        return ItemDone(item)

    shop.answer = break_down
    number = shop.start()
    job = shop.rested(number)
    assert (job.state, job.error, job.done, job.left) == ("failed", "the list has no end", 2, 8)
    assert [job.id for job in shop.jobs.open()] == [number]
    shop.answer = ItemDone
    shop.jobs.resume(number)
    assert (shop.rested(number).state, shop.rested(number).error) == ("done", "")
    assert shop.done == Counter(LETTERS)


def test_an_item_is_marked_and_its_result_written_together_or_not_at_all(shop: Workshop) -> None:
    def write(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO meta VALUES ('written', 1)")

    shop.answer = lambda item: ItemDone(item, write)
    job = shop.rested(shop.start(["a", "b"]))  # the second cannot write the same key
    assert (job.state, job.done) == ("failed", 1)
    assert "UNIQUE" in job.error
    assert shop.catalog.meta("written") == "1"


def test_work_without_items_keeps_its_options_its_notes_and_its_own_count(shop: Workshop) -> None:
    def work(context: "JobContext[Workshop]") -> None:
        context.progress.total = context.progress.done = 7
        context.store_note(cost=1.5)
        context.store_note(model=context.job.options["model"])

    shop.work = work  # type: ignore[method-assign]
    shop.reopen()
    job = shop.rested(shop.start((), model="m"))
    assert (job.state, job.total, job.done) == ("done", 7, 7)
    assert job.note == {"cost": 1.5, "model": "m"}


def test_work_that_ends_with_the_program_has_a_result_and_is_not_continued(shop: Workshop) -> None:
    job = shop.jobs.run("Add", lambda _: 2 + 2)
    assert (shop.rested(job.id).state, shop.rested(job.id).result) == ("done", 4)
    began, never = threading.Event(), threading.Event()

    def count(progress: Progress) -> int:
        while not progress.cancelled:
            progress.done += 1
            began.set()
            never.wait(0.001)  # others have to run as well
        return progress.done

    counting = shop.jobs.run("Count", count)
    assert began.wait(60)
    shop.jobs.pause(counting.id)  # it cannot be
    assert shop.jobs.get(counting.id).state == "running"
    shop.jobs.cancel(counting.id)
    assert shop.rested(counting.id).state == "cancelled"
    assert shop.rested(counting.id).result > 0

    began.clear()
    cut_short = shop.jobs.run("Count on", count)
    assert began.wait(60)
    shop.reopen()
    assert shop.jobs.get(cut_short.id).state == "failed"
    assert "begin it again" in shop.jobs.get(cut_short.id).error
    assert shop.jobs.open() == []


def test_an_unknown_kind_or_number_is_named(shop: Workshop) -> None:
    with pytest.raises(UnknownJob, match="no kind of work called 'dance'"):
        shop.start(kind="dance")
    with pytest.raises(UnknownJob, match="no job 99"):
        shop.jobs.pause(99)


def test_whoever_may_only_look_sees_the_jobs_and_directs_none(
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


def test_promoting_in_the_background_is_one_decision_and_names_what_it_refused(library: Library) -> None:
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


def test_a_decision_cut_short_after_its_records_moved_does_not_refuse_them_when_it_goes_on(
    library: Library,
) -> None:
    library.add([coin(number) for number in range(3)])
    keys = [address(number) for number in range(3)]
    job = library.jobs.start("move", keys[:1], name="Approve", options={"verb": "approve"})
    assert library.jobs.wait(job.id, timeout=60)
    with library.catalog.writing() as db:  # moved, and killed before the item was marked
        db.execute("UPDATE job_items SET state = 'waiting'")
        db.execute("UPDATE jobs SET state = 'interrupted', done = 0")
    library.jobs.resume_interrupted()
    assert library.jobs.wait(job.id, timeout=60)
    assert (library.jobs.get(job.id).done, library.jobs.get(job.id).refused) == (1, 0)
    assert len(library.history(decision=job.decision)) == 1


def test_a_decision_taken_back_while_it_was_under_way_goes_no_further(library: Library) -> None:
    library.add([coin(number) for number in range(2)])
    library.move("approve", [address(0)], decision="all that match")
    library.undo()
    with pytest.raises(Superseded, match="the rest is left alone"):
        library.move("approve", [address(1)], decision="all that match")
    assert library.counts()["pending"] == 2


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is tried again at once."""
    monkeypatch.setattr(background_worker, "FIRST", 0.0)


def troubles_with(reason: str) -> list[str]:
    """Which workers of this process say so; those of other tests may be in trouble of their own."""
    return [one.worker for one in background_worker.faults() if reason in one.reason]


@pytest.mark.usefixtures("impatient")
def test_a_folder_that_was_away_for_a_moment_stops_neither_the_job_nor_those_behind_it(
    shop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    came, both, catalog = threading.Event(), threading.Event(), shop.catalog.path

    def answer(item: Item) -> Result:
        if item.key == "d" and not came.is_set():
            assert both.wait(60)
            catalog.rename(catalog.with_name("away"))
            came.set()
        return ItemDone(item)

    shop.answer = answer
    number, behind = shop.start(), shop.start(["z"])
    both.set()
    assert came.wait(60)
    assert eventually(lambda: troubles_with("removed or replaced") == ["long work (library)"])
    assert "Traceback" in caplog.text
    catalog.with_name("away").rename(catalog)
    assert eventually(lambda: shop.jobs.get(behind).state == "done")
    assert (shop.jobs.get(number).state, shop.jobs.get(number).done) == ("done", 10)
    assert {*LETTERS, "z"} == shop.done.keys()
    assert troubles_with("removed or replaced") == []


@pytest.mark.parametrize("error", [OSError("the folder was away"), KeyError("surprise")])
def test_a_queue_that_cannot_begin_a_job_begins_it_later(
    shop: Workshop, error: Exception, monkeypatch: pytest.MonkeyPatch, impatient: None
) -> None:
    asked: list[int] = []
    next_waiting = shop.jobs._book.next_waiting

    def failing(kinds: Any) -> Job | None:
        asked.append(1)
        if len(asked) <= 3:
            raise error
        return next_waiting(kinds)

    monkeypatch.setattr(shop.jobs._book, "next_waiting", failing)
    number = shop.start()
    assert eventually(lambda: shop.jobs.get(number).state == "done")
    assert shop.done == Counter(LETTERS)


def test_who_ended_a_job_stands_in_it(shop: Workshop) -> None:
    shop.answer = gate = Gate("c")
    number = shop.start()
    assert gate.reached.wait(60)
    shop.jobs.cancel(number, actor="ann")
    gate.open.set()
    assert shop.rested(number).note["ended_by"] == "ann"


def test_jobs_that_make_room_are_noted_and_one_with_something_left_to_do_stays(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_rows, "KEPT", 1)
    shop.answer = lambda item: ItemDone(item)
    shop.rested(shop.start(["a"]))

    def break_down(_: Item) -> Result:
        raise BadSource("no end")

    shop.answer = break_down
    failed = shop.start(["b"])
    assert shop.rested(failed).state == "failed"
    shop.answer = ItemDone
    for letter in "cd":
        shop.rested(shop.start([letter]))
    assert shop.jobs.get(failed).can_resume
    with shop.catalog.reading() as db:
        noted = db.execute("SELECT who, what, name, kept FROM removed").fetchall()
    assert [tuple(row)[:3] for row in noted] == [("", "job", "Letters")]
    assert '"done": 1' in noted[0]["kept"]
