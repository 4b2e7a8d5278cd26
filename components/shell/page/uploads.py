"""Where files are dropped, with our own words: Streamlit's are "200MB per file" and every ending."""

import hashlib
import json
from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import UploadedFile

from components.shell import format
from components.shell.page import forms, streamlit_style, tables
from store import Refusal, by_reason

_FEW = 5  # refusals that are shown as text, to be read on a phone
_SHOWN = 1_000  # … in the table of many


def files(
    label: str, endings: Sequence[str], kinds: str, *, form: str, hint: str | None = None
) -> list[UploadedFile]:
    """The files dropped here that this form has not taken yet; `kinds` says which may be, for people.

    Without endings, every file is taken.
    """
    with _described(kinds, form):
        return st.file_uploader(
            label, type=[*endings] or None, accept_multiple_files=True, key=key_until_sent(form), help=hint
        )


def folder(label: str, kinds: str, *, form: str) -> list[UploadedFile]:
    """All files of folders dropped here that this form has not taken yet, each called by its path."""
    with _described(kinds, f"{form}-folder"):
        return st.file_uploader(label, accept_multiple_files="directory", key=key_until_sent(form, "folder"))


def file(label: str, endings: Sequence[str], kinds: str, *, form: str) -> UploadedFile | None:
    """The one file dropped here that this form has not taken yet, if any."""
    with _described(kinds, form):
        return st.file_uploader(label, type=[*endings], key=key_until_sent(form))


def key_until_sent(form: str, part: str = "files") -> str:
    """The key of a widget that is empty, or closed, again once the form has been sent."""
    return f"{form}-{part}-{forms.times_confirmed(form)}"


def refused(refusals: Sequence[Refusal]) -> None:
    """What was refused and why, by reason: a few as text, many as a table to be opened."""
    if len(refusals) <= _FEW:
        for one in refusals:
            st.markdown(f"**{format.plain(one.item)}**: {format.plain(one.reason, limit=300)}")
        return
    groups = by_reason(refusals)
    for reason, found in groups[:_FEW]:
        first = found[0].item if len(found) == 1 else f"{found[0].item}, …"
        st.markdown(f"**{len(found):,}**: {format.plain(reason, limit=300)} ({format.plain(first)})")
    if len(groups) > _FEW:
        st.caption(f"and {format.counted(len(groups) - _FEW, 'other reason')}, in the table")
    rows = [{"item": refusal.item, "reason": refusal.reason} for refusal in refusals]
    with st.expander(f"Refused and why ({len(rows):,})"):
        tables.show(rows[:_SHOWN], alt="Refused items and reasons")
        st.download_button(
            "Download as CSV", tables.as_csv(rows), "refused.csv", "text/csv", on_click="ignore"
        )


def _described(kinds: str, form: str) -> DeltaGenerator:
    """A container in which Streamlit's words are replaced by these and the limit."""
    name = f"upload-{hashlib.sha256(form.encode()).hexdigest()[:12]}"
    limit = st.get_option("server.maxUploadSize")
    st.html(
        streamlit_style.upload(
            f".st-key-{name}",
            hint=json.dumps(f"{kinds} · up to {limit} MB", ensure_ascii=False),
            error=json.dumps(f"Takes: {kinds}, up to {limit} MB", ensure_ascii=False),
        )
    )
    return st.container(key=name)
