"""Jobs on every page: a bar while one runs, a message when it is finished; its script pauses and stops it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import streamlit as st

from components.shell import format
from components.shell.page import forms, live
from components.shell.page.forms import Button
from components.shell.server.messages import Kind, RowNumber, Sender
from components.shell.session import login, session
from store import Job, Jobs, Library, LruCache, Outcome, Progress

_WATCHED = "memedex.watched_jobs"
_BEGUN = "memedex.begun_jobs"  # by name, those whose result a page shows
_SESSIONS = 1_000  # for whose next run a route has begun jobs

_from_routes: LruCache[str, tuple[int, ...]] = LruCache(_SESSIONS)
_lock = threading.Lock()


def button(
    key: str,
    library: Library,
    name: str,
    work: Callable[[Progress], Any],
    *,
    button: Button,
    kept_as: str = "",
    after_run: bool = False,
) -> bool:
    """A form that starts a job that ends with the program; `kept_as`: the name for `begun`."""  # fmt: skip
    watch = watcher(kept_as)
    start = partial(library.jobs.run, name, work)
    return forms.button(key, library, lambda: watch(start()), button=button, after_run=after_run)


def is_busy(jobs: Jobs) -> bool:
    """Whether a job that ends with the program is running, so that it is not started twice.

    One that waits for the disk keeps nobody from a repair.
    """
    return any(job.is_ephemeral or not (job.total or job.is_stuck) for job in jobs.under_way())


def watch(library: Library, *, are_bars_drawn: bool) -> None:
    """Draw a bar for each job of everybody; say so when one that this session began has ended."""
    _say_what_ended(library.jobs)
    live.jobs(library, are_bars_drawn=are_bars_drawn)


def watcher(kept_as: str = "") -> Callable[[Job], Job]:
    """What a form calls with the job that it began: this session is told when it is finished."""
    place, begun = login.session(), st.session_state.setdefault(_BEGUN, {})

    def watch(job: Job) -> Job:
        watch_for(place, job)
        if kept_as:
            begun[kept_as] = job.id
        return job

    return watch


def starting(start: Callable[..., Job | None], kept_as: str = "") -> forms.Send:
    """What a form calls to start a job with the id of the press as its `decision`, and to watch it."""
    watch = watcher(kept_as)

    def send(sent: forms.Sent) -> str:
        if job := start(decision=sent.decision):
            watch(job)
        return ""

    return send


def watch_for(session: str, job: Job) -> None:
    """Tell this session when the job is finished."""
    with _lock:
        _from_routes[session] = (*(_from_routes.get(session) or ()), job.id)


def begun(jobs: Jobs, name: str) -> Job | None:
    """The last job that this session began under this name."""
    number = st.session_state.get(_BEGUN, {}).get(name)
    return jobs.get(number) if number else None


def hide_result(name: str) -> None:
    """Show the result of this job no longer."""
    st.session_state.get(_BEGUN, {}).pop(name, None)


def _say_what_ended(jobs: Jobs) -> None:
    watched: list[int] = st.session_state.setdefault(_WATCHED, [])
    with _lock:
        watched.extend(_from_routes.get(login.session()) or ())
        _from_routes[login.session()] = ()
    for number in list(watched):
        job = jobs.get(number)
        if job is not None and job.is_under_way:
            continue
        watched.remove(number)
        if job is None or not job.is_over:
            continue
        name = format.plain(job.name)
        if job.state == "failed":
            session.queue_message(
                f"{name} failed: {format.plain(job.error, limit=200)}", icon=":material/error:"
            )
        else:
            done, refused = job.done, job.refused
            ending = (
                "stopped" if job.state == "cancelled" else "done" if done or not refused else "nothing done"
            )
            icon = ":material/check:" if not refused else ":material/warning:" if done else ":material/error:"
            message = f"{name}: {ending}" + (f", {refused:,} refused" if refused else "")
            said = job.result.said if isinstance(job.result, Outcome) else job.result
            if isinstance(said, str) and said:  # what the work has to say
                message = f"{message}. {format.plain(said, limit=300)}"
                icon = icon if refused else ":material/info:"
            session.queue_message(message, icon=icon)


@dataclass(frozen=True, slots=True)
class JobOrder:
    """What is to become of a job."""

    job: RowNumber
    verb: Literal["pause", "stop"]


def answer(library: Library, order: JobOrder, _: Sender) -> dict[str, str]:
    """Pause or stop the job. Raises UnknownJob if there is none to pause."""
    if order.verb == "pause":
        library.jobs.pause(order.job)
    else:
        library.jobs.cancel(order.job)
    return {}


KIND = Kind("job", JobOrder, answer, writes=True)
