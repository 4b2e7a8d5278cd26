"""Lore and memory; a page that says what will come."""

import streamlit as st

from components.frame import open_page

open_page("Lore & memory")

st.markdown("This page is not built yet. It will show the text memory around the library:")
WILL_COME = (
    ("Lore", "the stories, in-jokes and origins that coins refer to"),
    ("Session memory", "what a conversation was about, and what would be recalled from it"),
    ("Agent memories", "what agents noted down, by whom and when, and what is out of date"),
    ("Papers", "protocol papers, cut into passages, with the page each stands on"),
    ("Transcripts", "calls and streams, found by what was said"),
)
with st.grid(3, min_column_width=220):
    for name, meaning in WILL_COME:
        with st.container(border=True, height="stretch"):
            st.markdown(f"**{name}**")
            st.caption(meaning.capitalize() + ".")
st.caption("For each: what would be retrieved for a question, why, and what a model then sees.")
