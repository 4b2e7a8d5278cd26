"""Models on offer: download one, then embed everything with it. Nothing is fetched without that click."""

import streamlit as st

from components.shell import format
from components.shell.page import forms, job_bar
from components.shell.page.forms import Button
from store import Job, Library
from store.embedding import model_download
from store.tasks import models


def show(library: Library) -> None:
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
