"""From results to the model: the exact context a generator gets, and a new coin made from it."""

import streamlit as st

from components import context_view, generating
from components.frame import open_page

library = open_page("To the model")

if not library.counts()["library"]:
    st.info("The library holds no coins yet: promote approved ones first.", icon=":material/publish:")
    st.page_link("pages/approved.py", label="Approved coins", icon=":material/task_alt:")
    st.stop()
asked = context_view.ask(library)
if asked is not None:
    generating.show(library, asked.context, prompt=asked.line)
