"""Tags: how often each is used, other names for them, and the taxonomy that gives each a category."""

import streamlit as st

from components import renaming, taxonomy_editor
from components.frame import open_page

library = open_page("Tags")

left, right = st.columns(2, gap="large")
with left:
    renaming.show(library)
with right:
    taxonomy_editor.show(library)
