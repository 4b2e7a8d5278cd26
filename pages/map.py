"""The library as points: what is alike lies together."""

import streamlit as st

from components import live, map_view
from components.frame import open_page
from store.maps import LEAST

library = open_page("Map")
live.follow(library)

if library.counts()["library"] < LEAST:
    st.info(f"A map needs at least {LEAST} coins in the library.", icon=":material/scatter_plot:")
    st.page_link("pages/approved.py", label="Approved coins", icon=":material/task_alt:")
    st.stop()
map_view.show(library)
