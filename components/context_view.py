"""Which coins a generator would be given for a question, and the very words it would read."""

import json
from dataclasses import dataclass

import streamlit as st

from components import wording
from store import context, question
from store.context import Context
from store.errors import MemedexError
from store.golden import parts_of
from store.library import Library
from store.listing import Filter
from store.query import Query
from store.settings import settings

_FORMS = ("Markdown", "JSON", "Chat messages")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what it brings along."""

    line: str
    context: Context


def ask(library: Library) -> Asked | None:
    """The question, how many, the budget; None before anything was asked."""
    model = settings().caption_model
    line = st.text_input(
        "What should be made", key="gen_q", bind="query-params", icon=":material/search:", type="search",
        placeholder="dog with sunglasses in cyberpunk style", label_visibility="collapsed",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        top = st.number_input(
            "Examples", 1, 50, context.EXAMPLES, key="gen_top", bind="query-params", width=120
        )
        budget = st.number_input(
            "Token budget", 100, 1_000_000, 4_000, step=500, key="gen_budget", bind="query-params", width=140
        )
        pictures = st.toggle("Pictures", value=True, key="gen_pictures", bind="query-params")
    if not line or not line.strip():
        st.caption(
            "The coins nearest to the question, each with captions and picture, as a generator gets them. "
            "Ask as on the search page."
        )
        return None
    try:
        chosen = _found(library, line, int(top or context.EXAMPLES))
    except MemedexError as error:
        st.error("This could not be asked:", icon=":material/error:")
        st.text(str(error))
        return None
    if not chosen:
        st.info("Nothing in the library answers this.", icon=":material/search_off:")
        return None
    names = {address: library.get(address).name for address in chosen}
    kept = st.multiselect(
        "In this order", list(chosen), default=list(chosen), format_func=names.get,
        key=f"gen_kept_{hash(tuple(chosen))}",
    )  # fmt: skip
    built = context.build(library, kept, budget=int(budget or 0), model=model, pictures=bool(pictures))
    _show(built, line, model)
    return Asked(line, built)


def _found(library: Library, line: str, top: int) -> list[str]:
    asked = question.read(line, base=Filter(tier="library"))
    return [hit.address for hit in library.search(Query(parts_of(line), top=top, filter=asked.filter)).hits]


def _show(built: Context, line: str, model: str) -> None:
    counter = wording.plain(model) if model else "cl100k\\_base"
    pictures = sum(example.picture is not None for example in built.examples)
    st.caption(
        f"{built.tokens:,} tokens ({counter}) · {wording.counted(len(built.examples), 'example')} · "
        f"{wording.counted(pictures, 'picture')}, {context.PICTURE_TOKENS} tokens each"
    )
    for left in built.left_out:
        st.warning(
            f"No room for {left.what} of {wording.plain(left.record.name)}, {left.tokens:,} tokens",
            icon=":material/content_cut:",
        )
    st.code(built.text, language=None, wrap_lines=True, height=320)
    with st.container(horizontal=True, gap="small"):
        for form in _FORMS:
            st.download_button(
                form, _written(built, line, form), f"context.{'md' if form == 'Markdown' else 'json'}",
                icon=":material/download:", width="content", key=f"gen_{form}",
            )  # fmt: skip


def _written(built: Context, line: str, form: str) -> str:
    if form == "Markdown":
        return context.as_markdown(built)
    if form == "JSON":
        return context.as_json(built)
    return json.dumps(context.as_messages(built, line), ensure_ascii=False, indent=2)
