"""The first page: what is where, what needs attention, what happened lately."""

import streamlit as st

from components import arrivals, at_a_glance, decisions, importing, newest, trash, welcome
from components.frame import open_page

library = open_page("Overview")

importing.report()
if not sum(library.counts().values()):
    welcome.show(library)
    st.stop()

at_a_glance.figures(library)
grid = st.grid(2, min_column_width=380, gap=("small", "large"))
with grid.cell():
    st.subheader("What needs attention", anchor=False)
    at_a_glance.attention(library)
    arrivals.show(library)
    if library.can_write:
        with st.expander("Import more coins", icon=":material/download:"):
            importing.show(library)
with grid.cell():
    st.subheader("Last decisions", anchor=False)
    decisions.recent(library)
    at_a_glance.model(library)
trash_is_open = trash.show(library)
if library.counts()["library"] and not trash_is_open:  # one grid at a time answers to the keys
    st.subheader("Newest in the library", anchor=False)
    newest.show("overview-newest", library, limit=12)
