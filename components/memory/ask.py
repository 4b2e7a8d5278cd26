"""Ask: a question, what it finds, the prompt that a model would be given, and a language model's answer."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from components.memory import hits, options, prompt
from components.memory.kinds import KINDS, counted
from components.memory.markup import line, listed
from components.memory.options import Options
from components.shell import format
from components.shell.page import address, forms, job_bar, live, places, streamlit_style, views
from components.shell.page.forms import Button, Sent
from components.shell.session import login, resources
from store import Job, MemedexError, Memory, Progress
from store.memory.values import Answer, configured_model
from store.settings import settings

_QUESTION = "ask"  # not the search page's "q": going back, each would lose the other's
_JOB = "Ask the text memory"  # without the question: jobs stay in the catalog


def box() -> str:
    """The question; every view has the box, and another question leads to Ask."""
    question = st.text_input(
        "Question", **address.kept(_QUESTION), type="search", icon=":material/search:",
        placeholder="A question, as an agent or a player would put it", label_visibility="collapsed",
        on_change=_turn_to_ask,
    )  # fmt: skip
    return (question or "").strip()


def _turn_to_ask() -> None:
    st.query_params.pop(views.VIEW, None)


def show(memory: Memory, then: Memory, question: str) -> None:
    """The options; below them the hits on the left, prompt and answer on the right, as `then` has them."""
    if not any(memory.entries(name).count() for name in KINDS):
        _welcome(memory)
        return
    chosen = options.choose(then)
    if not chosen.asked:
        st.info("Choose at least one kind to ask.", icon=":material/touch_app:")
    elif question:
        _answered(memory, then, question, chosen)
    else:
        _invite(then)


def _answered(memory: Memory, then: Memory, question: str, chosen: Options) -> None:
    for note in dict.fromkeys(then.entries(one.kind).not_read(question) for one in chosen.asked):
        if note:
            st.info(format.plain(note, limit=300), icon=":material/translate:")
    begun = time.perf_counter()
    try:
        with st.spinner("Asking; the first time, the model is loaded …", show_time=True):
            found = hits.find(then, question, chosen)
    except MemedexError as error:
        st.error("This could not be asked:", icon=":material/error:")
        st.text(str(error))
        return
    seconds = time.perf_counter() - begun
    with st.container(key=streamlit_style.SIDE_BY_SIDE):
        left, right = st.columns([3, 2], gap="large")
    told = set[tuple[str, str]]()
    with right:
        if then is memory:  # a language model is not asked about the past
            _language_model(memory, question, chosen)
        try:
            context = prompt.assemble(then, question, chosen, found)
        except MemedexError as error:
            st.error("This could not be put together:", icon=":material/error:")
            st.text(str(error))
        else:
            prompt.show(context)
            told = {(chunk.kind, chunk.row["id"]) for chunk in context.chunks}
    with left:
        hits.show(then, question, chosen, found, seconds=seconds, told=told)


def _invite(memory: Memory) -> None:
    counts = {name: memory.entries(name).count() for name in KINDS}
    entries = ", ".join(counted(name, counts[name]) for name in KINDS if counts[name])
    if not entries:
        st.caption("Nothing was stored then.")
        return
    st.caption(f"Asks {entries}, and shows what a model would be told, and what it would not. For example:")
    with st.container(horizontal=True, gap="small"):
        for name, kind in KINDS.items():
            if counts[name]:
                st.button(kind.placeholder, on_click=_put, args=(kind.placeholder,))


def _put(question: str) -> None:
    st.session_state[_QUESTION] = question


def _welcome(memory: Memory) -> None:
    """What an empty memory is for, and the demo."""
    if any(memory.entries(name).fault for name in KINDS):  # then it is not empty, but unusable
        st.error("The text memory cannot be used.", icon=":material/error:")
        st.page_link(**places.STATUS, label="System status", icon=":material/build:")
        return
    st.markdown(
        "The text memory is empty. World lore, session memory, what agents remember, protocol papers and "
        "recorded sessions come in here, and you see what a question would retrieve, and why."
    )
    if not memory.can_write:
        return
    with st.container(border=True):
        st.header("Look around first", anchor=False)
        st.caption("Three worlds, two sessions, memories, papers and transcripts, all made up.")
        busy = job_bar.is_busy(resources.jobs())
        job_bar.button(
            "demo-memory", resources.library(), "Load the demo memory",
            lambda progress: memory.load_demo(progress=progress),
            button=Button("Load the demo memory", icon="auto_awesome", kind="primary", disabled=busy),
        )  # fmt: skip
    st.caption("Or add your own: Browse, choose a kind, Add.")


# -- the answer of a language model -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Answered:
    question: str
    answer: Answer


def _language_model(memory: Memory, question: str, chosen: Options) -> None:
    """A button that asks the chosen model, or a link to choose one; and this person's last answer."""
    kept_as = f"{_JOB}: {question}"
    if name := settings().caption_model:
        forms.show(
            "ask-memory", resources.library(),
            partial(_ask, memory, job_bar.watcher(kept_as), question, chosen.world, chosen.session),
            button=Button(
                f"Answer with {name}", icon="forum", disabled=not memory.can_write,
                help="It is given three entries of each kind, and cites those it uses.",
            ),
        )  # fmt: skip
    else:
        st.page_link(
            **places.LANGUAGE_MODEL, label="Choose a language model to answer", icon=":material/neurology:"
        )
    jobs = resources.jobs()
    begun = job_bar.begun(jobs, kept_as)
    before = [
        job
        for job in jobs.all()
        if job.actor == login.person()
        and isinstance(job.result, _Answered)
        and job.result.question == question
    ]
    if begun or before:
        _last(memory, begun or max(before, key=lambda job: job.id))


def _ask(
    memory: Memory, watch: Callable[[Job], Job], question: str, world: str, session: str, _: Sent
) -> str:
    model = configured_model()

    def work(progress: Progress) -> _Answered:
        progress.what = f"asking {model.name}"
        for piece in memory.ask(
            question, model=model, world=world, session=session, is_stopping=lambda: progress.cancelled
        ):
            if isinstance(piece, Answer):
                return _Answered(question, piece)
            progress.answer += piece
        raise AssertionError("the whole answer comes last")

    watch(resources.jobs().run(_JOB, work))
    return "Asked."


def _last(memory: Memory, job: Job) -> None:
    if not job.is_over:
        live.answer(resources.library(), job.id, job.answer)
        st.caption("The bar stops it.")
        return
    if not isinstance(job.result, _Answered):
        st.error("There is no answer:", icon=":material/error:")
        st.text(job.error or "it was stopped before it began")
        return
    answer = job.result.answer
    if not answer.is_whole:
        st.warning("Stopped: this is what came until then.", icon=":material/stop_circle:")
    st.text(answer.text)
    cited = [(one, row) for one in answer.citations for row in memory.entries(one.kind).rows([one.id])]
    listed(line(one.kind, row, one.text, lead=f"<b>[{one.number}]</b>") for one, row in cited)
    if len(cited) < len(answer.citations):  # forgotten, perhaps
        st.caption("An entry that it cites was removed since.")
    if answer.unknown:
        numbers = ", ".join(f"[{number}]" for number in answer.unknown)
        st.warning(f"It cites {numbers}, which it was not given.", icon=":material/warning:")
    elif not answer.citations:
        st.caption("It cites no entry.")
