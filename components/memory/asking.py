"""Ask a language model about the text memory: a question, and the answer with the entries that it cites."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from components.memory import entry_link
from components.memory.kinds import KINDS, place_of
from components.shell import format
from components.shell.page import forms, job_bar, live, places
from components.shell.page.forms import Button, Field
from components.shell.session import login, resources
from store import Job, MemoryVerbs, Progress
from store.memory.values import Answer, GivenEntry, configured_model
from store.settings import settings

_JOB = "Ask the text memory"  # without the question: jobs stay in the catalog


def show(memory: MemoryVerbs) -> None:
    """The question with its model, and this person's last answer."""
    name = settings().caption_model
    if name:
        st.caption(f"{format.plain(name)} is given three entries of each kind, and cites those it uses.")
    else:
        st.page_link(**places.LANGUAGE_MODEL, label="Choose a language model", icon=":material/neurology:")
    forms.show(
        "ask-memory", resources.library(), partial(_ask, memory, job_bar.watcher()),
        button=Button("Ask", icon="forum", kind="primary"),
        fields=[
            Field("question", "Question", "text", height=80),
            Field("world", "World", choices=[*memory.worlds()], placeholder="every world"),
            Field("session", "Session", choices=[*memory.sessions()], placeholder="every session"),
            *([] if name else [Field("model", "Language model", placeholder="gpt-4o-mini, ollama/llama3 …")]),
        ],
    )  # fmt: skip
    own = [job for job in resources.jobs().all() if job.name == _JOB and job.actor == login.person()]
    if own:
        _last(memory, max(own, key=lambda job: job.id))


def _ask(memory: MemoryVerbs, watch: Callable[[Job], Job], given: Mapping[str, Any]) -> str:
    model = configured_model(str(given.get("model", "")).strip())
    question, world, session = (str(given[name]).strip() for name in ("question", "world", "session"))

    def work(progress: Progress) -> Answer:
        progress.what = f"asking {model.name}"
        for piece in memory.ask(
            question, model=model, world=world, session=session, is_stopping=lambda: progress.cancelled
        ):
            if isinstance(piece, Answer):
                return piece
            progress.answer += piece
        raise AssertionError("the whole answer comes last")

    watch(resources.jobs().run(_JOB, work))
    return "Asked."


def _last(memory: MemoryVerbs, job: Job) -> None:
    if not job.is_over:
        live.answer(resources.library(), job.id, job.answer)
        st.caption("The bar stops it.")
        return
    answer = job.result
    if not isinstance(answer, Answer):
        st.error("There is no answer:", icon=":material/error:")
        st.text(job.error or "it was stopped before it began")
        return
    if not answer.is_whole:
        st.warning("Stopped: this is what came until then.", icon=":material/stop_circle:")
    st.text(answer.text)
    for one in answer.citations:
        _citation(memory, one)
    if answer.unknown:
        numbers = ", ".join(f"[{number}]" for number in answer.unknown)
        st.warning(f"It cites {numbers}, which it was not given.", icon=":material/warning:")
    elif not answer.citations:
        st.caption("It cites no entry.")


def _citation(memory: MemoryVerbs, one: GivenEntry) -> None:
    rows = memory.entries(one.kind).rows([one.id])
    with st.container(border=True, horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        place = format.plain(place_of(one.kind, rows[0])) if rows else "removed since"
        st.markdown(f"**[{one.number}]** {KINDS[one.kind].icon} {place}", width="content")
        if rows:  # else it may have been forgotten
            st.text(" ".join(one.text.split())[:200], width="stretch")
            entry_link.show(one.kind, one.id)
