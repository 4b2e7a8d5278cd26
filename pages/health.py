"""System status: problems and their remedies, and the program's settings."""

import streamlit as st

from components.overview import health, model_choice, model_download
from components.shell.page.frame import open_page

library = open_page("System status")

grid = st.grid(2, min_column_width=380, gap=("small", "large"))
with grid.cell():
    st.header("Overview", anchor=False)
    health.at_once(library)
with grid.cell():
    st.header("Embedding model", anchor=False)
    model_choice.show(library)
    model_download.show(library)
st.header("Check", anchor=False)
health.examine(library)
if health.are_sessions_shown():
    st.header("Sessions", anchor=False)
    health.sessions()
with st.expander("Where the data is", icon=":material/folder:"):
    health.places(library)
with st.expander("Settings", icon=":material/tune:"):
    health.configuration()
