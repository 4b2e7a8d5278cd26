"""The first page: what is where, what needs attention, what happened recently."""

import streamlit as st

from components.exchange import adopt, import_coins
from components.grid import newest
from components.overview import distributions, inbox, metrics, trash, welcome
from components.shell import undo
from components.shell.page import open_page

library = open_page("Overview")

import_coins.report()
if not sum(library.counts().values()):
    welcome.show(library)
    st.stop()

metrics.figures(library)
grid = st.grid(2, min_column_width=380, gap=("small", "large"))
with grid.cell():
    st.subheader("Needs attention", anchor=False)
    metrics.attention(library)
    inbox.show(library)
    adopt.link(library)
    if library.can_write:
        with st.expander("Import more coins", icon=":material/download:"):
            import_coins.show(library)
with grid.cell():
    st.subheader("Last decisions", anchor=False)
    undo.recent(library)
    metrics.model(library)
if library.counts()["library"]:
    distributions.show(library)
trash_is_open = trash.show(library)
if library.counts()["library"] and not trash_is_open:  # one grid at a time answers to the keys
    st.subheader("Newest in the library", anchor=False)
    newest.show("overview-newest", library, limit=12)
