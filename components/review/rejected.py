"""Rejected and deleted coins: why, and how they are deleted for good."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from components.grid.cards import Mark
from components.shell import format
from components.shell.page import forms
from components.shell.page.forms import Button
from store import Library, Record
from store.errors import InvalidRecord
from store.reading import statistics


def marks(library: Library, shown: Sequence[Record]) -> Callable[[Record], Mark | None]:
    """The reason of each coin, for the corner of its card."""
    reasons = statistics.reasons_of(library, [record.address for record in shown])

    def mark(record: Record) -> Mark | None:
        reason = reasons.get(record.address)
        return {"label": format.cut(reason, limit=40), "tone": "quiet"} if reason else None

    return mark


def empty(library: Library) -> None:
    """Delete coins of some age for good, after the number of coins, files and bytes was agreed to."""
    if not library.can_write or not library.counts()["trash"]:
        return
    with st.popover("Empty …", icon=":material/delete_forever:"):
        days = st.number_input(
            "Minimum age in days", 0, 10_000, 30, key="trash-days", help="Since the rejection."
        )
        found = library.trash.contents(days=days or 0)
        count = len(found.addresses)
        if not count:
            st.caption(f"No coin was rejected more than {format.counted(days or 0, 'day')} ago.")
            return
        st.markdown(
            f"{format.counted(count, 'coin')} with {format.counted(found.files, 'file')} "
            f"({format.size(found.size)}) would be deleted. **This cannot be undone.**"
        )
        agreed = st.checkbox("Delete them for good", key=f"trash-agreed-{count}-{days}")
        forms.show(
            "trash-empty", library, partial(_delete, library, days or 0, count), after_run=True,
            button=Button(
                f"Delete {format.counted(count, 'coin')}", icon="delete_forever", kind="primary",
                disabled=not agreed, help="" if agreed else "Agree to it first.",
            ),
        )  # fmt: skip


def _delete(library: Library, days: int, count: int, _: object) -> str:
    done = library.trash.empty(days=days, expected=count)
    if not done.addresses:
        why = done.refused[0].reason if done.refused else "these coins are gone already"
        raise InvalidRecord(f"nothing was deleted: {why}")
    said = f"{format.counted(len(done.addresses), 'coin')} deleted, {format.size(done.size)} freed."
    if done.refused:
        said += f" {format.counted(len(done.refused), 'coin')} refused: {done.refused[0].reason}."
    return f"{said} {done.left}".strip()
