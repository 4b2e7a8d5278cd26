"""Jobs on every page: a bar while one runs, a message when it is finished."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import streamlit as st

from components.shell import format, job_text, live, session
from store.jobs import Job, Jobs
from store.library import Library
from store.progress import Progress

_WATCHED = "memedex.watched_jobs"


def start(
    jobs: Jobs, kind: str, items: Iterable[Any] = (), *, name: str, options: Mapping[str, Any] | None = None
) -> Job:
    """Start a job that survives a restart, and tell this session when it is finished."""
    return watched(jobs.start(kind, items, name=name, options=options))


def run(jobs: Jobs, name: str, work: Callable[[Progress], Any]) -> Job:
    """Start a job that ends with the program."""
    return watched(jobs.run(name, work))


def begin(jobs: Jobs, name: str, work: Callable[[Progress], Any]) -> None:
    """Like `run`, for callbacks of buttons."""
    run(jobs, name, work)


def is_busy(jobs: Jobs) -> bool:
    """Whether a job that ends with the program is running, so that it is not started twice."""
    return any(job.is_ephemeral or not job.total for job in jobs.under_way())


def watch(library: Library, *, are_bars_drawn: bool) -> None:
    """Draw a bar for each job of everybody; say so when one that this session began has ended."""
    _say_what_ended(library.jobs)
    live.jobs(library, are_bars_drawn=are_bars_drawn)


def watched(job: Job) -> Job:
    """The job; this session is told when it is finished."""
    st.session_state.setdefault(_WATCHED, []).append(job.id)
    return job


def watcher() -> Callable[[Job], Job]:
    """`watched` for a form, which begins its job beside the page's runs."""
    own: list[int] = st.session_state.setdefault(_WATCHED, [])

    def watch(job: Job) -> Job:
        own.append(job.id)
        return job

    return watch


def _say_what_ended(jobs: Jobs) -> None:
    for number in list(st.session_state.get(_WATCHED, ())):
        job = jobs.get(number)
        if job is not None and job.is_under_way:
            continue
        st.session_state[_WATCHED].remove(number)
        if job is None or not job.is_over:
            continue
        name = format.plain(job.name)
        if job.state == "failed":
            session.queue_message(
                f"{name} failed: {format.plain(job.error, limit=200)}", icon=":material/error:"
            )
        else:
            done, refused = job_text.result_counts(job)
            ending = (
                "stopped" if job.state == "cancelled" else "done" if done or not refused else "nothing done"
            )
            icon = ":material/check:" if not refused else ":material/warning:" if done else ":material/error:"
            session.queue_message(
                f"{name}: {ending}" + (f", {refused:,} refused" if refused else ""), icon=icon
            )
