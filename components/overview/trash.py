"""Rejected and deleted records, and their restoration."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from components.grid import RESTORE, browse, show_view
from components.shell import format, forms
from components.shell.forms import Button
from store.catalog.filters import Filter
from store.library import Library


def show(library: Library) -> bool:
    """A section with everything in the trash, fetched when it is opened; returns whether it is open."""
    if not library.counts()["trash"]:
        return False
    # No count in its name: with another name it would be another drawer, shut after every coin brought back.
    drawer = st.expander(
        "Rejected: each coin can be restored", icon=":material/delete:", on_change="rerun", key="trash-drawer"
    )
    if drawer.open:
        with drawer:
            if library.can_write:
                _empty(library)
            view = browse("trash", library, base=Filter(tier="trash"))
            show_view(
                "trash",
                library,
                view,
                actions=[RESTORE],
                handlers={},
            )
    return bool(drawer.open)


def _empty(library: Library) -> None:
    """Delete rejected coins of some age for good, after the number of files and bytes was agreed to."""
    with st.popover("Empty …", icon=":material/delete_forever:"):
        days = st.number_input("Rejected more than so many days ago", 0, 10_000, 30, key="trash-days")
        found = library.trash.contents(days=days or 0)
        count = len(found.addresses)
        if not count:
            st.caption("There is none.")
            return
        st.markdown(
            f"{format.counted(count, 'coin')} with {format.counted(found.files, 'file')} "
            f"({format.size(found.size)}) would be deleted. **This cannot be undone.**"
        )
        agreed = st.checkbox("Delete them for good", key=f"trash-agreed-{count}-{days}")
        forms.show(
            "trash-empty", library, partial(_delete, library, days or 0, count), after_run=True,
            button=Button("Delete", icon="delete_forever", disabled=not agreed),
        )  # fmt: skip


def _delete(library: Library, days: int, count: int, _: Mapping[str, Any]) -> str:
    done = library.trash.empty(days=days, expected=count)
    return f"{format.counted(len(done.addresses), 'coin')} deleted, {format.size(done.size)} freed."
