"""The words by which a coin is unfit for the screen: those that a library adds to the list, or removes."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from components.shell import format
from components.shell.page import forms
from components.shell.page.forms import Button, Field
from store import Filter, Library


def show(library: Library) -> None:
    """Both lists with the number of coins that are flagged, and a form for those who may change them."""
    st.header("Unfit for the screen", anchor=False)
    coins = format.counted(library.count(Filter(unfit="yes")), "coin")
    st.markdown(f"[{coins} flagged](library?library_words=unfit%3Ayes)")
    st.caption(
        "A coin is flagged for nudity in its picture, or for a word of the list in its name, ticker, "
        "description or picture. Safe mode blurs the pictures of flagged coins."
    )
    words = library.unfit.words()
    if not library.can_write:
        st.text(f"Added: {', '.join(words.added) or 'none'}\nRemoved: {', '.join(words.removed) or 'none'}")
        return

    def save(values: Mapping[str, Any]) -> str:
        lists = {name: str(values.get(name) or "").splitlines() for name in ("added", "removed")}
        library.unfit.edit_words(**lists)
        return f"Saved. {format.counted(library.count(Filter(unfit='yes')), 'coin')} flagged now."

    forms.show(
        "unfit-words",
        library,
        save,
        fields=[
            Field(
                "added",
                "Words that flag as well",
                "text",
                "\n".join(words.added),
                help="One word or phrase a line.",
            ),
            Field("removed", "Words of the shipped list that do not count", "text", "\n".join(words.removed)),
        ],
        button=Button("Save", icon="save", kind="primary"),
    )
