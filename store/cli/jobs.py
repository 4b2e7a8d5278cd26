"""The verb for background jobs, and how a command watches one."""

from typing import Annotated, Any, Literal

from typer import Argument

from store.cli.call import Call
from store.cli.terminal import local_time
from store.cli.verbs import verb, whole
from store.errors import InvalidRecord, UnknownJob
from store.jobs import Job
from store.library import Library
from store.outcome import Refusal
from store.progress import Progress

_LOOK = 0.1  # seconds between two looks at a job


@verb("jobs")
def jobs(
    call: Call,
    action: Annotated[
        Literal["resume", "retry", "cancel"] | None, Argument(metavar="resume|retry|cancel")
    ] = None,
    number: Annotated[int | None, Argument(metavar="N", parser=whole)] = None,
) -> int:
    """List background jobs; resume, retry or cancel one."""
    if action is None:
        with call.reading() as reader:
            return _print_jobs(reader.jobs.all(), call)
    if number is None:
        call.fail("give an action and the number of a job, or neither")
    with call.writing() as library:
        job = library.jobs.get(number)
        if job is None:
            raise UnknownJob(f"there is no job {number}; `jobs` lists those there are")
        if action == "cancel":
            if not library.jobs.cancel(number):
                raise InvalidRecord(f"job {number} has ended")
            call.say(f"job {number} is cancelled; what was done is kept")
            return 0
        if action == "retry" and not library.jobs.try_again(number):
            raise InvalidRecord(f"job {number} refused nothing")
        if action == "resume":
            if not (job.can_resume or job.is_stuck):
                raise InvalidRecord(f"job {number} has nothing left to do")
            library.jobs.resume(number)
        return follow(library, job, call)


def watched(library: Library, job: Job, call: Call) -> Job:
    """The job once it rests; Ctrl-C pauses it."""

    def work(progress: Progress) -> Job:
        while True:
            rests = library.jobs.wait(job.id, timeout=_LOOK)
            now = library.jobs.get(job.id) or job
            doing = now.what or job.name
            if now.what and doing != progress.what:  # such as why it waits; not everybody sees the bar
                call.say(now.what)
            progress.what = doing
            progress.total, progress.done = now.total, now.done + now.refused
            if rests:
                return now
            if progress.cancelled:
                library.jobs.pause(job.id)

    return call.watch(work)


def follow(library: Library, job: Job, call: Call) -> int:
    """Watch a job to its end, and report it."""
    over = watched(library, job, call)
    refused = library.jobs.items(over.id, state="refused", limit=over.refused or 1)
    if call.json:
        call.answer_json({**_as_json(over), "reasons": {item.key: item.reason for item in refused}})
    call.say(f"job {over.id}: {over.state}, {_figures(over)}")
    for line in what_is_left(over):
        call.say(line)
    is_left = over.is_stuck or over.state == "failed"
    return max(call.named([Refusal(item.key, item.reason) for item in refused]), is_left)


def what_is_left(job: Job) -> list[str]:
    """Why a job that rests is not done, and what continues it."""
    lines = [job.error] if job.error else []
    if job.is_stuck:
        lines.append(f"job {job.id} goes on when the dashboard opens, or with `jobs resume {job.id}`")
    elif job.can_resume:
        lines.append(f"`jobs resume {job.id}` goes on with what is left")
    return lines


def _print_jobs(found: list[Job], call: Call) -> int:
    rows = [
        (
            str(job.id),
            job.state,
            job.name,
            job.actor,
            local_time(job.made_at),
            " · ".join(part for part in (_figures(job), job.error) if part),
        )
        for job in found
    ]
    head = ("JOB", "STATE", "WHAT", "WHO", "BEGUN", "")
    return call.listed([_as_json(job) for job in found], head, rows, empty="no jobs yet")


def _figures(job: Job) -> str:
    of_total = f" of {job.total:,}" if job.total else ""
    parts = [f"{job.done:,}{of_total} done"] if job.total or job.done else []
    if job.refused:
        parts.append(f"{job.refused:,} refused")
    if (cost := job.note.get("cost")) is not None:
        parts.append(f"${cost:,.4f}")
    return ", ".join(parts)


def _as_json(job: Job) -> dict[str, Any]:
    keys = ("id", "kind", "name", "state", "total", "done", "refused", "error", "made_at", "ended_at")
    fields = {key: getattr(job, key) for key in keys}
    return fields | {"who": job.actor, "options": dict(job.options), "note": dict(job.note)}
