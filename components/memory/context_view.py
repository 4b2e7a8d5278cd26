"""The model's context, as assembled, compared with its budgets, with hints."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from components.memory import entry_link
from components.memory.kinds import KINDS, place_of
from components.shell import format
from components.shell.page import address, forms, tables
from components.shell.page.forms import Button
from components.shell.session import resources
from store import MemedexError, MemoryVerbs
from store.memory.values import (
    BUDGETS,
    DEFAULT,
    KIND_OF,
    LORE_RESULTS,
    MEMORY_RESULTS,
    PLACEHOLDERS,
    AssembledContext,
    Conflict,
    Section,
    Where,
    compared,
    memory_key,
)

_TEMPLATE = "memedex.template"
_STORY = {"lore": LORE_RESULTS, "memory": MEMORY_RESULTS}


def show(memory: MemoryVerbs) -> None:
    """A prompt, a world and a session on the left; on the right the context for them."""
    asking, seen = st.columns([2, 3], gap="large")
    with asking:
        prompt = st.text_area(
            "Prompt",
            **address.kept("prompt"),
            height=80,
            placeholder="What does the player say?",
        )
        where, numbers = _scope(memory, (prompt or "").strip())
        template = _template(memory)
    with seen:
        if not (prompt or "").strip():
            st.caption("Type a prompt to see, word for word, what a model would be given along with it.")
            return
        try:
            with st.spinner("Putting it together …"):
                context = memory.preview(prompt, template=template, numbers=numbers, where=where)
        except MemedexError as error:
            st.error("This could not be put together:", icon=":material/error:")
            st.text(str(error))
            return
        memory.keep_context(prompt, context)
        _weighed(context)
        _conflicts(context)
        _whole(context)
        _chunks(context)


def prompt_preview(
    memory: MemoryVerbs, question: str, *, where: Mapping[str, Where], floors: Mapping[str, float]
) -> None:
    """The context of a model for this question, of the kinds that are asked (by placeholder)."""
    st.markdown(":material/smart_toy: **What a model would be told**")
    kinds = [KIND_OF[name] for name in where]
    try:
        context = memory.preview(question, kinds=kinds, where=where, floors=floors)
    except MemedexError as error:
        st.error("This could not be put together:", icon=":material/error:")
        st.text(str(error))
        return
    _whole(context)


def _best_scope(memory: MemoryVerbs, kind: str, prompt: str) -> str:
    """The world or session of the entry of this kind that fits the prompt best; "" if there is none."""
    passages = memory.entries(kind)
    return "".join(str(hit.row[passages.kind.scope]) for hit in passages.best(prompt, n=1)) if prompt else ""


def _scope(memory: MemoryVerbs, prompt: str) -> tuple[dict[str, dict[str, str]], dict[str, int]]:
    """The world and session, chosen or those that fit the prompt best, and how many chunks of each."""
    worlds = list(memory.entries("world_lore").counts())
    keys = list(memory.entries("session_memory").counts())
    world = st.selectbox(
        "World", worlds, index=None, key="in", bind="query-params", placeholder="that of the best hit"
    )
    key = st.selectbox(
        "Session memory", keys, index=None, key="of", bind="query-params",
        placeholder="that of the best hit", accept_new_options=True,
        help="{character}_{session}, or the character alone without a session.",
    )  # fmt: skip
    with st.container(horizontal=True, gap="small"):
        numbers = {
            name: int(
                st.number_input(
                    f"{name.capitalize()} chunks", 0, 20, number, key=f"n_{name}", bind="query-params",
                    help="A story gets lore 2, memory 3.",
                )
            )
            for name, number in _STORY.items()
        }  # fmt: skip
    where = {
        "lore": {"world_id": world or _best_scope(memory, "world_lore", prompt)},
        "memory": {"session_id": memory_key(key) if key else _best_scope(memory, "session_memory", prompt)},
    }
    return where, numbers


def _template(memory: MemoryVerbs) -> str:
    with st.expander("Template", icon=":material/data_object:"):
        st.session_state.setdefault(_TEMPLATE, memory.template)
        st.caption("Placeholders: " + ", ".join(f"`{{{name}}}`" for name in PLACEHOLDERS))
        template = st.text_area(
            "Template", key=_TEMPLATE, height=160, persist_state="session", label_visibility="collapsed"
        )
        with st.container(horizontal=True, gap="small"):
            st.button("Restore default", on_click=lambda: st.session_state.update({_TEMPLATE: DEFAULT}))
            if memory.can_write:
                forms.button(
                    "keep-template", resources.library(), partial(memory.save_template, template),
                    button=Button("Save for everybody"), message="Template saved.", after_run=True,
                )  # fmt: skip
    return template


def _weighed(context: AssembledContext) -> None:
    """Each section and the whole against its budget."""
    rows = [
        _weight(section.name, section.characters, section.tokens, section.budget)
        for section in context.sections
    ]
    rows.append(_weight("all chunks", context.characters, context.tokens, BUDGETS["all"]))
    tables.show(
        rows,
        alt="Characters and tokens against the budgets",
        columns={"full": st.column_config.ProgressColumn("share", format="percent", max_value=1)},
    )
    for section in context.sections:
        if section.context_warning:
            _warn(section)


def _weight(name: str, characters: int, tokens: int, budget: int | None) -> dict[str, object]:
    return {
        "part": name,
        "characters": characters,
        "tokens": tokens,
        "budget": budget,
        "full": characters / budget if budget else None,
    }


def _warn(section: Section) -> None:
    st.warning(
        f"`context_warning`: {section.name} has {section.characters:,} characters, more than "
        f"{section.budget:,}. Nothing was left out.",
        icon=":material/warning:",
    )


def _conflicts(context: AssembledContext) -> None:
    """Sentences of two chunks that repeat or may contradict each other."""
    chunks = context.chunks
    found = compared([chunk.text for chunk in chunks])
    for conflict in sorted(found, key=lambda one: one.is_repetition)[:10]:
        _conflict(conflict, [place_of(chunk.kind, chunk.row) for chunk in chunks])


def _conflict(conflict: Conflict, places: list[str]) -> None:
    kind = "Said twice" if conflict.is_repetition else f"May contradict each other ({conflict.reason})"
    with st.container(border=True, gap="xsmall"):
        st.badge(
            kind,
            icon=":material/content_copy:" if conflict.is_repetition else ":material/compare_arrows:",
            color="gray" if conflict.is_repetition else "orange",
        )
        for place, sentence in ((conflict.one, conflict.first), (conflict.other, conflict.second)):
            st.text(f"{place + 1}. {sentence}", help=format.plain(places[place]))


def _whole(context: AssembledContext) -> None:
    """The context with its size, world and session, and what is not in it; the box can be copied."""
    scopes = ("world_id", "session_id")
    named = [
        format.plain(str(one.where[name]))
        for one in context.sections
        for name in scopes
        if one.where.get(name)
    ]
    scope = f" · in {', '.join(named)}" if named else ""
    st.caption(f"{context.characters:,} characters · {context.tokens:,} tokens{scope}")
    if context.text:
        st.code(context.text, language=None, wrap_lines=True)
        st.download_button(
            "Download", context.text, "context.txt", "text/plain", icon=":material/download:",
            on_click="ignore",
        )  # fmt: skip
    else:
        st.info("The context is empty: nothing here fits the prompt.", icon=":material/blur_on:")
    if context.left_out:
        st.caption("Not in it:")
    for one in context.left_out:
        count = f"{one.count:,} " if one.count else ""
        st.text(f"{KINDS[one.kind].label}: {count}{one.reason}")


def _chunks(context: AssembledContext) -> None:
    """The entries in their order, each to be opened and edited."""
    for number, chunk in enumerate(context.chunks, start=1):
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
            st.markdown(
                f"{number}. {KINDS[chunk.kind].icon} **{chunk.score:.3f}** "
                f"{format.plain(place_of(chunk.kind, chunk.row))}",
                width="stretch",
            )
            st.caption(f"{len(chunk.text):,} characters", width="content")
            entry_link.show(chunk.kind, chunk.row["id"])
