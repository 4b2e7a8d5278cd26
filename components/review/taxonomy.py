"""The category of each known tag, edited as a table; with a preview of the effects."""

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from typing import Any

import streamlit as st

from components.shell import format
from components.shell.page import forms, job_bar, tables
from components.shell.page.forms import Button
from store import Library, MemedexError, Taxonomy
from store.tasks import tags

_NAMED = 6  # changes that are named; of more, how many


def show(library: Library) -> None:
    """The taxonomy, with an editor for those who may change the library."""
    st.header("Taxonomy", anchor=False)
    try:
        taxonomy = library.taxonomy
    except MemedexError as error:
        st.error("The taxonomy cannot be read. Mend the file, or put a copy back:", icon=":material/error:")
        st.text(str(error))
        return
    st.caption("Each tag’s category comes from this table. Unknown tags belong to `other`.")
    rows = [{"tag": tag, "category": category} for tag, category in taxonomy.entries.items()]
    if not library.can_write:
        tables.show(rows, height=420, alt="Known tags and their categories")
        return
    version = sha256(repr(rows).encode()).hexdigest()[:12]  # saved or undone, the table is reset
    edited = st.data_editor(
        rows,
        key=f"memedex.taxonomy.{version}",
        num_rows="dynamic",
        hide_index=True,
        height=420,
        column_config={
            "tag": st.column_config.TextColumn("tag", required=True, max_chars=64),
            "category": st.column_config.TextColumn("category", required=True, max_chars=64),
        },
    )
    _save(library, taxonomy, _entries(edited))
    _behind(library, taxonomy)


def _entries(edited: list[dict[str, Any]]) -> dict[str, str]:
    pairs = [(str(row.get("tag") or "").strip(), str(row.get("category") or "").strip()) for row in edited]
    return {tag.casefold(): category for tag, category in pairs if tag or category}


def _save(library: Library, taxonomy: Taxonomy, entries: Mapping[str, str]) -> None:
    """The differences, and how many coins get other categories by them."""
    before, summary, fault = taxonomy.entries, "Nothing is changed yet.", ""
    affected: list[str] = []
    if entries != before:
        try:
            after = Taxonomy.parsed(entries, path=library.layout.own_taxonomy)
        except MemedexError as error:
            fault = str(error)
        else:
            affected = tags.straying(library, after)
            coins = format.counted(len(affected), "coin")
            summary = f"{_difference(before, entries)} · {coins} get other categories"
    st.caption(f":orange[{format.plain(fault, limit=200)}]" if fault else summary)
    is_valid = entries != before and not fault
    forms.show(
        "save-taxonomy", library, _start(library, entries, affected),
        button=Button("Save taxonomy", icon="save", kind="primary", disabled=not is_valid),
    )  # fmt: skip


def _difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    changes = [f"+ {tag}: {category}" for tag, category in after.items() if tag not in before]
    changes += [
        f"{tag}: {before[tag]} → {category}"
        for tag, category in after.items()
        if before.get(tag, category) != category
    ]
    changes += [f"− {tag}" for tag in before if tag not in after]
    named = ", ".join(format.plain(change) for change in changes[:_NAMED])
    return named if len(changes) <= _NAMED else f"{named} and {len(changes) - _NAMED:,} more"


def _behind(library: Library, taxonomy: Taxonomy) -> None:
    """Coins whose categories are outdated, after an edit by hand or one that was stopped."""
    behind = tags.straying(library, taxonomy)
    if behind and not library.jobs.keys_under_way("tags"):
        st.warning(
            f"{format.counted(len(behind), 'coin')} have outdated categories.",
            icon=":material/sync_problem:",
        )
        forms.show(
            "follow-taxonomy", library, _start(library, taxonomy.entries, behind),
            button=Button("Update categories"),
        )  # fmt: skip


def _start(library: Library, entries: Mapping[str, str], affected: list[str]) -> forms.Send:
    options = {"taxonomy": dict(entries)}
    start = partial(library.jobs.start, "tags", affected, name="Edit the taxonomy", options=options)
    return job_bar.starting(start)
