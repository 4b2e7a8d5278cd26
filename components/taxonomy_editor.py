"""Which category each known tag belongs to, edited as a table; what that changes is shown beforehand."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import streamlit as st

from components import jobs, wording
from store import tagging
from store.errors import MemedexError
from store.library import Library
from store.taxonomy import Taxonomy, parsed

_NAMED = 6  # changes that are named; of more, how many


def show(library: Library) -> None:
    """The taxonomy; whoever may change the library edits it here."""
    st.subheader("Taxonomy", anchor=False)
    try:
        taxonomy = library.taxonomy
    except MemedexError as error:
        st.error("The taxonomy cannot be read. Mend the file, or put a copy back:", icon=":material/error:")
        st.text(str(error))
        return
    st.caption("Categories are never typed: they follow from this table. Unknown tags belong to `other`.")
    rows = [{"tag": tag, "category": category} for tag, category in taxonomy.entries.items()]
    if not library.can_write:
        st.dataframe(rows, hide_index=True, height=420, alt="Known tags and their categories")
        return
    version = sha256(repr(rows).encode()).hexdigest()[:12]  # saved or undone, the table begins anew
    edited = st.data_editor(
        rows, key=f"memedex.taxonomy.{version}", num_rows="dynamic", hide_index=True, height=420,
        column_config={
            "tag": st.column_config.TextColumn("tag", required=True, max_chars=64),
            "category": st.column_config.TextColumn("category", required=True, max_chars=64),
        },
    )  # fmt: skip
    _save(library, taxonomy, _entries(edited))
    _behind(library, taxonomy)


def _entries(edited: list[dict[str, Any]]) -> dict[str, str]:
    pairs = [(str(row.get("tag") or "").strip(), str(row.get("category") or "").strip()) for row in edited]
    return {tag.casefold(): category for tag, category in pairs if tag or category}


def _save(library: Library, taxonomy: Taxonomy, entries: Mapping[str, str]) -> None:
    """What is different, and how many coins get other categories by it."""
    before, told, fault = taxonomy.entries, "Nothing is changed yet.", ""
    affected: list[str] = []
    if entries != before:
        try:
            after = parsed(entries, path=library.layout.own_taxonomy)
        except MemedexError as error:
            fault = str(error)
        else:
            affected = tagging.straying(library, after)
            coins = wording.counted(len(affected), "coin")
            told = f"{_difference(before, entries)} · {coins} get other categories"
    st.caption(f":orange[{wording.plain(fault, limit=200)}]" if fault else told)
    st.button(
        "Save taxonomy", type="primary", icon=":material/save:", disabled=entries == before or bool(fault),
        on_click=_begin, args=(library, entries, affected),
    )  # fmt: skip


def _difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    changes = [f"+ {tag}: {category}" for tag, category in after.items() if tag not in before]
    changes += [
        f"{tag}: {before[tag]} → {category}"
        for tag, category in after.items()
        if before.get(tag, category) != category
    ]
    changes += [f"− {tag}" for tag in before if tag not in after]
    named = ", ".join(wording.plain(change) for change in changes[:_NAMED])
    return named if len(changes) <= _NAMED else f"{named} and {len(changes) - _NAMED:,} more"


def _behind(library: Library, taxonomy: Taxonomy) -> None:
    """After an edit by hand, or one that was stopped: categories that say what was true before."""
    behind = tagging.straying(library, taxonomy)
    if behind and not library.jobs.keys_under_way("tags"):
        st.warning(
            f"{wording.counted(len(behind), 'coin')} do not follow this table.",
            icon=":material/sync_problem:",
        )
        st.button("Let them follow", on_click=_begin, args=(library, taxonomy.entries, behind))


def _begin(library: Library, entries: Mapping[str, str], affected: list[str]) -> None:
    jobs.start(library.jobs, "tags", affected, name="Edit the taxonomy", options={"taxonomy": dict(entries)})
