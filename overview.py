"""The first page: what is where, what needs attention, what happened recently."""

import streamlit as st

from components.exchange import adopt, import_coins
from components.grid import newest
from components.overview import attention, distributions, flow, inbox, week, welcome
from components.shell.page import places, tour, undo
from components.shell.page.frame import open_page

library = open_page("Home")

import_coins.report()
if not sum(library.counts().values()):
    welcome.show(library)
    st.stop()

tour.offer(library)
this_week = week.read(library)
flow.show(library, this_week)
grid = st.grid(3, min_column_width=320, gap=("small", "medium"))
needs, moves, decisions = grid.cell(), grid.cell(), grid.cell()
with needs:
    st.header("Needs attention", anchor=False)
    attention.show(library)
    if library.can_write:
        st.page_link(**places.IMPORT, label="Import coins", icon=":material/download:")
    inbox.show(library)
    adopt.link(library)
    attention.model(library)
with decisions:
    st.header("Last decisions", anchor=False)
    undo.recent(library, limit=5)
if library.counts()["library"]:
    st.header("Newest in the library", anchor=False)
    newest.show("overview-newest", library, limit=12)
    distributions.show(library)
with moves:  # last: the first figure of a process imports Plotly and pandas
    st.header("This week", anchor=False)
    week.chart(this_week)
