"""Background workers survive whatever their work raises, say so, wait longer each time and go on."""

import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from store.jobs import background_worker
from store.jobs.background_worker import Worker, faults
from store.progress import Progress


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries again at once."""
    monkeypatch.setattr(background_worker, "FIRST", 0.0)


class Work:
    """Fails as often as it is told to, and counts."""

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
def made() -> Iterator[list[Worker]]:
    workers: list[Worker] = []
    yield workers
    for worker in workers:
        worker.close()


def begun(work: Work, made: list[Worker], *, name: str = "polishing") -> Worker:
    worker = Worker(name, work)
    made.append(worker)
    worker.wake()
    return worker


class Panic(BaseException):
    """As Rust's are, which are no Exceptions."""


@pytest.mark.parametrize(
    "error", [OSError("away"), RuntimeError("odd"), KeyError("k"), MemoryError(), SystemExit(1), Panic("p")]
)
@pytest.mark.usefixtures("impatient")
def test_a_worker_goes_on_after_whatever_was_raised(error: BaseException, made: list[Worker]) -> None:
    work = Work(error, error)
    worker = begun(work, made)
    assert work.is_done.wait(60)
    assert worker.wait(60)
    assert work.times == 3
    assert faults() == []


def test_it_tells_what_is_wrong_and_logs_the_traceback_once(
    made: list[Worker], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(background_worker, "FIRST", 3600.0)
        work = Work(OSError("the folder is away"), OSError("the folder is away"))
        worker = begun(work, made)
        assert not worker.wait(60)
        worker.retry()
        assert not worker.wait(60)
    (trouble,) = faults()
    assert (trouble.worker, trouble.reason, trouble.times) == ("polishing", "OSError: the folder is away", 2)
    assert trouble.again > trouble.since
    assert caplog.text.count("Traceback") == 1, "a fault that stays does not fill the log"
    worker.retry()
    assert worker.wait(60)
    assert faults() == []
    assert "goes on, after 2 failures" in caplog.text


def test_each_wait_is_twice_as_long_as_the_one_before_and_none_longer_than_a_minute(
    made: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker.log, "error", lambda *_, **__: None)
    monkeypatch.setattr(background_worker, "time", SimpleNamespace(time=lambda: 0.0, monotonic=lambda: 0.0))
    worker = Worker("polishing", Work())
    rests = []
    for _ in range(9):
        worker._note(OSError("away"))
        assert worker.trouble
        rests.append(worker.trouble.again)
    assert worker.trouble
    gaps = [round(again - worker.trouble.since) for again in rests]
    assert gaps == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_a_change_does_not_shorten_the_wait_and_a_person_does(
    made: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker, "FIRST", 3600.0)
    work = Work(OSError("away"))
    worker = begun(work, made)
    assert not worker.wait(60)
    worker.wake()
    assert not worker.wait(60)
    assert work.times == 1
    worker.retry()
    assert worker.wait(60)
    assert work.times == 2


def test_a_closed_worker_neither_works_nor_is_in_trouble(
    made: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker, "FIRST", 3600.0)
    work = Work(OSError("away"))
    worker = begun(work, made)
    assert not worker.wait(60)
    assert worker.close()
    worker.retry()
    assert work.times == 1
    assert faults() == []


def test_closing_waits_no_longer_than_it_is_told_to(made: list[Worker]) -> None:
    may_end, began = threading.Event(), threading.Event()

    def hang(_: Progress) -> None:
        began.set()
        may_end.wait()

    worker = Worker("hanging", hang)
    worker.wake()
    assert began.wait(60)
    assert not worker.close(patience=0)
    may_end.set()
    assert worker.close()


def test_a_system_without_room_for_a_thread_makes_no_decision_look_failed(
    made: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", lambda _: (_ for _ in ()).throw(RuntimeError("no room")))
        worker = begun(work, made)
        assert "no room" in faults()[0].reason
    worker.retry()
    assert work.is_done.wait(60)
