"""Long work as one sees it: a bar while it runs, a word when it is over."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from components import state, wording
from store.jobs import Job, Jobs
from store.progress import Progress

_WATCHED = "memedex.watched_job"


def start(jobs: Jobs, name: str, work: Callable[[Progress], Any]) -> Job:
    """Begin long work and watch it on every page from now on."""
    job = jobs.start(name, work)
    st.session_state[_WATCHED] = job.id
    return job


def watch(jobs: Jobs, *, can_stop: bool) -> None:
    """Show the work that is under way; ask again twice a second, and run the page anew when it is over."""
    job = jobs.under_way()
    _say_what_ended(jobs)
    if job is None:
        return

    def bar() -> None:
        if job.is_over:
            st.rerun()
        show(job, can_stop=can_stop)

    st.fragment(bar, run_every=0.5)()


def show(job: Job, *, can_stop: bool) -> None:
    """One bar, with what it is doing, and a way to stop it for those who could have begun it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(job.fraction or 0.0, text=_text(job), width="stretch")
        if job.progress.cancelled:
            st.badge("stopping", color="yellow")
        elif can_stop:
            st.button("Stop", key=f"stop-{job.id}", help="What is done is kept.", on_click=job.cancel)


def _text(job: Job) -> str:
    name, progress = wording.plain(job.name), job.progress
    if job.state == "waiting":
        return f"{name} · waiting for its turn"
    figures = f" · {progress.done:,} of {progress.total:,}" if progress.total else ""
    what = f" · {wording.plain(progress.what, limit=60)}" if progress.what else ""
    return f"{name}{figures}{what}"


def _say_what_ended(jobs: Jobs) -> None:
    number = st.session_state.get(_WATCHED)
    job = jobs.get(number) if number else None
    if job is None or not job.is_over:
        return
    del st.session_state[_WATCHED]
    name = wording.plain(job.name)
    if job.state == "failed":
        state.say(f"{name} failed: {wording.plain(job.error, limit=200)}", icon=":material/error:")
    else:
        state.say(f"{name}: {'stopped' if job.state == 'cancelled' else 'done'}", icon=":material/check:")
