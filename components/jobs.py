"""Long work as one sees it on every page: a bar while it runs, a word when it is over."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import streamlit as st

from components import live, state, wording
from store.jobs import Job, Jobs
from store.progress import Progress

_WATCHED = "memedex.watched_jobs"
_BUSY, _IDLE = 0.5, 3.0  # seconds between two looks
_SHOWN = 2  # bars on a page that is about something else


def start(
    jobs: Jobs, kind: str, items: Iterable[Any] = (), *, name: str, options: Mapping[str, Any] | None = None
) -> Job:
    """Begin long work that outlives this program, and tell this session when it is over."""
    return watched(jobs.start(kind, items, name=name, options=options))


def run(jobs: Jobs, name: str, work: Callable[[Progress], Any]) -> Job:
    """The same for work that ends with this program."""
    return watched(jobs.run(name, work))


def is_busy(jobs: Jobs) -> bool:
    """Whether something that ends with this program is under way, so that it is not begun twice."""
    return any(job.is_passing or not job.total for job in jobs.under_way())


def watch(jobs: Jobs, *, can_stop: bool) -> None:
    """Show the work that is under way, wherever it was begun, and run the page anew when it is over."""
    _say_what_ended(jobs)
    shown = {job.id for job in jobs.under_way()}
    catch_up = live.catching_up()

    def bars() -> None:
        now = jobs.under_way()
        catch_up({job.id for job in now} != shown)
        for job in now[:_SHOWN]:
            bar(jobs, job, can_stop=can_stop)
        if len(now) > _SHOWN:
            st.page_link("pages/jobs.py", label=f"and {len(now) - _SHOWN:,} more")

    st.fragment(bars, run_every=_BUSY if shown else _IDLE)()


def bar(jobs: Jobs, job: Job, *, can_stop: bool) -> None:
    """One bar, with what it is doing, and a way to stop it for those who could have begun it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(job.fraction or 0.0, text=told(job), width="stretch")
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


def told(job: Job) -> str:
    """How it stands, in one line of Markdown."""
    parts = [wording.plain(job.name)]
    if job.state == "waiting":
        return f"{parts[0]} · waiting for its turn"
    if job.total:
        parts.append(f"{job.done + job.refused:,} of {job.total:,}")
    if job.refused:
        parts.append(f"{job.refused:,} refused")
    if job.rate and job.total > 1:
        parts.append(pace(job.rate))
    if (left := job.seconds_left) is not None and job.left:
        parts.append(f"{wording.duration(left)} left")
    if job.what:
        parts.append(wording.plain(job.what, limit=80))
    return " · ".join(parts)


def pace(rate: float) -> str:
    """Items a second, or a minute where that says more."""
    return f"{rate:,.1f} a second" if rate >= 0.5 else f"{rate * 60:,.1f} a minute"


def watched(job: Job) -> Job:
    """The job, of which this session is told when it is over."""
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
        name = wording.plain(job.name)
        if job.state == "failed":
            state.say(f"{name} failed: {wording.plain(job.error, limit=200)}", icon=":material/error:")
        else:
            ending = "stopped" if job.state == "cancelled" else "done"
            refused = f", {job.refused:,} refused" if job.refused else ""
            state.say(f"{name}: {ending}{refused}", icon=":material/check:")
