"""Every tag with how many coins have it, and giving tags another name everywhere."""

import streamlit as st

from components import jobs, state, wording
from store import tagging
from store.errors import MemedexError
from store.filter import Filter
from store.library import Library

_CHOSEN, _NAME = "memedex.rename.tags", "memedex.rename.to"
_SHOWN = 1_000


def show(library: Library) -> None:
    """Rename or merge, and the tags there are."""
    counts = library.tag_counts(Filter())
    if library.can_write and counts:
        st.subheader("Rename or merge", anchor=False)
        _rename(library, counts)
    st.subheader("In use", anchor=False)
    if not counts:
        st.caption("No coin has a tag yet. `n` on a coin in any grid gives it one.")
        return
    rows = [
        {"tag": tag, "coins": count, "category": library.taxonomy.category(tag)}
        for tag, count in list(counts.items())[:_SHOWN]
    ]
    st.dataframe(rows, hide_index=True, height=420, alt="Tags, how many coins have each, and its category")


def _rename(library: Library, counts: dict[str, int]) -> None:
    chosen = st.multiselect(
        "Tags", list(counts), key=_CHOSEN, format_func=lambda tag: f"{tag} · {counts.get(tag, 0):,}",
        placeholder="one to rename, several to merge",
    )  # fmt: skip
    name = " ".join((st.text_input("Their new name", key=_NAME, max_chars=64) or "").split())
    affected = tagging.carrying(library, [tag for tag in chosen if tag != name])
    st.caption(_foretold(library, chosen, name, len(affected), counts))
    st.button(
        f"Rename on {wording.counted(len(affected), 'coin')}" if affected and name else "Rename",
        type="primary", disabled=not (affected and name), on_click=_begin, args=(library, chosen, name),
    )  # fmt: skip


def _foretold(library: Library, chosen: list[str], name: str, affected: int, counts: dict[str, int]) -> str:
    if not (chosen and name):
        return "In all tiers, the trash included; one undo takes it back."
    told = [f"{wording.counted(affected, 'coin')} in all tiers, the trash included"]
    if name in counts and name not in chosen:
        told.append(f"{wording.plain(name)} is in use on {counts[name]:,}: merged with it")
    elif near := tagging.alike(name, counts):
        told.append(f"much like {', '.join(wording.plain(tag) for tag in near)}")
    entries = tagging.entries_after(library.taxonomy, dict.fromkeys(chosen, name))
    told.append(f"category {wording.plain(entries.get(name.casefold(), 'other'))}")
    return " · ".join(told)


def _begin(library: Library, chosen: list[str], name: str) -> None:
    try:
        names = tagging.checked_names(dict.fromkeys(chosen, name))
        entries = tagging.entries_after(library.taxonomy, names)
    except MemedexError as error:
        state.say(wording.plain(str(error), limit=200), icon=":material/error:")
        return
    jobs.start(
        library.jobs,
        "tags",
        tagging.carrying(library, names),
        name=f"Rename {', '.join(names)} to {name}",
        options={"rename": names, "taxonomy": entries},
    )
    st.session_state[_CHOSEN], st.session_state[_NAME] = [], ""
