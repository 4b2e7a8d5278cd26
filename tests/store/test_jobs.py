"""Long work: one at a time, watched from outside, ended on request, never lost without a reason."""

import threading
import time

from store.errors import BadSource
from store.jobs import Job, Jobs
from store.progress import Progress


def over(jobs: Jobs, job: Job) -> Job:
    assert jobs.wait(job, timeout=10)
    return job


def test_a_job_gives_its_result_and_its_times() -> None:
    jobs = Jobs()
    job = over(jobs, jobs.start("Add", lambda _: 2 + 2))
    assert (job.state, job.result, job.error) == ("done", 4, "")
    assert 0 < job.began <= job.ended <= time.time()


def test_jobs_run_one_at_a_time_in_the_order_they_were_asked_for() -> None:
    jobs, order, may_go = Jobs(), [], threading.Event()
    running = threading.Semaphore(1)

    def work(name: str) -> None:
        assert running.acquire(blocking=False), "two jobs ran at once"
        may_go.wait(10)
        order.append(name)
        running.release()

    started = [jobs.start(name, lambda _, name=name: work(name)) for name in "abc"]  # type: ignore[misc]
    assert jobs.under_way() is started[0]
    assert started[2].state == "waiting"
    may_go.set()
    assert [over(jobs, job).state for job in started] == ["done"] * 3
    assert order == ["a", "b", "c"]
    assert jobs.under_way() is None


def test_a_job_that_goes_wrong_says_why_and_the_next_one_runs() -> None:
    jobs = Jobs()

    def refuse(_: Progress) -> None:
        raise BadSource("the list has no end")

    def break_down(_: Progress) -> None:
        raise ZeroDivisionError("division by zero")

    assert over(jobs, jobs.start("Refuse", refuse)).error == "the list has no end"
    broken = over(jobs, jobs.start("Break", break_down))
    assert (broken.state, broken.error) == ("failed", "ZeroDivisionError: division by zero")
    assert over(jobs, jobs.start("Go on", lambda _: "fine")).result == "fine"


def test_cancelling_keeps_what_is_done() -> None:
    jobs, began = Jobs(), threading.Event()

    def count(progress: Progress) -> int:
        progress.total = 1_000_000
        began.set()
        while not progress.cancelled:
            progress.done += 1
        return progress.done

    job = jobs.start("Count", count)
    assert began.wait(10)
    assert job.state == "running"
    job.cancel()
    assert over(jobs, job).state == "cancelled"
    assert job.result == job.progress.done > 0


def test_a_job_that_is_cancelled_while_it_waits_never_begins() -> None:
    jobs, may_go, begun = Jobs(), threading.Event(), []
    first = jobs.start("First", lambda _: may_go.wait(10))
    second = jobs.start("Second", lambda _: begun.append(1))
    second.cancel()
    may_go.set()
    over(jobs, first)
    assert over(jobs, second).state == "cancelled"
    assert begun == []


def test_how_much_is_done_is_known_once_the_total_is() -> None:
    job = Job(1, "Import")
    assert job.fraction is None
    job.progress.total, job.progress.done = 8, 2
    assert job.fraction == 0.25


def test_a_job_is_found_by_its_number_while_it_is_remembered() -> None:
    jobs = Jobs()
    job = over(jobs, jobs.start("Add", lambda _: None))
    assert jobs.get(job.id) is job
    assert jobs.get(job.id + 1) is None
