"""The threads that do long work: one for each queue, only while there is something to do."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from store.errors import MemedexError
from store.jobs.book import CUT_SHORT, Book
from store.jobs.job import PASSING, Job, State
from store.jobs.shift import Kind, Shift
from store.progress import Progress

log = logging.getLogger(__name__)

_PATIENCE = 5.0  # seconds a closing library waits for work in hand; what is not finished comes again
_RESULTS = 50  # of passing work, kept in memory


class Runner:
    """Takes waiting jobs from the book, in the order they were asked for."""

    def __init__(self, book: Book, kinds: Iterable[Kind], library: Any) -> None:
        self._book = book
        self._library = library
        self._kinds = {kind.name: kind for kind in (*kinds, Kind(PASSING, self._pass))}
        self._passing: dict[int, Callable[[Progress], Any]] = {}
        self._results: dict[int, Any] = {}
        self._live: dict[int, Shift] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._change = threading.Condition()
        self._is_closing = False
        try:
            book.reopen()
        except (OSError, sqlite3.Error):  # a full disk: the library opens all the same, and `seen` knows them
            log.warning("what an earlier run left unfinished could not be noted", exc_info=True)

    def knows(self, kind: str) -> bool:
        return kind in self._kinds

    def bring(self, add: Callable[[], int], work: Callable[[Progress], Any]) -> int:
        """Work for a passing job that `add` puts into the book; its number."""
        with self._change:  # not begun before we know what is to be done
            number = add()
            self._passing[number] = work
        return number

    def wake(self) -> None:
        """Something waits."""
        with self._change:
            for queue in {kind.queue for kind in self._kinds.values()} - self._threads.keys():
                if not self._is_closing and self._book.next_waiting(self._of(queue)):
                    # A daemon: the store survives being stopped at any step, and the program must end.
                    thread = threading.Thread(
                        target=self._run, args=(queue,), name=f"memedex-{queue}", daemon=True
                    )
                    self._threads[queue] = thread
                    thread.start()

    def stop(self, number: int) -> None:
        """Have the job end what it has in hand; its state was changed before."""
        with self._change:
            if shift := self._live.get(number):
                shift.stop()
            else:
                self._passing.pop(number, None)
            self._change.notify_all()

    def seen(self, job: Job) -> Job:
        """The job with what only this process knows of it."""
        shift = self._live.get(job.id)
        if shift is None:
            if job.state == "running":  # its end could not be written down
                job = replace(job, state="interrupted")
            return replace(job, result=self._results.get(job.id))
        counted = shift.progress
        return replace(
            job,
            total=job.total or counted.total,
            done=max(job.done, counted.done),
            worked=job.worked + shift.not_kept,
            what=counted.what,
            rate=shift.rate(),
            is_stopping=shift.is_stopping,
        )

    def wait(self, is_over: Callable[[], bool], timeout: float | None) -> bool:
        with self._change:
            return self._change.wait_for(is_over, timeout)

    def close(self) -> None:
        """Stop, so that another run of the program can go on."""
        with self._change:
            self._is_closing = True
            for shift in self._live.values():
                shift.stop()
            threads = list(self._threads.values())
        until = time.monotonic() + _PATIENCE
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _of(self, queue: str) -> list[str]:
        return [kind.name for kind in self._kinds.values() if kind.queue == queue]

    def _run(self, queue: str) -> None:
        try:
            while shift := self._begin(queue):
                try:
                    self._do(shift)
                finally:
                    with self._change:
                        del self._live[shift.job.id]
                        self._change.notify_all()
        except (
            MemedexError,
            sqlite3.Error,
        ):  # the disk is full, or the library was closed: what is left waits in the book
            log.warning("long work stopped", exc_info=True)
            with self._change:
                self._threads.pop(queue, None)
                self._change.notify_all()

    def _begin(self, queue: str) -> Shift | None:
        with self._change:
            job = None if self._is_closing else self._book.next_waiting(self._of(queue))
            if job is None or not self._book.change(job.id, "running", among=["waiting"]):
                del self._threads[queue]
                self._change.notify_all()
                return None
            shift = self._live[job.id] = Shift(replace(job, state="running"), self._book, self._library)
        return shift

    def _do(self, shift: Shift) -> None:
        job, error = shift.job, ""
        try:
            self._kinds[job.kind].work(shift)
        except MemedexError as caught:
            error = str(caught)
        except sqlite3.Error as caught:
            error = f"the catalog could not be written: {caught}"
        except Exception as caught:
            log.exception("the job %r failed", job.name)
            error = f"{type(caught).__name__}: {caught}"
        counted = shift.progress
        self._book.count(job.id, total=counted.total, done=counted.done, worked=shift.worked_since())
        self._end(shift, error)

    def _end(self, shift: Shift, error: str) -> None:
        number = shift.job.id
        left = bool(self._book.waiting_after(number, 0, 1))
        end: State = "failed" if error else "done"
        if self._is_closing and not error and (left or (shift.is_stopping and not shift.job.total)):
            end = "failed" if shift.job.is_passing else "interrupted"
            error = CUT_SHORT if shift.job.is_passing else ""
        self._book.change(number, end, among=["running"], error=error)
        if error or (not left and shift.job.total):  # the last item was done while somebody pressed pause
            self._book.change(number, end, among=["paused"], error=error)

    def _pass(self, shift: Shift) -> None:
        work = self._passing.pop(shift.job.id)
        result = work(shift.progress)
        self._results[shift.job.id] = result
        while len(self._results) > _RESULTS:
            del self._results[next(iter(self._results))]
