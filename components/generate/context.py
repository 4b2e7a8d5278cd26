"""The exact context that a generator gets: counted, trimmed, copied, downloaded."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from components.generate import examples
from components.shell import format
from components.shell.page import live
from components.shell.page.query_pictures import LINE
from components.shell.session import safe_mode
from store import Library, MemedexError, Part
from store.captioning import is_warm
from store.generation import coin_generator, context
from store.search import Question
from store.settings import settings


def _messages(built: context.ExampleContext, line: str) -> str:
    return json.dumps(coin_generator.messages(built, line), ensure_ascii=False, indent=2)


_FORMS: Mapping[str, tuple[str, Callable[[context.ExampleContext, str], str]]] = {
    "Markdown": ("context.md", lambda built, _: context.as_markdown(built)),
    "JSON": ("context.json", lambda built, _: context.as_json(built)),
    "Chat messages": ("messages.json", _messages),
}
_PICTURE = re.compile(r"(data:image/\w+;base64,[\w+/]{12})[\w+/=]+")
_NAMED = 4  # left-out coins that are named
_LEFT = {"all of it": "all", "its picture": "the picture"}


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A request with its examples and settings."""

    line: str
    addresses: tuple[str, ...]  # of the coins that were to be examples, in their order
    model: str
    budget: int
    pictures: bool


def controls(
    library: Library, question: Question, parts: Sequence[Part], *, folds: bool
) -> ContextRequest | None:
    """The number of examples, the budget and the context of this question; None before anything was asked."""
    line = (st.session_state.get(LINE) or "").strip()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        top = examples.how_many()
        budget = st.number_input(
            "Token budget", 100, 1_000_000, 4_000, step=500, key="gen_budget", bind="query-params", width=140
        )
        model = st.text_input(
            "Model",
            settings().caption_model,
            key="gen_model",
            bind="query-params",
            persist_state="session",
            width=300,
            placeholder="gpt-4o-mini, anthropic/claude-…, ollama/llava",
            help="By its litellm name: it counts the tokens and makes the coin.",
        )
        pictures = st.toggle("Pictures", value=True, key="gen_pictures", bind="query-params")
    model = (model or "").strip()
    try:
        chosen = examples.chosen(library, question, parts, top=top, folds=folds)
        addresses = [record.address for record in chosen]
        counted = model if model and is_warm() else ""
        built = context.build(
            library, addresses, budget=int(budget or 0), model=counted, pictures=bool(pictures)
        )
    except MemedexError as error:
        st.error("This could not be asked:", icon=":material/error:")
        st.text(str(error))
        return None
    if chosen:
        _show(library, built, line, counted)
        if model != counted:  # its own count takes seconds the first time; the page is there meanwhile
            live.price_list(library, key="generate")
        return ContextRequest(line, tuple(addresses), model, int(budget or 0), bool(pictures))
    if examples.is_picked():
        st.info("None of the chosen coins is here any more.", icon=":material/search_off:")
    elif line:
        st.info("Nothing in the library answers this.", icon=":material/search_off:")
    else:
        st.caption(
            "The coins nearest to the question, each with captions and picture, as a generator gets them. "
            "Ask above, or choose results and press **Generate**."
        )
    return None


def _show(library: Library, built: context.ExampleContext, line: str, model: str) -> None:
    counter = format.plain(model) if model else "cl100k\\_base"
    pictures = sum(example.picture is not None for example in built.examples)
    st.caption(
        f"{built.tokens:,} tokens ({counter}) · {format.counted(len(built.examples), 'example')} · "
        f"{format.counted(pictures, 'picture')}, {context.PICTURE_TOKENS} tokens each"
    )
    if built.left_out:
        named = [
            f"{_LEFT[left.what]} of {format.plain(shown.name, limit=30)} ({left.tokens:,})"
            for left in built.left_out[:_NAMED]
            for shown in [safe_mode.shown(library, left.record)]
        ]
        more = len(built.left_out) - _NAMED
        names_text = ", ".join([*named, *([f"{more} more"] if more > 0 else [])])
        st.caption(f":orange[:material/content_cut: No room for {names_text}]")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        form = st.segmented_control(
            "Form", list(_FORMS), default="Markdown", required=True, key="gen_form", bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
        name, write = _FORMS[form]
        written = write(built, line)
        st.download_button("Download", written, name, icon=":material/download:")
        whole = pictures > 0 and st.toggle(
            "Pictures in full",
            key="gen_whole",
            help="What is shown below is what is copied there; a download always has them whole.",
        )
    st.code(written if whole else _PICTURE.sub(r"\1…", written), language=None, wrap_lines=True, height=320)
