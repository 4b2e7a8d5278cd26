"""Memory: what a question would retrieve, why, and what a model then sees."""

import streamlit as st

from components.memory import (
    asking,
    browse,
    connections,
    context_view,
    entry_drawer,
    health,
    moments,
    open_memory,
    pending,
    probe,
    welcome,
)
from components.shell.page import views
from components.shell.page.frame import open_page

library = open_page("Memory", undo=open_memory.undo_button)

memory = open_memory.memory(can_write=library.can_write)
of_a_moment = {"Test retrieval": probe.show, "Prompt preview": context_view.show, "Browse": browse.show}
others = {
    "Ask": lambda: asking.show(memory),
    "Pending memories": lambda: pending.show(library, memory),
    "Connections": lambda: connections.show(library, memory),
    "Status": lambda: health.show(memory),
}
chosen = views.choose([*of_a_moment, *others])
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    if chosen != "Pending memories":
        pending.badge(memory)
    moment = moments.choose() if chosen in of_a_moment else None
if welcome.is_needed(memory, chosen):
    welcome.show(memory)
elif moment is not None:
    with moments.at(memory, moment) as shown:
        of_a_moment[chosen](shown)
else:
    others[chosen]()
entry_drawer.show_if_open(library, memory)
