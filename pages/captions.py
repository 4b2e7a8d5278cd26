"""Captions: write the four facets of one coin, check all, replace in many."""

import streamlit as st

from components.captions import checkup, picker, record, replace, views
from components.editor import editor
from components.shell.page import live
from components.shell.page.frame import open_page

library = open_page("Captions")

view = views.choose()
if view == "Check up":
    checkup.show(library)
    st.stop()
if view == "Replace":
    replace.show(library)
    st.stop()

picked = checkup.pick(library) if checkup.is_going_on() else picker.pick(library)
if picked is None:
    st.stop()

editor.show(
    library,
    picked.record,
    previous=picked.previous,
    following=picked.following,
    bare=picked.bare,
    go=picker.go,
)
record.verbs(library, picked.record)
record.details(library, picked.record)
live.follow(library)
