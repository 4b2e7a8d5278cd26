"""Settings: import and export, tags, models, safe mode, system status; only the open section runs."""

import streamlit as st

from components.captions import import_captions
from components.exchange import adopt, export, import_coins
from components.overview import health, model_choice, model_download
from components.review import tags
from components.shell.page import views
from components.shell.page.frame import open_page

library = open_page("Settings")

section = views.choose(
    ("Import and export", "Tags", "Embedding model", "Safe mode", "System status"), parameter="section"
)
if section == "Import and export":
    import_coins.section(library)
    export.show(library)
    import_captions.show(library)
    adopt.show(library)
elif section == "Tags":
    left, right = st.columns(2, gap="large")
    with left:
        tags.renaming(library)
    with right:
        tags.taxonomy_editor(library)
elif section == "Embedding model":
    model_choice.show(library)
    model_download.show(library)
elif section == "Safe mode":
    tags.unfit_words(library)
elif section == "System status":
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
