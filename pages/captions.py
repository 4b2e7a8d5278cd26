"""The captions: write four facets of one coin, look through all of them, replace in many."""

import streamlit as st

from components import (
    caption_picker,
    caption_views,
    checkup,
    editor,
    live,
    portrait,
    replacing,
    stored,
)
from components.frame import open_page

library = open_page("Captions")

view = caption_views.choose()
if view == "Check up":
    checkup.show(library)
    st.stop()
if view == "Replace":
    replacing.show(library)
    st.stop()

picked = checkup.pick(library) if checkup.is_going_on() else caption_picker.pick(library)
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
portrait.verbs(library, picked.record)
stored.show(library, picked.record)
live.follow(library)
