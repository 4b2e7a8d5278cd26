"""Which model embeds, and changing it on purpose."""

import streamlit as st

from components import jobs, wording
from store.embedding import OFFLINE, REFERENCE, open_embedder
from store.errors import MemedexError
from store.library import Library

_ABOUT = {
    OFFLINE: "works without internet; approximate visual match (objects, animals)",
    REFERENCE: "is OpenAI's CLIP, the reference model; its weights must be on this machine",
}


def show(library: Library) -> None:
    """The model in use, and another to change to; everything is embedded again beside the old one."""
    current = library.model
    st.markdown(sentence(current))
    if not library.can_write:
        return
    others = [name for name in _ABOUT if name != current]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.selectbox(
            "Change to",
            others,
            key="model-name",
            accept_new_options=True,
            help="Also `openclip:MODEL/TAG@FILE` for a checkpoint, or another name of the README's list.",
        )
        why_not = missing(name or "")
        st.button(
            "Embed everything with it",
            icon=":material/model_training:",
            disabled=bool(why_not) or jobs.is_busy(library.jobs),
            on_click=_switch,
            args=(library, name),
        )
    if why_not:
        st.caption(f"Not available here: {wording.plain(why_not, limit=400)}")
    else:
        coins = wording.counted(library.counts()["library"], "coin")
        st.caption(f"{coins} are embedded beside the old vectors; search switches when all are done.")


def sentence(name: str) -> str:
    """The model's name and what it is like, as Markdown."""
    about = _ABOUT.get(name, "embeds texts and pictures")
    return f"**{wording.plain(name)}** {about}."


def missing(name: str) -> str:
    """Why no model of this name can be used here; "" when it can."""
    try:
        open_embedder(name)
    except MemedexError as error:
        return str(error)
    return ""


def _switch(library: Library, name: str) -> None:
    jobs.start(library.jobs, "model", name=f"Embed with {name}", options={"model": name})
