"""The prompt that a model is given for a question: its entries lit, its size, and what it lacks."""

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from components.memory import entry_link
from components.memory.hits import Found
from components.memory.kinds import KINDS, place_of
from components.memory.options import Options
from components.shell import format
from store import Memory
from store.memory.values import BUDGETS, KIND_OF, AssembledContext, Conflict, Where, compared

_CONFLICTS = 10  # shown


def assemble(memory: Memory, question: str, options: Options, found: Sequence[Found]) -> AssembledContext:
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


def show(context: AssembledContext) -> None:
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
