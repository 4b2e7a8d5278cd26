"""The first page: what is where, what needs attention, what happened recently."""

import streamlit as st

from components.exchange import adopt, import_coins
from components.grid import newest
from components.overview import distributions, inbox, metrics, welcome
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
        st.page_link("pages/exchange.py", label="Import coins", icon=":material/download:")
with grid.cell():
    st.subheader("Last decisions", anchor=False)
    undo.recent(library)
    metrics.model(library)
if library.counts()["library"]:
    distributions.show(library)
if library.counts()["library"]:
    st.subheader("Newest in the library", anchor=False)
    newest.show("overview-newest", library, limit=12)
