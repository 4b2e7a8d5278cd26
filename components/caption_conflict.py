"""Somebody else changed the record while it was being written: both texts side by side."""

from dataclasses import replace

import streamlit as st

from components import caption_form, wording
from store.library import Library
from store.records import CAPTION_FACETS, Record


def is_in_conflict(library: Library, record: Record) -> bool:
    """Whether a draft was begun on an older revision, and says something else."""
    if not library.can_write:  # another's draft is no viewer's to settle
        return False
    draft = caption_form.written(library, record)
    return draft.revision != record.revision and caption_form.is_changed(library, record)


def show(library: Library, record: Record) -> None:
    """Both texts, and the choice."""
    mine, theirs = caption_form.written(library, record), caption_form.stored(record)
    st.warning(
        "This coin was changed while you were writing. Nothing is lost: here are both.",
        icon=":material/call_split:",
    )
    left, right = st.columns(2, gap="large")
    left.markdown("**Yours, not saved**")
    right.markdown("**Stored now**")
    for facet in CAPTION_FACETS:
        if mine.caption[facet] == theirs.caption[facet]:
            continue
        for column, side in ((left, mine), (right, theirs)):
            column.caption(caption_form.PURPOSES[facet].label)
            column.text(side.caption[facet] or "(nothing)")
    if mine.tags != theirs.tags:
        for column, side in ((left, mine), (right, theirs)):
            column.caption("Tags")
            column.markdown(wording.plain(", ".join(side.tags), limit=500) or "(none)")
    left.button("Go on with yours", type="primary", on_click=_go_on, args=(library, record))
    right.button("Take what is stored", on_click=caption_form.discard, args=(library, record))


def _go_on(library: Library, record: Record) -> None:
    mine = caption_form.written(library, record)
    caption_form.keep(library, record, replace(mine, revision=record.revision))
    caption_form.begin_again()
