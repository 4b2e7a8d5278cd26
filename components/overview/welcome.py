"""The page of a library without coins: three ways in, or what to do first."""

import streamlit as st

from components.exchange import import_coins
from components.overview import inbox
from components.shell import job_bar
from components.shell.forms import Button
from store import demo
from store.library import Library


def show(library: Library) -> None:
    """Offer the demo library, a path and an upload; while one of them is read, say so instead."""
    if job_bar.is_busy(library.jobs):
        st.markdown("The bar shows what is going on. The coins appear here as soon as they are stored.")
        return
    st.markdown(
        "This library is empty. Coins come in here, are reviewed, captioned and embedded, "
        "and are then found by words, by picture or by example."
    )
    if not library.can_write:
        return
    with st.container(border=True), st.container(horizontal=True, vertical_alignment="center"):
        with st.container(gap="xsmall"):
            st.header("Look around first", anchor=False)
            st.caption(
                "Hundreds of fictional coins with captions, copycats and recorded drafts, without internet."
            )
        job_bar.button(
            "demo", library, "Load the demo library", lambda progress: demo.load(library, progress=progress),
            button=Button("Load the demo library", icon="auto_awesome", kind="primary"),
        )  # fmt: skip
    with st.container(border=True):
        st.header("Bring your own", anchor=False)
        import_coins.show(library)
    inbox.show(library)


def stop_without_coins(library: Library) -> None:
    """Stop a page that has nothing to show before the first promotion, and say what to do."""
    if library.counts()["library"]:
        return
    st.info("The library holds no coins yet: promote approved ones first.", icon=":material/publish:")
    st.page_link("pages/approved.py", label="Approved coins", icon=":material/task_alt:")
    st.stop()
