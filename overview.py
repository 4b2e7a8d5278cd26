"""The first page: what is where, what needs attention, what happened lately."""

import streamlit as st

from components import at_a_glance, decisions, importing, welcome
from components.frame import open_page

library = open_page("Overview")

if not sum(library.counts().values()):
    welcome.show(library)
    st.stop()

at_a_glance.figures(library)
left, right = st.columns([3, 2], gap="large")
with left:
    at_a_glance.attention(library)
    with st.expander("Import more", icon=":material/download:", expanded=importing.has_something_to_say()):
        importing.show(library)
with right:
    st.subheader("Last decisions", anchor=False)
    decisions.recent(library)
