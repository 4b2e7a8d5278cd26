"""The caption editor: four facets and tags of one coin at a time."""

import streamlit as st

from components import caption_conflict, caption_form, caption_picker, drafting, portrait, stored
from components.frame import open_page

library = open_page("Captions")

record = caption_picker.pick(library)
if record is None:
    st.stop()
caption_form.rescue(library, record)

picture, desk = st.columns([2, 3], gap="large")
with picture:
    portrait.show(library, record)
    portrait.verbs(library, record, unsaved=caption_form.is_changed(library, record))
with desk:
    if caption_conflict.is_in_conflict(library, record):
        caption_conflict.show(library, record)
    else:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            caption_form.bar(library, record)
            drafting.button(library, record)
        caption_form.show(library, record)
        drafting.how_to_have_one()
stored.show(library, record)
