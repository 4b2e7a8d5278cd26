"""Home: the way of coins, what to do next, the map as a small picture, and the newest coins."""

import streamlit as st

from components.exchange import adopt, import_coins
from components.grid import newest
from components.map import view
from components.overview import attention, flow, inbox, welcome
from components.shell.page import places, tour
from components.shell.page.frame import open_page

library = open_page("Home")

import_coins.report()
if not sum(library.counts().values()):
    welcome.show(library)
    st.stop()

tour.offer(library)
flow.show(library)
left, right = st.columns([3, 2], gap="large")
with left:
    st.header("What to do next", anchor=False)
    attention.show(library)
    inbox.show(library)
    adopt.link(library)
    if library.can_write:
        st.page_link(**places.IMPORT, label="Import coins", icon=":material/download:")
with right:
    view.thumbnail(library)
if library.counts()["library"]:
    st.header("Newest in the library", anchor=False)
    newest.show("overview-newest", library, limit=12)
