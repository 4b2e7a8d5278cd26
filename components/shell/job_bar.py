"""Jobs on every page: a progress bar while one runs, a message when it is finished."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import streamlit as st

from components.shell import format, refresh, session
from store.jobs import Job, Jobs
from store.outcome import Outcome
from store.progress import Progress

_WATCHED = "memedex.watched_jobs"
_BUSY, _IDLE = 0.5, 3.0  # seconds between two looks
_SHOWN = 2  # bars on a page that is about something else


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
    return any(job.is_passing or not job.total for job in jobs.under_way())


def watch(jobs: Jobs, *, can_stop: bool) -> None:
    """Show running jobs of everybody, and rerun the page when one is finished."""
    _say_what_ended(jobs)
    shown = {job.id for job in jobs.under_way()}
    catch_up = refresh.catching_up()

    def bars() -> None:
        now = jobs.under_way()
        catch_up({job.id for job in now} != shown)
        for job in now[:_SHOWN]:
            bar(jobs, job, can_stop=can_stop)
        if len(now) > _SHOWN:
            st.page_link("pages/jobs.py", label=f"and {len(now) - _SHOWN:,} more")

    st.fragment(bars, run_every=_BUSY if shown else _IDLE)()


def bar(jobs: Jobs, job: Job, *, can_stop: bool) -> None:
    """One bar with the job's state, and a stop button for those who may start it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(job.fraction or 0.0, text=describe(job), width="stretch")
        if job.is_stopping:
            st.badge("stopping", color="yellow")
        elif can_stop:
            if not job.is_passing:
                st.button(
                    "Pause",
                    key=f"pause-{job.id}",
                    help="It can be continued later, also after a restart.",
                    on_click=jobs.pause,
                    args=(job.id,),
                )
            st.button(
                "Stop",
                key=f"stop-{job.id}",
                help="What is done is kept.",
                on_click=jobs.cancel,
                args=(job.id,),
            )


def describe(job: Job) -> str:
    """The state of a job in one line of Markdown."""
    parts = [format.plain(job.name)]
    if job.state == "waiting":
        return f"{parts[0]} · waiting for its turn"
    if job.total:
        parts.append(f"{job.done + job.refused:,} of {job.total:,}")
    if job.refused:
        parts.append(f"{job.refused:,} refused")
    if job.rate and job.total > 1:
        parts.append(pace(job.rate))
    if (left := job.seconds_left) is not None and job.left:
        parts.append(f"{format.duration(left)} left")
    if job.what:
        parts.append(format.plain(job.what, limit=80))
    return " · ".join(parts)


def pace(rate: float) -> str:
    """Items a second, or a minute if that is more readable."""
    return f"{rate:,.1f} a second" if rate >= 0.5 else f"{rate * 60:,.1f} a minute"


def watched(job: Job) -> Job:
    """The job; this session is told when it is finished."""
    st.session_state.setdefault(_WATCHED, []).append(job.id)
    return job


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
            done, refused = result_counts(job)
            ending = (
                "stopped" if job.state == "cancelled" else "done" if done or not refused else "nothing done"
            )
            icon = ":material/check:" if not refused else ":material/warning:" if done else ":material/error:"
            session.queue_message(
                f"{name}: {ending}" + (f", {refused:,} refused" if refused else ""), icon=icon
            )


def result_counts(job: Job) -> tuple[int, int]:
    """How many items were done, and how many refused."""
    if isinstance(job.result, Outcome):
        return len(job.result.done), len(job.result.refused)
    return job.done, job.refused
