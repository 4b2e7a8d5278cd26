"""The long work of one library, as whoever is at it sees it and may direct it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from store.catalog import Catalog
from store.errors import ReadOnly, UnknownJob
from store.jobs.book import Book
from store.jobs.job import OPEN, PASSING, Item, ItemState, Job, State
from store.jobs.runner import Runner
from store.jobs.shift import Kind
from store.people import myself
from store.progress import Progress


class Jobs:
    """`library.jobs`: reading for everybody, the verbs for whoever may change the library."""

    READING = frozenset(
        {"get", "all", "open", "under_way", "items", "keys_under_way", "verbs_under_way", "wait"}
    )

    def __init__(self, book: Book, runner: Runner | None) -> None:
        self._book = book
        self._runner = runner

    @classmethod
    def to_read(cls, catalog: Catalog) -> "Jobs":
        """Beside the process that does the work."""
        return cls(Book(catalog), None)

    @classmethod
    def to_do(cls, catalog: Catalog, kinds: Iterable[Kind], library: Any) -> "Jobs":
        """In the process that does the work; what was left unfinished waits for `go_on` or `resume`."""
        book = Book(catalog)
        return cls(book, Runner(book, kinds, library))

    # -- looking ------------------------------------------------------------------------------------------

    def get(self, number: int) -> Job | None:
        """The job of this number, while it is remembered."""
        job = self._book.job(number)
        return self._seen(job) if job else None

    def all(self, *, limit: int = 200) -> list[Job]:
        """The jobs that are remembered, newest first."""
        return [self._seen(job) for job in self._book.jobs(limit=limit)]

    def open(self) -> list[Job]:
        """Those of which something is left to do, newest first; failed ones that could go on among them."""
        found = [self._seen(job) for job in self._book.jobs(states=OPEN)]
        return [job for job in found if job.is_under_way or job.can_resume]

    def under_way(self) -> list[Job]:
        """Those that are being worked on or wait for their turn, in that order."""
        states: list[State] = ["running", "waiting", "paused", "cancelled"]
        found = [self._seen(job) for job in reversed(self._book.jobs(states=states))]
        return sorted((job for job in found if job.is_under_way), key=lambda job: job.state == "waiting")

    def items(
        self, number: int, *, state: ItemState | None = None, offset: int = 0, limit: int = 100
    ) -> list[Item]:
        """What a job has to do, or those of its items in this state."""
        return self._book.items(number, state=state, offset=offset, limit=limit)

    def keys_under_way(self, kind: str, **options: Any) -> set[str]:
        """What jobs of this kind (with these options) have still to do: for marks on cards."""
        return self._book.keys_under_way(kind, options)

    def verbs_under_way(self, keys: Sequence[str]) -> dict[str, str]:
        """Of these records those that a move will come to by itself, with its verb."""
        return self._book.verbs_under_way(keys)

    def wait(self, number: int, *, timeout: float | None = None) -> bool:
        """Whether nothing worked on it any more within `timeout` seconds."""

        def rests() -> bool:
            job = self.get(number)
            return job is None or not job.is_under_way

        return self._runner.wait(rests, timeout) if self._runner else rests()

    # -- directing ----------------------------------------------------------------------------------------

    def start(
        self,
        kind: str,
        items: Iterable[str | tuple[str, Any]] = (),
        *,
        name: str,
        options: Mapping[str, Any] | None = None,
        who: str = "",
    ) -> Job:
        """Work through these items (keys, or keys with a JSON value each) in the background; returns at once.

        It is in the catalog when this returns. A kind is one of store/kinds.py.
        """
        runner = self._directed()
        if not runner.knows(kind):
            raise UnknownJob(f"there is no kind of work called {kind!r}")
        number = self._book.add(kind, name, items, options or {}, who=who or myself())
        runner.wake()
        return self._there(number)

    def run(self, name: str, work: Callable[[Progress], Any], *, who: str = "") -> Job:
        """Do this in the background, while this program runs; its result is with the job."""
        runner = self._directed()
        person = who or myself()
        number = runner.bring(lambda: self._book.add(PASSING, name, (), {}, who=person), work)
        runner.wake()
        return self._there(number)

    def pause(self, number: int) -> None:
        """Finish what is in hand, keep the rest for later; also past the end of the program."""
        runner = self._directed()
        job = self._there(number)
        if not job.is_passing and self._book.change(
            number, "paused", among=["waiting", "running", "interrupted"]
        ):
            runner.stop(number)

    def resume(self, number: int, *, options: Mapping[str, Any] | None = None) -> None:
        """Go on where it was: paused, interrupted, or failed; with other options, such as a larger budget."""
        runner = self._directed()
        if not self._there(number).is_passing:
            among: list[State] = ["paused", "interrupted", "failed"]
            if self._seen(self._there(number)).state == "interrupted":
                among.append("running")  # by its row only: its end could not be written down
            self._book.change(number, "waiting", among=among, options=options)
            runner.wake()

    def cancel(self, number: int) -> None:
        """End it; what is done stays done."""
        runner = self._directed()
        if self._book.change(number, "cancelled", among=[*OPEN]):
            runner.stop(number)

    def try_again(self, number: int) -> bool:
        """Do what was refused once more; False when nothing was."""
        runner = self._directed()
        if self._there(number).is_passing or not self._book.try_again(number):
            return False
        runner.wake()
        return True

    def dealt_with(self, number: int) -> None:
        """What came of it was saved or thrown away; nothing of it waits for a person any more."""
        self._directed()
        self._book.keep(number, {"dealt": True})
        self.cancel(number)

    def go_on(self) -> None:
        """Continue everything that the end of an earlier run of the program interrupted."""
        self._book.go_on()
        self._directed().wake()

    def close(self) -> None:
        """Stop; whatever is not done goes on another time."""
        if self._runner:
            self._runner.close()

    def _seen(self, job: Job) -> Job:
        return self._runner.seen(job) if self._runner else job

    def _there(self, number: int) -> Job:
        job = self.get(number)
        if job is None:
            raise UnknownJob(f"there is no job {number}; the jobs page and `jobs` list those there are")
        return job

    def _directed(self) -> Runner:
        if self._runner is None:
            raise ReadOnly("this library was opened for reading; long work is directed where it is done")
        return self._runner
