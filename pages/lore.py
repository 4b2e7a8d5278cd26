"""Lore and memory: what would be retrieved for a question, why, and what a model then sees."""

import streamlit as st

from components.frame import open_page
from components.memory import browse, connections, entry, health, opening, probe, seen, welcome

library = open_page("Lore & memory", undo=opening.undo_button)

memory = opening.memory(can_write=library.can_write)
views = {
    "Probe": lambda: probe.show(memory),
    "Model's view": lambda: seen.show(memory),
    "Browse": lambda: browse.show(memory),
    "Connections": lambda: connections.show(library, memory),
    "Health": lambda: health.show(memory),
}
chosen = st.segmented_control(
    "View", list(views), key="view", default="Probe", required=True, bind="query-params",
    label_visibility="collapsed",
)  # fmt: skip
if welcome.is_needed(memory, chosen):
    welcome.show(memory)
else:
    views[chosen]()
entry.show_if_open(library, memory)
