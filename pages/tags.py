"""Tags: how often each is used, renaming, and the taxonomy that gives each a category."""

import streamlit as st

from components.review import tags
from components.shell.page.frame import open_page

library = open_page("Tags")

left, right = st.columns(2, gap="large")
with left:
    tags.renaming(library)
with right:
    tags.taxonomy_editor(library)
    tags.unfit_words(library)
