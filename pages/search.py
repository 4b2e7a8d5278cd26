"""Search the library by words, by picture or by example, and see why each result is where it is."""

import streamlit as st

from components import newest, search_box, search_results
from components.frame import open_page

library = open_page("Search")

if not library.counts()["library"]:
    st.info("The library holds no coins yet: promote approved ones first.", icon=":material/publish:")
    st.page_link("pages/approved.py", label="Approved coins", icon=":material/task_alt:")
    st.stop()

asked = search_box.ask(library)
if asked.parts:
    search_results.show(library, asked)
else:
    search_box.invite(library)
    newest.show("search-newest", library, limit=18)
