"""Captions: write the four facets of one coin, check all, let a model draft many, replace words in many."""

import streamlit as st

from components.captions import checkup, draft, picker, prompts, record, replace
from components.editor import editor
from components.shell.page import live, views
from components.shell.page.frame import open_page

library = open_page("Captions")

view = views.choose(("Write", "Check", "AI drafts", "Find and replace"))
if view == "Check":
    checkup.show(library)
    st.stop()
if view == "AI drafts":
    draft.show(library)
    prompts.show(library)
    draft.spending(library)
    st.stop()
if view == "Find and replace":
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
