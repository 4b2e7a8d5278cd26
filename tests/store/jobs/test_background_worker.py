"""Background workers survive any exception, report it, wait longer after each failure and continue."""

import itertools
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from store.jobs import Item, ItemDone, Job, Result, background_worker
from store.jobs.background_worker import Worker, faults
from store.progress import Progress
from tests.store.jobs.harness import LETTERS, JobHarness
from tests.waiting import eventually


@pytest.fixture
def immediate_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry immediately."""
    monkeypatch.setattr(background_worker, "FIRST", 0.0)


class Work:
    """Raises the given failures in turn, then succeeds; counts its calls."""

    def __init__(self, *failures: BaseException) -> None:
        self.failures = [*failures]
        self.times = 0
        self.is_done = threading.Event()

    def __call__(self, _: Progress) -> None:
        self.times += 1
        if self.failures:
            raise self.failures.pop(0)
        self.is_done.set()


@pytest.fixture
def created_workers() -> Iterator[list[Worker]]:
    workers: list[Worker] = []
    yield workers
    for worker in workers:
        worker.close()


def start_worker(work: Work, created_workers: list[Worker], *, name: str = "polishing") -> Worker:
    worker = Worker(name, work)
    created_workers.append(worker)
    worker.wake()
    return worker


class Panic(BaseException):
    """Like a Rust panic, which is not an Exception."""


@pytest.mark.parametrize(
    "error", [OSError("away"), RuntimeError("odd"), KeyError("k"), MemoryError(), SystemExit(1), Panic("p")]
)
@pytest.mark.usefixtures("immediate_retries")
def test_a_worker_continues_after_any_exception(error: BaseException, created_workers: list[Worker]) -> None:
    work = Work(error, error)
    worker = start_worker(work, created_workers)
    assert work.is_done.wait(60)
    assert worker.wait(60)
    assert work.times == 3
    assert faults() == []


def test_a_worker_reports_its_fault_and_logs_the_traceback_once(
    created_workers: list[Worker], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(background_worker, "FIRST", 3600.0)
        work = Work(OSError("the folder is away"), OSError("the folder is away"))
        worker = start_worker(work, created_workers)
        assert not worker.wait(60)
        worker.retry()
        assert not worker.wait(60)
    (fault,) = faults()
    assert (fault.worker, fault.reason, fault.times) == ("polishing", "OSError: the folder is away", 2)
    assert fault.again > fault.since
    assert caplog.text.count("Traceback") == 1, "a fault that stays does not fill the log"
    worker.retry()
    assert worker.wait(60)
    assert faults() == []
    assert "goes on, after 2 failures" in caplog.text


def test_each_wait_doubles_up_to_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_worker.log, "error", lambda *_, **__: None)
    monkeypatch.setattr(background_worker, "time", SimpleNamespace(time=lambda: 0.0, monotonic=lambda: 0.0))
    worker = Worker("polishing", Work())
    rests = []
    for _ in range(9):
        worker._note(OSError("away"))
        assert worker.fault
        rests.append(worker.fault.again)
    assert worker.fault
    gaps = [round(again - worker.fault.since) for again in rests]
    assert gaps == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_only_an_explicit_retry_ends_the_wait_early(
    created_workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker, "FIRST", 3600.0)
    work = Work(OSError("away"))
    worker = start_worker(work, created_workers)
    assert not worker.wait(60)
    worker.wake()
    assert not worker.wait(60)
    assert work.times == 1
    worker.retry()
    assert worker.wait(60)
    assert work.times == 2


def test_a_closed_worker_neither_runs_nor_reports_faults(
    created_workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker, "FIRST", 3600.0)
    work = Work(OSError("away"))
    worker = start_worker(work, created_workers)
    assert not worker.wait(60)
    assert worker.close()
    worker.retry()
    assert work.times == 1
    assert faults() == []


def test_closing_waits_no_longer_than_its_timeout() -> None:
    may_end, began = threading.Event(), threading.Event()

    def hang(_: Progress) -> None:
        began.set()
        may_end.wait()

    worker = Worker("hanging", hang)
    worker.wake()
    assert began.wait(60)
    assert not worker.close(timeout=0)
    may_end.set()
    assert worker.close()


def test_a_worker_whose_thread_cannot_start_reports_a_fault_and_recovers(
    created_workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", lambda _: (_ for _ in ()).throw(RuntimeError("no room")))
        worker = start_worker(work, created_workers)
        assert "no room" in faults()[0].reason
    worker.retry()
    assert work.is_done.wait(60)


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
    assert eventually(lambda: workers_with_fault("removed or replaced") == ["jobs (library)"])
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
    begun: list[int] = []
    next_waiting = harness.jobs._repository.next_waiting

    def failing(kinds: Any) -> Job | None:
        begun.append(1)
        if len(begun) <= 3:
            raise error
        return next_waiting(kinds)

    monkeypatch.setattr(harness.jobs._repository, "next_waiting", failing)
    number = harness.start()
    assert eventually(lambda: harness.jobs.get(number).state == "done")
    assert harness.done == Counter(LETTERS)


@pytest.mark.parametrize(("found", "rests"), [(0, True), (1, False)])
def test_an_unhurried_worker_rests_in_proportion_after_it_looked_in_vain(
    found: int, rests: bool, created_workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Seconds of processor time, of each thread its own: each look takes half of one.
    spent = defaultdict[int, Iterator[float]](lambda: itertools.count(step=0.5))
    monkeypatch.setattr(background_worker.time, "thread_time", lambda: next(spent[threading.get_ident()]))
    looks = 0

    def look(_: Progress) -> int:
        nonlocal looks
        looks += 1
        return found

    worker = Worker("looking", look, is_unhurried=True)
    created_workers.append(worker)
    worker.wake()
    assert worker.wait(60)
    worker.wake()
    assert worker.wait(0.2 if rests else 60) is not rests
    assert looks == (1 if rests else 2)
    worker.retry()
    assert worker.wait(60)
    assert looks == (2 if rests else 3)
