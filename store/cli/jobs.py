"""The command for jobs: list, continue and watch them."""

import time
from argparse import ArgumentParser, Namespace
from typing import Any, Protocol

from store.cli import values
from store.cli.open_library import reading, writing
from store.cli.output import named
from store.cli.terminal import Terminal
from store.errors import InvalidRecord, UnknownJob
from store.jobs import Job
from store.library import Library
from store.outcome import Refusal
from store.progress import Progress

_LOOK = 0.1  # seconds between two looks at a job
_ACTIONS = ("resume", "retry", "cancel")


class Verbs(Protocol):
    """Where the verbs of the command line are registered."""

    def add(self, verb: str, run: Any, meaning: str) -> ArgumentParser:
        """Register a verb with its function and meaning; returns its parser."""


def add_arguments(verbs: Verbs) -> None:
    """`jobs`."""
    jobs = verbs.add("jobs", jobs_, "list background jobs; resume, retry or cancel one")
    jobs.add_argument("action", nargs="?", choices=_ACTIONS)
    jobs.add_argument("number", nargs="?", type=values.positive, metavar="N")


def jobs_(arguments: Namespace, terminal: Terminal) -> int:
    """List the jobs; resume one, try its refused items again, or cancel it.

    Raises UnknownJob if it is not stored, InvalidRecord if it has nothing left to do.
    """
    if (arguments.action is None) != (arguments.number is None):
        arguments.parser.error("give an action and the number of a job, or neither")
    if arguments.action is None:
        with reading(arguments, terminal) as reader:
            _print_jobs(reader.jobs.all(), arguments, terminal)
        return 0
    with writing(arguments, terminal) as library:
        number = arguments.number
        job = library.jobs.get(number)
        if job is None:
            raise UnknownJob(f"there is no job {number}; `jobs` lists those there are")
        if arguments.action == "cancel":
            if not library.jobs.cancel(number):
                raise InvalidRecord(f"job {number} has ended")
            terminal.say(f"job {number} is cancelled; what was done is kept")
            return 0
        if arguments.action == "retry" and not library.jobs.try_again(number):
            raise InvalidRecord(f"job {number} refused nothing")
        if arguments.action == "resume":
            if not (job.can_resume or job.is_stuck):
                raise InvalidRecord(f"job {number} has nothing left to do")
            library.jobs.resume(number)
        return follow(library, job, arguments, terminal)


def watched(library: Library, job: Job, terminal: Terminal) -> Job:
    """The job once it rests; Ctrl-C pauses it."""

    def work(progress: Progress) -> Job:
        while True:
            rests = library.jobs.wait(job.id, timeout=_LOOK)
            now = library.jobs.get(job.id) or job
            doing = now.what or job.name
            if now.what and doing != progress.what:  # such as why it waits; not everybody sees the bar
                terminal.say(now.what)
            progress.what = doing
            progress.total, progress.done = now.total, now.done + now.refused
            if rests:
                return now
            if progress.cancelled:
                library.jobs.pause(job.id)

    return terminal.watch(work)


def follow(library: Library, job: Job, arguments: Namespace, terminal: Terminal) -> int:
    """Watch a job to its end, and report it."""
    over = watched(library, job, terminal)
    refused = library.jobs.items(over.id, state="refused", limit=over.refused or 1)
    if arguments.json:
        terminal.answer_json({**_as_json(over), "reasons": {item.key: item.reason for item in refused}})
    terminal.say(f"job {over.id}: {over.state}, {_figures(over)}")
    for line in what_is_left(over):
        terminal.say(line)
    is_left = over.is_stuck or over.state == "failed"
    return max(named([Refusal(item.key, item.reason) for item in refused], terminal), is_left)


def what_is_left(job: Job) -> list[str]:
    """Why a job that rests is not done, and what continues it."""
    lines = [job.error] if job.error else []
    if job.is_stuck:
        lines.append(f"job {job.id} goes on when the dashboard opens, or with `jobs resume {job.id}`")
    elif job.can_resume:
        lines.append(f"`jobs resume {job.id}` goes on with what is left")
    return lines


def _print_jobs(found: list[Job], arguments: Namespace, terminal: Terminal) -> None:
    if arguments.json:
        terminal.answer_json([_as_json(job) for job in found])
    elif found:
        rows = [
            (
                str(job.id),
                job.state,
                job.name,
                job.actor,
                time.strftime("%Y-%m-%d %H:%M", time.localtime(job.made_at)),
                " · ".join(part for part in (_figures(job), job.error) if part),
            )
            for job in found
        ]
        terminal.answer_table(("JOB", "STATE", "WHAT", "WHO", "BEGUN", ""), rows)
    else:
        terminal.say("no jobs yet")


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
