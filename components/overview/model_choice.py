"""Which model embeds, and how to change it."""

from collections.abc import Collection
from pathlib import Path

import streamlit as st

from components.shell import format
from components.shell.page import forms, job_bar
from components.shell.page.forms import Button
from components.shell.server import server_paths
from store import Job, Library, MemedexError
from store.embedding import OFFLINE, REFERENCE, model_download, open_embedder

_ABOUT = {
    OFFLINE: "works without internet; approximate visual match (objects, animals)",
    REFERENCE: "OpenAI's CLIP, the reference model; its weights must be on this machine",
}


def show(library: Library) -> None:
    """The model in use, and another to change to; everything is embedded again, keeping the old vectors."""
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
            help="`offline` is the built-in model. Also `openclip:MODEL/TAG@FILE` for a checkpoint, or "
            "another name listed in docs/models.md.",
        )
        why_not = missing(name or "")
        watch = job_bar.watcher()
        busy = job_bar.is_busy(library.jobs)
        forms.button(
            "switch-model", library, lambda: watch(_switch(library, name or "")), after_run=True,
            button=Button("Embed everything with it", icon="model_training", disabled=bool(why_not) or busy),
        )  # fmt: skip
    if why_not and (found := model_download.offered(name or "")) and not found.is_here:
        st.caption("Its weights are not on this machine: download them below.")
    elif why_not:
        st.caption(f"Not available here: {format.plain(why_not, limit=400)}")
    else:
        coins = format.counted(library.counts()["library"], "coin")
        st.caption(f"{coins} are embedded alongside the old vectors; search switches when all are done.")


def sentence(name: str) -> str:
    """The model's name and character, as Markdown."""
    about = _ABOUT.get(name, "embeds texts and pictures")
    return f"**{format.plain(format.model(name))}**: {about}."


def missing(name: str, *, offered: Collection[str] = ()) -> str:
    """Why this model cannot be used here; "" if it can. Those `offered` may be anywhere."""
    try:
        if name not in offered and (file := _file(name)):
            server_paths.named(file)
        open_embedder(name)
    except MemedexError as error:
        return str(error)
    return ""


def _file(name: str) -> str:
    """The file or folder in a model's name; "" if there is none."""
    family, _, model = name.partition(":")
    if family == "openclip":
        return model.partition("@")[2]
    is_path = model.startswith(("/", "\\", "~", ".")) or ".." in model or Path(model).exists()
    return model if family == "sentence-transformers" and is_path else ""


def _switch(library: Library, name: str) -> Job:
    return library.jobs.start("model", name=f"Embed with {format.model(name)}", options={"model": name})
