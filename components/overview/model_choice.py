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
from store.tasks import models

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


def download(library: Library) -> None:
    """Every model on offer but the one in use, with size, licence and origin."""
    if not library.can_write:
        return
    st.header("Models to download", anchor=False)
    for model in model_download.OFFERED:
        if model.name != library.model:
            _row(library, model)


def _row(library: Library, model: model_download.OfferedModel) -> None:
    jobs = [job for job in library.jobs.open() if job.options.get("model") == model.name]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        origin = f"{_size(model)} · {model.licence} · {model.source}"
        st.markdown(f"**{model.title}** · {model.about}  \n:small[{origin}]", width="stretch")
        if any(job.is_under_way for job in jobs):
            st.page_link("pages/activity.py", label="In progress", icon=":material/hourglass_top:")
        elif model.is_here:
            _embed(library, model)
        else:
            _download(library, model)
    for job in jobs:
        if job.error:
            st.caption(format.plain(job.error, limit=400))


def _download(library: Library, model: model_download.OfferedModel) -> None:
    watch, needs = job_bar.watcher(), model.missing_package
    begun = model.megabytes_here
    label = f"Continue at {begun:,} MB" if begun else f"Download ({_size(model)})"
    forms.button(
        f"download-{model.title}", library, lambda: watch(models.download(library, model.name)),
        button=Button(label, icon="download", help=needs, disabled=bool(needs)),
    )  # fmt: skip
    if needs:
        st.caption(format.plain(needs, limit=200))


def _embed(library: Library, model: model_download.OfferedModel) -> None:
    def switch() -> Job:
        name = f"Embed with {format.model(model.name)}"
        return watch(library.jobs.start("model", name=name, options={"model": model.name}))

    watch = job_bar.watcher()
    forms.button(
        f"embed-{model.title}", library, switch,
        button=Button(
            "Embed everything with it", icon="model_training", kind="primary",
            disabled=job_bar.is_busy(library.jobs),
        ),
    )  # fmt: skip


def _size(model: model_download.OfferedModel) -> str:
    return f"{model.megabytes / 1_000:.1f} GB" if model.megabytes >= 1_000 else f"{model.megabytes} MB"
