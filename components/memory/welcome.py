"""The page of an empty text memory."""

import streamlit as st

from components.shell.page import job_bar
from components.shell.page.forms import Button
from components.shell.session import resources
from store import MemoryVerbs


def is_needed(memory: MemoryVerbs) -> bool:
    """Whether there is nothing to ask; entries are added in Browse, and decided about in Review."""
    status = memory.status()  # with a fault it is not empty, but unusable; System status says why
    return not any(status.counts.values()) and not status.faults


def show(memory: MemoryVerbs) -> None:
    """The purpose of the page, and the demo."""
    st.markdown(
        "The text memory is empty. World lore, session memory, what agents remember, protocol papers and "
        "recorded sessions come in here, and you see what a question would retrieve, and why."
    )
    if not memory.can_write:
        return
    with st.container(border=True), st.container(horizontal=True, vertical_alignment="center"):
        with st.container(gap="xsmall"):
            st.header("Look around first", anchor=False)
            st.caption("Three worlds, two sessions, memories, papers and transcripts, all made up.")
        busy = job_bar.is_busy(resources.jobs())
        job_bar.button(
            "demo-memory", resources.library(), "Load the demo memory",
            lambda progress: memory.load_demo(progress=progress),
            button=Button("Load the demo memory", icon="auto_awesome", kind="primary", disabled=busy),
        )  # fmt: skip
    st.caption("Or add your own: Browse, choose a kind, Add.")
