"""The page of a library without coins: three ways in, or what to do first."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from components.exchange import import_coins
from components.overview import inbox
from components.shell.page import forms, job_bar
from components.shell.page.forms import Button
from store import Job, Library, Progress, demo
from store.tasks import models


def show(library: Library) -> None:
    """Offer the demo library, a path and an upload; while one of them is read, say so instead."""
    if import_coins.is_under_way(library):
        st.markdown("The bar shows what is going on. The coins appear here as soon as they are stored.")
        return
    st.markdown(
        "This library is empty. Coins come in here, are reviewed, captioned and embedded, "
        "and are then found by words, by picture or by example."
    )
    if not library.can_write:
        return
    busy = job_bar.is_busy(library.jobs)
    with st.container(border=True), st.container(horizontal=True, vertical_alignment="center"):
        with st.container(gap="xsmall"):
            st.header("Look around first", anchor=False)
            st.caption(
                "Hundreds of fictional coins with captions and copycats, three months of decisions, "
                "and a text memory; without internet."
            )
        forms.button(
            "demo", library, partial(_load_demo, library, job_bar.watcher()),
            button=Button("Load the demo library", icon="auto_awesome", kind="primary", disabled=busy),
        )  # fmt: skip
    with st.container(border=True):
        st.header("Bring your own", anchor=False)
        import_coins.show(library)
    inbox.show(library)


def _load_demo(library: Library, watch: Callable[[Job], Job]) -> None:
    name = "Load the demo library"

    def load(progress: Progress) -> object:
        report = demo.load_with_memory(library, progress=progress)
        models.arrange_map(library, "fused")
        return report

    watch(import_coins.begin(library, name, load))


def stop_without_coins(library: Library) -> None:
    """Stop a page that has nothing to show before the first promotion, and say what to do."""
    if library.counts()["library"]:
        return
    st.info("The library holds no coins yet: promote approved ones first.", icon=":material/publish:")
    st.page_link("pages/approved.py", label="Approved coins", icon=":material/task_alt:")
    st.stop()
