"""The page of an empty text memory."""

import streamlit as st

from components.shell import job_bar, resources
from store.memory import demo
from store.memory.memory import Memory


def is_needed(memory: Memory, view: str) -> bool:
    """Whether there is nothing to see; entries are added in Browse, and decided about in Pending."""
    return view not in ("Browse", "Pending memories") and not any(
        passages.count() for passages in memory.passages.values()
    )


def show(memory: Memory) -> None:
    """What this is for, and the demo."""
    st.markdown(
        "The text memory is empty. World lore, session memory, what agents remember, protocol papers and "
        "recorded sessions come in here, and you see what a question would retrieve, and why."
    )
    if not memory.can_write:
        return
    with st.container(border=True), st.container(horizontal=True, vertical_alignment="center"):
        with st.container(gap="xsmall"):
            st.subheader("Look around first", anchor=False)
            st.caption("Three worlds, two sessions, memories, papers and transcripts, all made up.")
        st.button(
            "Load the demo memory",
            type="primary",
            icon=":material/auto_awesome:",
            disabled=job_bar.is_busy(resources.jobs()),
            on_click=job_bar.begin,
            args=(
                resources.jobs(),
                "Load the demo memory",
                lambda progress: demo.load(memory, progress=progress),
            ),
        )
    st.caption("Or add your own: Browse, choose a kind, Add.")
