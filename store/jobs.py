"""Long work in the background: it outlives the page that asked for it, and is watched, never waited for."""

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from store.errors import MemedexError
from store.progress import Progress

log = logging.getLogger(__name__)

State = Literal["waiting", "running", "done", "cancelled", "failed"]
KEPT = 50  # finished jobs that are remembered


@dataclass(eq=False)
class Job:
    """One piece of long work; its fields are written by the worker and may be read at any time."""

    id: int
    name: str
    progress: Progress = field(default_factory=Progress)
    state: State = "waiting"
    result: Any = None
    error: str = ""
    began: float = 0.0  # UNIX seconds, 0 while it waits
    ended: float = 0.0

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "cancelled", "failed")

    @property
    def fraction(self) -> float | None:
        """How much is done, 0 to 1; None while that is not known."""
        total = self.progress.total
        return min(1.0, self.progress.done / total) if total else None

    @property
    def seconds(self) -> float:
        if not self.began:
            return 0.0
        return (self.ended or time.time()) - self.began

    def cancel(self) -> None:
        """Ask it to stop; what is done is kept."""
        self.progress.cancel()


class Jobs:
    """The long work of one library, one at a time and in the order it was asked for."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._change = threading.Condition()
        self._waiting: deque[tuple[Job, Callable[[Progress], Any]]] = deque()
        self._jobs: deque[Job] = deque(maxlen=KEPT)
        self._worker: threading.Thread | None = None

    def start(self, name: str, work: Callable[[Progress], Any]) -> Job:
        """Do the work in the background, after what is already waiting; returns at once."""
        with self._change:
            job = Job(next(self._ids), name)
            self._jobs.append(job)
            self._waiting.append((job, work))
            if self._worker is None:
                # A daemon: the store survives being stopped at any step, and the program must be able to end.
                self._worker = threading.Thread(target=self._run, name="memedex-jobs", daemon=True)
                self._worker.start()
        return job

    def get(self, number: int) -> Job | None:
        """The job of this number, while it is remembered."""
        return next((job for job in self.all() if job.id == number), None)

    def all(self) -> list[Job]:
        """The jobs that are remembered, oldest first."""
        with self._change:
            return list(self._jobs)

    def under_way(self) -> Job | None:
        """The job that runs, or is next to run."""
        return next((job for job in self.all() if not job.is_over), None)

    def wait(self, job: Job, *, timeout: float | None = None) -> bool:
        """Whether the job was over within `timeout` seconds."""
        with self._change:
            return self._change.wait_for(lambda: job.is_over, timeout)

    def _run(self) -> None:
        while True:
            with self._change:
                if not self._waiting:
                    self._worker = None
                    return
                job, work = self._waiting.popleft()
            self._do(job, work)
            with self._change:
                self._change.notify_all()

    @staticmethod
    def _do(job: Job, work: Callable[[Progress], Any]) -> None:
        job.began, job.state = time.time(), "running"
        end: State = "done"
        try:
            if not job.progress.cancelled:
                job.result = work(job.progress)
            end = "cancelled" if job.progress.cancelled else "done"
        except MemedexError as error:
            job.error, end = str(error), "failed"
        except Exception as error:
            log.exception("the job %r failed", job.name)
            job.error, end = f"{type(error).__name__}: {error}", "failed"
        finally:
            job.ended, job.state = time.time(), end
