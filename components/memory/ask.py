"""Ask: a question, what it finds, the prompt that a model would be given, and a language model's answer."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from components.memory import entry_link, hits, options
from components.memory.hits import Found
from components.memory.kinds import KINDS, counted, place_of
from components.memory.markup import line, listed
from components.memory.options import Options
from components.shell import format
from components.shell.page import address, forms, job_bar, live, places, streamlit_style, views
from components.shell.page.forms import Button, Sent
from components.shell.session import login, resources
from store import Job, MemedexError, Memory, Progress
from store.memory.values import (
    BUDGETS,
    KIND_OF,
    Answer,
    AssembledContext,
    Conflict,
    Where,
    compared,
    configured_model,
)
from store.settings import settings

_QUESTION = "ask"  # not the search page's "q": going back, each would lose the other's
_JOB = "Ask the text memory"  # without the question: jobs stay in the catalog
_CONFLICTS = 10  # shown


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
            context = _assemble(then, question, chosen, found)
        except MemedexError as error:
            st.error("This could not be put together:", icon=":material/error:")
            st.text(str(error))
        else:
            _prompt(context)
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


def _assemble(memory: Memory, question: str, options: Options, found: Sequence[Found]) -> AssembledContext:
    """What a model would be given of the kinds that are asked. Raises MemedexError."""
    where, floors = _limits(found)
    context = memory.preview(
        question, template=options.template, kinds=[KIND_OF[name] for name in where],
        numbers=options.numbers, where=where, floors=floors,
    )  # fmt: skip
    memory.keep_context(question, context)
    return context


def _limits(found: Sequence[Found]) -> tuple[dict[str, Where], dict[str, float]]:
    """The filters and the least cosine of each kind, by placeholder.

    Lore and session memory are those of the best hit unless one is chosen, as a story would have them.
    """
    where: dict[str, Where] = {}
    floors: dict[str, float] = {}
    for name, kind in KIND_OF.items():
        own = [one for one in found if one.asked.kind == kind]
        if not own:
            continue
        limits: dict[str, Any] = dict(own[0].asked.where)
        if own[0].asked.floor is not None:
            floors[name] = own[0].asked.floor
        if scope := {"lore": "world_id", "memory": "session_id"}.get(name):
            best = max(own[0].hits, key=lambda hit: hit.found.fit, default=None)
            limits.setdefault(scope, best.found.row[scope] if best else "")
        elif len(own) > 1:  # several protocols
            limits["protocol"] = [one.asked.where["protocol"] for one in own]
        where[name] = limits
    return where, floors


def _prompt(context: AssembledContext) -> None:
    """The whole of it; an entry opens by a click."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header("What a model is told", anchor=False, width="stretch")
        if context.text:
            with st.popover("Copy", icon=":material/content_copy:", type="tertiary"):
                st.code(context.text, language=None, wrap_lines=True)
                st.download_button(
                    "Download", context.text, "context.txt", "text/plain", icon=":material/download:",
                    on_click="ignore",
                )  # fmt: skip
    if not context.text:
        st.info("The prompt is empty: nothing here fits the question.", icon=":material/blur_on:")
    else:
        st.html(_sizes(context) + f'<div class="mdx-prompt">{_lit(context)}</div>')
    if context.left_out:
        lacking = [
            f"{KINDS[one.kind].label}: {f'{one.count:,} ' if one.count else ''}{one.reason}"
            for one in context.left_out
        ]
        with st.expander(f"Not in it · {len(lacking)}", icon=":material/block:"):
            for line in lacking:
                st.text(line)
    _conflicts(context)


def _sizes(context: AssembledContext) -> str:
    """The characters of each part and of all against their budgets."""
    rows = [
        (KINDS[KIND_OF[section.name]].label, section.characters, section.tokens, section.budget)
        for section in context.sections
        if section.budget is not None
    ]
    rows.append(("All", context.characters, context.tokens, BUDGETS["all"]))
    parts = "".join(_size(*row) for row in rows)
    scopes = [one.where.get(name) for one in context.sections for name in ("world_id", "session_id")]
    inside = f"<span>in {escape(', '.join(str(one) for one in scopes if one))}</span>" if any(scopes) else ""
    over = [label for label, has, _, most in rows if has > most]
    warning = f'<p class="mdx-over">Over the budget: {", ".join(over)}. Nothing was left out.</p>'
    return f'<div class="mdx-sizes">{parts}{inside}</div>{warning if over else ""}'


def _size(label: str, characters: int, tokens: int, budget: int) -> str:
    over = " mdx-over" if characters > budget else ""
    return (
        f'<span class="mdx-fit{over}" title="{tokens:,} tokens">{label} '
        f'<span class="mdx-bar"><i style="width:{100 * min(1.0, characters / budget):.0f}%"></i></span> '
        f"<b>{characters:,}</b> of {budget:,} characters</span>"
    )


def _lit(context: AssembledContext) -> str:
    """The text as HTML, each of its entries a link."""
    parts, done = [], 0
    for chunk in context.chunks:
        text = chunk.text.strip("\n")
        at = context.text.find(text, done) if text else -1
        if at < 0:
            continue
        place = f"{KINDS[chunk.kind].label} · {place_of(chunk.kind, chunk.row)}"
        about = escape(f"Open: {place} · {chunk.score:.3f} · {len(chunk.text):,} characters")
        address = escape(entry_link.address(chunk.kind, chunk.row["id"]))
        link = f'class="memedex-link mdx-lit" target="_self" href="{address}" title="{about}"'
        parts += [escape(context.text[done:at]), f"<a {link}>{escape(text)}</a>"]
        done = at + len(text)
    return "".join([*parts, escape(context.text[done:])])


def _conflicts(context: AssembledContext) -> None:
    """Sentences of two entries that repeat or may contradict each other."""
    found = sorted(compared([chunk.text for chunk in context.chunks]), key=lambda one: one.is_repetition)
    if not found:
        return
    places = [place_of(chunk.kind, chunk.row) for chunk in context.chunks]
    label = f"Said twice, or perhaps contradicting · {len(found):,}"
    with st.expander(label, icon=":material/compare_arrows:"):
        for conflict in found[:_CONFLICTS]:
            _conflict(conflict, places)


def _conflict(conflict: Conflict, places: Sequence[str]) -> None:
    kind = "Said twice" if conflict.is_repetition else f"May contradict each other ({conflict.reason})"
    with st.container(border=True, gap="xsmall"):
        st.badge(kind, color="gray" if conflict.is_repetition else "orange")
        for place, sentence in ((conflict.one, conflict.first), (conflict.other, conflict.second)):
            st.text(f"{place + 1}. {sentence}", help=format.plain(places[place]))
