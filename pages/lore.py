"""Lore and memory: what a question would retrieve, why, and what a model then sees."""

import streamlit as st

from components.memory import (
    browse,
    connections,
    context_view,
    entry_drawer,
    health,
    open_memory,
    pending,
    probe,
    welcome,
)
from components.shell.page import open_page

library = open_page("Lore & memory", undo=open_memory.undo_button)

memory = open_memory.memory(can_write=library.can_write)
views = {
    "Test retrieval": lambda: probe.show(memory),
    "Prompt preview": lambda: context_view.show(memory),
    "Browse": lambda: browse.show(memory),
    "Pending memories": lambda: pending.show(library, memory),
    "Connections": lambda: connections.show(library, memory),
    "Status": lambda: health.show(memory),
}
chosen = st.segmented_control(
    "View", list(views), key="view", default="Test retrieval", required=True, bind="query-params",
    label_visibility="collapsed",
)  # fmt: skip
if welcome.is_needed(memory, chosen):
    welcome.show(memory)
else:
    views[chosen]()
entry_drawer.show_if_open(library, memory)
