"""The caption editor: four facets and tags of one coin at a time."""

import streamlit as st

from components import caption_picker, drafting, editor, live, portrait, stored
from components.frame import open_page

library = open_page("Captions")

picked = caption_picker.pick(library)
if picked is None:
    st.stop()

editor.show(
    library,
    picked.record,
    previous=picked.previous,
    following=picked.following,
    bare=picked.bare,
    go=caption_picker.go,
)
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    portrait.verbs(library, picked.record)
    drafting.button(library, picked.record)
stored.show(library, picked.record)
live.follow(library)
