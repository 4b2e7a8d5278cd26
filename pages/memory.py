"""Memory: ask what answers a question and what a model is told, browse texts, review what agents wrote."""

import streamlit as st

from components.memory import ask, browse, entry_drawer, markup, moments, open_memory, pending
from components.shell.page import streamlit_style, views
from components.shell.page.frame import open_page

library = open_page("Memory", reversals=open_memory.last_decision)

memory = open_memory.memory(can_write=library.can_write)
st.html(streamlit_style.VIEWS_ROW + markup.STYLE)
with st.container(horizontal=True, vertical_alignment="center", key=streamlit_style.ROW_OF_VIEWS):
    chosen = views.choose(["Ask", "Browse", "Review"], counts={"Review": memory.pending_count()})
    question = ask.box()
    moment = moments.NOW if chosen == "Review" else moments.choose()
with moments.at(memory, moment) as then:
    if chosen == "Ask":
        ask.show(memory, then, question)
    elif chosen == "Browse":
        browse.show(library, then)
    else:
        pending.show(library, memory)
entry_drawer.show_if_open(library, memory)
