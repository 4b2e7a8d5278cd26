"""`library.jobs`: list, start and control the background jobs of one library."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from store.catalog.catalog import Catalog
from store.errors import UnknownJob
from store.jobs.job import EPHEMERAL, OPEN, Item, ItemState, Job, State
from store.jobs.job_context import JobKind, L
from store.jobs.job_rows import JobRepository
from store.jobs.runner import Runner
from store.progress import Progress


class Jobs:
    """The background jobs of a library; everybody may read, only writers may start or control them."""

    def __init__(self, catalog: Catalog, runner: Runner[Any] | None) -> None:
        self._catalog = catalog
        self._repository = JobRepository(catalog)
        self._runner = runner

    @classmethod
    def for_reading(cls, catalog: Catalog) -> "Jobs":
        """For a process that does not run jobs."""
        return cls(catalog, None)

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
        """Keys that unfinished jobs of this kind, with these options, will still process.

        For marks on cards.
        """
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
        """Finish the work in progress and keep the rest, even after the program ends.

        Raises UnknownJob, and ReadOnly if the actor may not control jobs.
        """
        runner = self._directed()
        job = self._there(number)
        if not job.is_ephemeral and self._repository.change(
            number, "paused", among=["waiting", "running", "interrupted"]
        ):
            runner.stop(number)

    def resume(self, number: int, *, options: Mapping[str, Any] | None = None) -> None:
        """Continue a paused, interrupted, failed or stuck job, with new options such as a larger budget.

        Raises UnknownJob, and ReadOnly if the actor may not control jobs.
        """
        runner = self._directed()
        job = self._there(number)
        if not job.is_ephemeral:
            among: list[State] = ["waiting", "paused", "interrupted", "failed"]
            if job.state != "running":
                among.append("running")  # by its row only: its end could not be written down
            self._repository.change(number, "waiting", among=among, options=options)
            runner.wake()

    def cancel(self, number: int, *, actor: str = "") -> bool:
        """End a job; finished items stay done. False if it has ended already.

        Its note names the person as `ended_by`.
        """
        runner = self._directed()
        if not self._repository.change(
            number, "cancelled", among=[*OPEN], note={"ended_by": actor or self._catalog.actor.name}
        ):
            return False
        runner.stop(number)
        return True

    def try_again(self, number: int) -> bool:
        """Try refused items again; False if there were none.

        Raises UnknownJob, and ReadOnly if the actor may not control jobs.
        """
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
