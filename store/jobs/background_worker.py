"""Background threads that survive every exception of their work."""

import contextlib
import logging
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from weakref import WeakSet

from store.disk.lock import FairLock
from store.progress import Progress

log = logging.getLogger(__name__)

FIRST = 1.0  # seconds until the second try; twice as long before each further one …
LONGEST = 60.0  # … up to this
_REST = 30.0  # times as long as an unhurried look took that found nothing: looking costs 3 % of a core …
_LONGEST_REST = 10.0  # … and what is new is found within so many seconds
_QUESTION = 0.2  # seconds that the answer to a worker's question may still take at the end
_LATER = 10  # by how much an unhurried thread's priority is lower, where the system has one for each thread


def described(error: BaseException) -> str:
    """The error with its class, which says what it is where the message does not."""
    return f"{type(error).__name__}: {error}"


@dataclass(frozen=True, slots=True)
class WorkerFault:
    """The cause that keeps a worker from its work now."""

    worker: str
    reason: str
    times: int  # failures in a row
    since: float  # UNIX seconds of the first of them
    again: float  # UNIX seconds of the next try


class Worker:
    """Runs `work` in a thread of its own whenever it is woken, until it is closed.

    An unhurried worker yields to others, and rests after work that returns nothing or 0. Those that share a
    `turn` work one after the other.

    An exception of the work is logged with its traceback and shown as `fault`. The work is tried again
    after FIRST seconds, then after twice as long each time, up to `longest`.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[Progress], object],
        *,
        longest: float | None = None,
        is_unhurried: bool = False,
        turn: FairLock | None = None,
        describe: Callable[[BaseException], str] = described,
    ) -> None:
        self.name = name  # what it does, in a person's words
        self.fault: WorkerFault | None = None
        self._work = work
        self._longest = longest
        self._is_unhurried = is_unhurried
        self._turn = turn or FairLock()
        self._describe = describe
        self._progress = Progress()
        self._changed = threading.Condition()
        self._due = inf  # on the monotonic clock, as is the next
        self._rests_until = 0.0  # after a failure
        self._looks_from = 0.0  # after a look that found nothing
        self._failures = 0  # ever
        self._is_busy = self._is_closing = False
        self._thread: threading.Thread | None = None
        _all.add(self)

    @property
    def has_begun(self) -> bool:
        """Whether it was ever woken."""
        return self._thread is not None

    @property
    def is_unhurried(self) -> bool:
        """Whether it yields to others."""
        return self._is_unhurried

    @property
    def is_closing(self) -> bool:
        """Whether the worker ends after its present piece of work."""
        return self._is_closing

    def wake(self, *, after: float = 0.0) -> None:
        """Tell it that there may be work, `after` some seconds; never raises: what caused it is decided."""
        with self._changed:
            if not self._is_closing:
                self._due = min(self._due, time.monotonic() + after)
                self._begin()

    def retry(self) -> None:
        """Work now, even after failures, because a person asked."""
        with self._changed:
            self._rests_until = self._looks_from = 0.0
        self.wake()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until there is no work (True), it fails or takes too long (False)."""

        def is_over() -> bool:
            failed = self._failures > before or self._rests_until > time.monotonic()
            return not self._is_busy and (self._due == inf or failed or self._is_closing)

        with self._changed:
            before = self._failures
            return self._changed.wait_for(is_over, timeout) and self._due == inf and self.fault is None

    @property
    def thread(self) -> int | None:
        """The identifier of its thread, once there is one."""
        return self._thread.ident if self._thread else None

    def stop(self) -> None:
        """Tell it to end before the next batch; returns at once."""
        with self._changed:
            self._is_closing = True
            self._progress.cancel()
            self._changed.notify_all()
        self._turn.recheck()

    def close(self, *, timeout: float | None = None) -> bool:
        """Stop before the next batch; returns whether it stopped within `timeout` seconds."""
        self.stop()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _begin(self) -> None:
        if self._thread is None:
            # A daemon: the store survives being stopped at any step, and the program must end.
            name = f"memedex-{self.name.replace(' ', '-')}"
            thread = threading.Thread(target=self._run, name=name, daemon=True)
            try:
                thread.start()
            except RuntimeError as error:  # no room for another thread: the next call tries again
                self._note(error)
            else:
                self._thread = thread
        self._changed.notify_all()

    def _run(self) -> None:
        if self._is_unhurried and sys.platform == "linux":
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LATER)
        while self._comes_to_work():
            began = time.thread_time()
            try:
                with self._turn.acquire(unless=lambda: self._is_closing):
                    found = None if self._is_closing else self._work(self._progress)
            except BaseException as error:  # noqa: BLE001  Rust's panics, as Chroma has them, are no Exceptions
                with self._changed:
                    if not (self._is_closing and _is_interrupted(error)):
                        self._note(error)
            else:
                with self._changed:
                    if self.fault:
                        log.warning("%s: goes on, after %d failures", self.name, self.fault.times)
                    self.fault = None
                    if self._is_unhurried and not found:
                        rest = min(_LONGEST_REST, _REST * (time.thread_time() - began))
                        self._looks_from = time.monotonic() + rest

    def _comes_to_work(self) -> bool:
        """Wait until there is work and no pause to keep; False if the worker was closed."""
        with self._changed:
            self._is_busy = False
            self._changed.notify_all()
            while not self._is_closing:
                left = max(self._due, self._rests_until, self._looks_from) - time.monotonic()
                if left <= 0:
                    self._due, self._is_busy = inf, True
                    return True
                self._changed.wait(None if left == inf else left)
            return False

    def _note(self, error: BaseException) -> None:
        before, reason = self.fault, self._describe(error)
        times = before.times + 1 if before else 1
        longest = LONGEST if self._longest is None else self._longest
        rest = min(longest, FIRST * 2 ** min(times - 1, 30))
        now = time.time()
        self.fault = WorkerFault(self.name, reason, times, before.since if before else now, now + rest)
        self._failures += 1
        self._rests_until = time.monotonic() + rest
        self._due = min(self._due, self._rests_until)
        is_new = before is None or before.reason != reason  # a fault that stays must not fill the log
        log.error(
            "%s: failed, again in %.0f s: %s", self.name, rest, reason, exc_info=error if is_new else None
        )


def close_all(workers: Iterable[Worker], *, timeout: float, interrupt: Callable[[int | None], None]) -> None:
    """Stop these workers in `timeout` seconds; `interrupt` gets the thread of one that is late."""
    left, until = list(workers), time.monotonic() + timeout
    for worker in left:
        worker.stop()
    while left and time.monotonic() < until:
        left = [worker for worker in left if not worker.close(timeout=_QUESTION)]
        for worker in left:
            interrupt(worker.thread)
    for worker in left:
        log.warning("%s: did not end within %.0f s", worker.name, timeout)


def _is_interrupted(error: BaseException) -> bool:
    """Whether SQLite was told to end what it did."""
    return isinstance(error, sqlite3.Error) and error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT


def faults() -> list[WorkerFault]:
    """The workers of this process that cannot work now, the longest fault first."""
    found = [worker.fault for worker in _all.copy() if worker.fault and not worker.is_closing]
    return sorted(found, key=lambda fault: fault.since)


_all: WeakSet[Worker] = WeakSet()
