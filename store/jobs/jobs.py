"""`library.jobs`: list, start and control the background jobs of one library; a thread runs each queue."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Generic

from store.catalog.catalog import Catalog
from store.errors import LibraryStuck, MemedexError, UnknownJob
from store.jobs.background_worker import Worker
from store.jobs.job import EPHEMERAL, OPEN, Item, ItemState, Job, State
from store.jobs.job_context import JobContext, JobKind, L
from store.jobs.job_rows import CUT_SHORT, JobRepository
from store.outcome import Outcome
from store.progress import Progress

log = logging.getLogger(__name__)

_TIMEOUT = 5.0  # seconds a closing library waits for work in hand; what is not finished comes again
_RESULTS = 50  # of passing work, kept in memory


class Runner(Generic[L]):
    """Takes waiting jobs in the order in which they were started."""

    def __init__(self, repository: JobRepository, kinds: Iterable[JobKind[L]], library: L) -> None:
        self._repository = repository
        self._library = library
        self._kinds = {kind.name: kind for kind in (*kinds, JobKind(EPHEMERAL, self._pass))}
        self._passing: dict[int, Callable[[Progress], Any]] = {}
        self._results: dict[int, Any] = {}
        self._live: dict[int, JobContext[L]] = {}
        # Jobs whose end could not be written down yet: what went wrong, and whether they go on.
        self._unended: dict[int, tuple[JobContext[L], str, bool]] = {}
        self.workers: Sequence[Worker] = [
            Worker(f"jobs ({queue})", partial(self._run, queue))
            for queue in sorted({kind.queue for kind in self._kinds.values()})
        ]
        self._change = threading.Condition()
        self._is_closing = False
        try:
            repository.reopen()
        except (OSError, sqlite3.Error):  # a full disk: the library opens all the same, and `seen` knows them
            log.warning("what an earlier run left unfinished could not be noted", exc_info=True)

    def knows(self, kind: str) -> bool:
        """Whether there is a kind of job of this name."""
        return kind in self._kinds

    def add(self, add: Callable[[], int], work: Callable[[Progress], Any]) -> int:
        """Register the work of an ephemeral job that `add` stores; returns its number."""
        with self._change:  # not begun before we know what is to be done
            number = add()
            self._passing[number] = work
        return number

    def wake(self) -> None:
        """Start waiting jobs, because a person asked for one."""
        for worker in self.workers:
            worker.retry()

    def stop(self, number: int) -> None:
        """Let the job finish its work in progress and end; its state was changed before."""
        with self._change:
            if context := self._live.get(number):
                context.stop()
            else:
                self._passing.pop(number, None)
            self._change.notify_all()

    def seen(self, job: Job) -> Job:
        """The job, completed with what only this process knows about it."""
        context = self._live.get(job.id)
        if (
            context is None and job.state == "running"
        ):  # read before its end, or that could not be written down
            with self._change:
                context = self._live.get(job.id)
                job = self._repository.job(job.id) or job
            if context is None and job.state == "running":
                job = self._unwritten(job)
        if context is None:
            return replace(job, result=self._results.get(job.id))
        counted = context.progress
        return replace(
            job,
            total=job.total or counted.total,
            done=max(job.done, counted.done),
            worked=job.worked + context.unstored,
            what=counted.what,
            answer=counted.answer,
            rate=context.rate(),
            result=self._results.get(job.id),  # kept before its end is
            # The row says so a moment before `stop` tells the work.
            is_stopping=context.is_stopping or job.state in ("paused", "cancelled"),
        )

    def wait(self, is_over: Callable[[], bool], timeout: float | None) -> bool:
        """Wait until this is true, at most `timeout` seconds; returns whether it is."""
        with self._change:
            return self._change.wait_for(is_over, timeout)

    def close(self) -> None:
        """Stop, so that another run of the program can continue."""
        with self._change:
            self._is_closing = True
            for context in self._live.values():
                context.stop()
        until = time.monotonic() + _TIMEOUT
        for worker in self.workers:
            worker.close(timeout=max(0.0, until - time.monotonic()))

    def _of(self, queue: str) -> list[str]:
        return [kind.name for kind in self._kinds.values() if kind.queue == queue]

    def _unwritten(self, job: Job) -> Job:
        """The job as it is, where its row still says that it runs."""
        if job.id not in self._unended:
            return replace(job, state="interrupted")
        _, error, goes_on = self._unended[job.id]
        return replace(job, state="waiting" if goes_on else "failed" if error else "done", error=error)

    def _run(self, queue: str, _: Progress) -> None:
        self._end_the_unended(queue)
        behind, stuck = 0, None
        while context := self._begin(queue, behind):
            try:
                self._do(context)
            except LibraryStuck as error:  # the others have their turn, for one of them may be the repair
                behind, stuck = context.job.id, error
            finally:
                with self._change:
                    del self._live[context.job.id]
                    self._change.notify_all()
        if stuck:
            raise stuck  # the worker rests, and tries all of them again

    def _begin(self, queue: str, behind: int) -> JobContext[L] | None:
        with self._change:
            job = None if self._is_closing else self._repository.next_waiting(self._of(queue), behind)
            if job is None or not self._repository.change(job.id, "running", among=["waiting"]):
                self._change.notify_all()
                return None
            context = self._live[job.id] = JobContext(
                replace(job, state="running"), self._repository, self._library
            )
        return context

    def _do(self, context: JobContext[L]) -> None:
        """Do the work of a job, and write down its end. Raises LibraryStuck if it waits for the disk."""
        job, error, goes_on = context.job, "", False
        stuck: LibraryStuck | None = None
        try:
            self._kinds[job.kind].work(context)
        except LibraryStuck as caught:
            error, goes_on, stuck = str(caught), True, caught
        except MemedexError as caught:
            error = str(caught)
        except sqlite3.Error as caught:
            error, goes_on = f"the catalog could not be written: {caught}", True
        except Exception as caught:
            log.exception("the job %r failed", job.name)
            error, goes_on = f"{type(caught).__name__}: {caught}", isinstance(caught, OSError)
        # A disk that was away, for its end as well: the work goes on when it is back, without anybody's help.
        if job.is_ephemeral:
            goes_on, stuck = False, None
        self._unended[job.id] = context, error, goes_on
        total, done, refused = context.progress.total, context.progress.done, 0
        if isinstance(result := self._results.get(job.id), Outcome):  # its steps may be more than its coins
            total, done, refused = 0, len(result.done), len(result.refused)
        worked = context.worked_since()
        self._repository.count(job.id, total=total, done=done, refused=refused, worked=worked)
        if stuck:
            self._repository.change(job.id, "waiting", among=["running"], error=error)
        else:
            self._end(context, error)
        del self._unended[job.id]
        if stuck:
            raise stuck

    def _end_the_unended(self, queue: str) -> None:
        for number, (context, error, goes_on) in [*self._unended.items()]:
            if self._kinds[context.job.kind].queue == queue:
                if goes_on:
                    self._repository.change(number, "waiting", among=["running"])
                else:
                    self._end(context, error)
                del self._unended[number]

    def _end(self, context: JobContext[L], error: str) -> None:
        number = context.job.id
        has_items = bool(self._repository.items(number, state=None, offset=0, limit=1))
        left = bool(self._repository.waiting_after(number, 0, 1))
        end: State = "failed" if error else "done"
        if self._is_closing and not error and (left or (context.is_stopping and not has_items)):
            end = "failed" if context.job.is_ephemeral else "interrupted"
            error = CUT_SHORT if context.job.is_ephemeral else ""
        self._repository.change(number, end, among=["running"], error=error)
        if error or (not left and has_items):  # the last item finished while the user pressed pause
            self._repository.change(number, end, among=["paused"], error=error)

    def _pass(self, context: JobContext[L]) -> None:
        work = self._passing.pop(context.job.id)
        result = work(context.progress)
        self._results[context.job.id] = result
        while len(self._results) > _RESULTS:
            del self._results[next(iter(self._results))]


class Jobs:
    """The background jobs of a library; everybody may read, only writers may start or control them."""

    def __init__(self, catalog: Catalog, runner: Runner[Any] | None = None) -> None:
        """Without a runner for a process that does not run jobs."""
        self._catalog = catalog
        self._repository = JobRepository(catalog)
        self._runner = runner

    @classmethod
    def with_runner(cls, catalog: Catalog, kinds: Iterable[JobKind[L]], library: L) -> "Jobs":
        """For the process that runs jobs; unfinished ones wait for `resume_interrupted` or `resume`."""
        return cls(catalog, Runner(JobRepository(catalog), kinds, library))

    def for_actor(self, catalog: Catalog) -> "Jobs":
        """The same jobs with the permissions of this catalog's actor."""
        return Jobs(catalog, self._runner)

    # -- looking ------------------------------------------------------------------------------------------

    def get(self, number: int) -> Job | None:
        """The job with this number; None if it is not stored (any more)."""
        job = self._repository.job(number)
        return self._seen(job) if job else None

    def of_decision(self, decision: str) -> Job | None:
        """The job that carries out this decision; None if there is none."""
        job = self._repository.of_decision(decision)
        return self._seen(job) if job else None

    def all(self, *, limit: int = 200) -> list[Job]:
        """All stored jobs, newest first."""
        return [self._seen(job) for job in self._repository.jobs(limit=limit)]

    def open(self) -> list[Job]:
        """Jobs that have something left to do, newest first, including failed ones that can be resumed."""
        found = [self._seen(job) for job in self._repository.jobs(states=OPEN)]
        return [job for job in found if job.is_under_way or job.can_resume]

    def under_way(self) -> list[Job]:
        """Running jobs, then those that wait for their turn."""
        states: list[State] = ["running", "waiting", "paused", "cancelled"]
        found = [self._seen(job) for job in reversed(self._repository.jobs(states=states))]
        return sorted((job for job in found if job.is_under_way), key=lambda job: job.state == "waiting")

    def items(
        self, number: int, *, state: ItemState | None = None, offset: int = 0, limit: int = 100
    ) -> list[Item]:
        """A job's items, or those in this state."""
        return self._repository.items(number, state=state, offset=offset, limit=limit)

    def keys_under_way(self, kind: str, **options: Any) -> set[str]:
        """Keys that unfinished jobs of this kind, with these options, will still process."""
        return self._repository.keys_under_way(kind, options)

    def verbs_under_way(self, keys: Sequence[str]) -> dict[str, str]:
        """The verb of the job that will still move each of these records."""
        return self._repository.verbs_under_way(keys)

    def wait(self, number: int, *, timeout: float | None = None) -> bool:
        """Wait until nothing works on the job, or it waits for the disk; False after `timeout` seconds."""

        def rests() -> bool:
            job = self.get(number)
            return job is None or not job.is_under_way or job.is_stuck

        return self._runner.wait(rests, timeout) if self._runner else rests()

    # -- directing ----------------------------------------------------------------------------------------

    def start(
        self,
        kind: str,
        items: Iterable[str | tuple[str, Any]] = (),
        *,
        name: str,
        options: Mapping[str, Any] | None = None,
        actor: str = "",
        decision: str | None = None,
    ) -> Job:
        """Start a job over these items (keys, or keys with a JSON value each); returns at once.

        The job is in the catalog when this returns. The kinds are listed in store/tasks/__init__.py.
        `decision` is the id of what it decides; started again with the same id, it is the same job.
        Raises UnknownJob for any other kind.
        """
        runner = self._directed()
        if not runner.knows(kind):
            raise UnknownJob(f"there is no kind of work called {kind!r}")
        number = self._repository.add(
            kind, name, items, options or {}, actor=actor or self._catalog.actor.name, decision=decision
        )
        runner.wake()
        return self._there(number)

    def run(
        self,
        name: str,
        work: Callable[[Progress], Any],
        *,
        options: Mapping[str, Any] | None = None,
        actor: str = "",
    ) -> Job:
        """Run a function in the background while this program runs; the result is stored with the job."""
        runner = self._directed()
        person = actor or self._catalog.actor.name
        number = runner.add(
            lambda: self._repository.add(EPHEMERAL, name, (), options or {}, actor=person), work
        )
        runner.wake()
        return self._there(number)

    def pause(self, number: int) -> None:
        """Finish the work in progress and keep the rest, even after the program ends. Raises UnknownJob."""
        runner = self._directed()
        job = self._there(number)
        if not job.is_ephemeral and self._repository.change(
            number, "paused", among=["waiting", "running", "interrupted"]
        ):
            runner.stop(number)

    def resume(self, number: int, *, options: Mapping[str, Any] | None = None) -> None:
        """Continue a paused, interrupted, failed or stuck job, with new options. Raises UnknownJob."""
        runner = self._directed()
        job = self._there(number)
        if not job.is_ephemeral:
            among: list[State] = ["waiting", "paused", "interrupted", "failed"]
            if job.state != "running":
                among.append("running")  # by its row only: its end could not be written down
            self._repository.change(number, "waiting", among=among, options=options)
            runner.wake()

    def cancel(self, number: int, *, actor: str = "") -> bool:
        """End a job, and note by whom; finished items stay done. False if it has ended already."""
        runner = self._directed()
        if not self._repository.change(
            number, "cancelled", among=[*OPEN], note={"ended_by": actor or self._catalog.actor.name}
        ):
            return False
        runner.stop(number)
        return True

    def try_again(self, number: int) -> bool:
        """Try refused items again; False if there were none. Raises UnknownJob or ReadOnly."""
        runner = self._directed()
        if self._there(number).is_ephemeral or not self._repository.try_again(number):
            return False
        runner.wake()
        return True

    def dismiss(self, number: int, *, actor: str = "") -> None:
        """Mark a job's result as saved or discarded, so that users are not asked about it."""
        self._directed()
        person = actor or self._catalog.actor.name
        # A picture that waited with the result is larger than all the rest, and every list reads the notes.
        self._repository.store_note(number, {"dealt": True, "ended_by": person, "picture": None})
        self.cancel(number, actor=actor)

    def resume_interrupted(self) -> None:
        """Continue all jobs that the end of an earlier run of the program interrupted."""
        runner = self._directed()
        self._repository.resume_interrupted()
        runner.wake()

    def close(self) -> None:
        """Stop the threads; unfinished jobs continue another time."""
        self._catalog.actor.permit()
        if self._runner:
            self._runner.close()

    def _seen(self, job: Job) -> Job:
        return self._runner.seen(job) if self._runner else job

    def _there(self, number: int) -> Job:
        job = self.get(number)
        if job is None:
            raise UnknownJob(f"there is no job {number}; the jobs page and `jobs` list those there are")
        return job

    def _directed(self) -> Runner[Any]:
        """The runner. Raises LoginEnded or ReadOnly if the actor may not control jobs."""
        self._catalog.check_writable()
        assert self._runner is not None, "the process that writes does the work"
        return self._runner
