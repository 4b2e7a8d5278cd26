"""Workers that share a turn work one after the other, in the order in which they came."""

import threading
from collections.abc import Callable, Iterator

import pytest

from store.disk.lock import FairLock
from store.jobs.background_worker import Worker
from store.progress import Progress
from tests.waiting import eventually


@pytest.fixture
def workers() -> Iterator[list[Worker]]:
    found: list[Worker] = []
    yield found
    for worker in found:
        assert worker.close(timeout=60)


def test_they_work_one_after_the_other_in_the_order_in_which_they_came(workers: list[Worker]) -> None:
    turn, worked, goes_on = FairLock(), [], threading.Semaphore(0)

    def work(name: str) -> Callable[[Progress], None]:
        def do(_: Progress) -> None:
            worked.append(name)
            assert goes_on.acquire(timeout=60)

        return do

    workers += [Worker(name, work(name), turn=turn) for name in "abc"]
    for number, worker in enumerate(workers, 1):
        worker.wake()
        assert eventually(lambda number=number: len(turn._waiting) == number)
    for done in ("a", "ab", "abc"):
        assert eventually(lambda done=done: worked == [*done])
        goes_on.release()
    assert all(worker.wait(60) for worker in workers)


def test_one_that_fails_lets_the_next_work(workers: list[Worker]) -> None:
    def fail(_: Progress) -> None:
        raise OSError("no disk")

    turn, done = FairLock(), threading.Event()
    workers += [Worker("fails", fail, turn=turn), Worker("works", lambda _: done.set(), turn=turn)]
    for worker in workers:
        worker.wake()
    assert done.wait(60)


def test_one_that_is_closed_while_it_waits_ends_without_working(workers: list[Worker]) -> None:
    turn, goes_on, worked = FairLock(), threading.Event(), threading.Event()
    first = Worker("first", lambda _: goes_on.wait(60), turn=turn)
    second = Worker("second", lambda _: worked.set(), turn=turn)
    workers.append(first)
    first.wake()
    assert eventually(lambda: len(turn._waiting) == 1)
    second.wake()
    assert eventually(lambda: len(turn._waiting) == 2)
    assert second.close(timeout=60)
    assert not worked.is_set()
    goes_on.set()
