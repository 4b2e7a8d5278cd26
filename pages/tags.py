"""Tags: how often each is used, renaming, and the taxonomy that gives each a category."""

import streamlit as st

from components.review import rename_tags, taxonomy, unfit_words
from components.shell.page.frame import open_page

library = open_page("Tags")

left, right = st.columns(2, gap="large")
with left:
    rename_tags.show(library)
with right:
    taxonomy.show(library)
    unfit_words.show(library)
