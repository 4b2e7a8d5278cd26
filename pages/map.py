"""The library as points; similar coins are close together."""

import streamlit as st

from components.map import view
from components.shell.page import live
from components.shell.page.frame import open_page
from store.maps import LEAST

library = open_page("Map")
live.follow(library)

if library.counts()["library"] < LEAST:
    st.info(f"A map needs at least {LEAST} coins in the library.", icon=":material/scatter_plot:")
    st.page_link("pages/approved.py", label="Approved coins", icon=":material/task_alt:")
    st.stop()
view.show(library)
