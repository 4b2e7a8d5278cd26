"""Settings: import and export, tags, models, safe mode, past prompts, checks; only the open section runs."""

import streamlit as st

from components.captions import import_captions, language_model
from components.exchange import adopt, export, import_coins
from components.memory import contexts, open_memory
from components.memory import health as memory_health
from components.overview import health, model_choice
from components.review import tags
from components.shell.page import views
from components.shell.page.frame import open_page
from store import Library


def _exchange(library: Library) -> None:
    import_coins.section(library)
    export.show(library)
    if memory := open_memory.existing(library):
        memory_health.export(memory)
    import_captions.show(library)
    adopt.show(library)


def _embedding(library: Library) -> None:
    model_choice.show(library)
    model_choice.download(library)
    if library.can_write and (memory := open_memory.existing(library)):
        st.header("Text memory", anchor=False)
        memory_health.models(memory)


def _prompts(library: Library) -> None:
    if memory := open_memory.existing(library):
        contexts.show(memory)
    else:
        st.info("The memory is empty: no model was told of it yet.", icon=":material/history:")


def _status(library: Library) -> None:
    health.at_once(library)
    st.header("Check", anchor=False)
    health.examine(library)
    if health.are_sessions_shown():
        st.header("Sessions", anchor=False)
        health.sessions()
    with st.expander("Where the data is", icon=":material/folder:"):
        health.places(library)
    with st.expander("Settings", icon=":material/tune:"):
        health.configuration()
    if open_memory.is_there():
        st.header("Text memory", anchor=False)
        memory_health.show(open_memory.memory(can_write=library.can_write))


SECTIONS = {
    "Import and export": _exchange,
    "Tags": tags.table,
    "Language model": language_model.show,
    "Embedding model": _embedding,
    "Safe mode": tags.unfit_words,
    "Past prompts": _prompts,
    "System status": _status,
}

library = open_page("Settings")
SECTIONS[views.choose([*SECTIONS], parameter="section")](library)
