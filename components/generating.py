"""A new coin from a prompt and a context: streamed, compared with the library, saved as pending."""

import streamlit as st

from components import state, wording
from store import generation
from store.context import Context
from store.errors import MemedexError
from store.generation import Invented
from store.library import Library
from store.settings import settings

_MADE = "memedex.invented"


def show(library: Library, context: Context, *, prompt: str) -> None:
    """The prompt and the button; below, what was made last."""
    st.subheader("Make a new coin", anchor=False)
    model = settings().caption_model
    if not model:
        st.caption(
            "No language model is configured; with MEMEDEX_CAPTION_MODEL set, it makes a new coin from this."
        )
        return
    with (
        st.form("generate", border=False),
        st.container(horizontal=True, vertical_alignment="bottom", gap="small"),
    ):
        wanted = st.text_input("Prompt", value=prompt, key="gen_prompt")
        sent = st.form_submit_button("Generate", type="primary", icon=":material/auto_awesome:")
    if sent:
        _generate(context, wanted, model)
    made = st.session_state.get(_MADE)
    if isinstance(made, Invented):
        _made(library, made)


def _generate(context: Context, wanted: str, model: str) -> None:
    st.session_state.pop(_MADE, None)
    place, answer = st.empty(), ""
    try:
        for piece in generation.stream(
            context, wanted, model=model, api_base=settings().caption_api_base or None,
            timeout=settings().caption_timeout,
        ):  # fmt: skip
            answer += piece
            place.text(answer)
        st.session_state[_MADE] = generation.read(answer, context, model=model, prompt=wanted)
        place.empty()
    except MemedexError as error:
        st.error("No coin was made:", icon=":material/error:")
        st.text(str(error))


def _made(library: Library, coin: Invented) -> None:
    with st.container(border=True):
        st.text(f"{coin.name} · {coin.ticker}")
        st.text(coin.description)
        for facet, text in coin.caption.items():
            st.caption(facet)
            st.text(text)
        if coin.image_prompt:
            st.caption("prompt for an image")
            st.code(coin.image_prompt, language=None, wrap_lines=True)
        _nearness(library, coin)
        st.caption(f"made by {wording.plain(coin.model)} from:")
        _linked(library, coin.sources)
        if library.can_write:
            picture = st.file_uploader(
                "A picture for it (without one, a plain card)", type=["png", "jpg", "webp"]
            )
            st.button(
                "Save as pending", type="primary", icon=":material/inbox:", on_click=_save,
                args=(library, coin, picture.getvalue() if picture else None),
            )  # fmt: skip


def _nearness(library: Library, coin: Invented) -> None:
    near = generation.nearest(library, coin)
    if not near:
        return
    first = near[0]
    copies = [one for one in near if one.is_copy]
    name = wording.plain(library.get((copies or near)[0].address).name)
    if copies:
        same = f", the same {' and '.join(copies[0].same)}" if copies[0].same else ""
        st.warning(f"Close to a copy of {name}: {copies[0].cosine:.2f}{same}", icon=":material/content_copy:")
    else:
        st.caption(f"nearest in the library: {name}, {first.cosine:.2f}")


def _linked(library: Library, addresses: tuple[str, ...]) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        for address in addresses:
            try:
                label = wording.plain(library.get(address).name, limit=28)
            except MemedexError:
                continue
            st.page_link("pages/captions.py", label=label, query_params={"address": address})


def _save(library: Library, coin: Invented, picture: bytes | None) -> None:
    report = library.add([generation.candidate(coin, picture)])
    if report.refused:
        state.say(f"Not saved: {wording.plain(report.refused[0].reason, limit=160)}", icon=":material/error:")
    else:
        st.session_state.pop(_MADE, None)
        state.say(f"{wording.plain(coin.name)} waits in Pending", icon=":material/inbox:")
