"""The coins that were selected on the map: what they have in common, cards, actions."""

from collections.abc import Callable, Sequence
from functools import partial
from secrets import token_hex

import streamlit as st

from components.exchange import export
from components.grid import CAPTION, DEGRADE, LIKE, TAGS, show_cards
from components.grid.newest import WAYS
from components.shell import format
from components.shell.page import forms, job_bar, undo
from components.shell.page.forms import Button
from components.shell.page.undo import AT_ONCE
from store import Filter, Job, Library
from store.maps import COMPARED, common_terms, has_term

_SHOWN = 60  # coins that are shown as cards


def show(library: Library, addresses: Sequence[str]) -> None:
    """The lasso's selection as cards, and actions on all of it."""
    if not addresses:
        st.caption("Drag a lasso (or hold shift and drag) around points to select them.")
        return
    tagging = None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{format.counted(len(addresses), 'coin')} selected**", width="content")
        st.download_button(
            "Addresses", lambda: "\n".join(addresses) + "\n", "chosen.txt", icon=":material/download:",
            width="content", on_click="ignore",
        )  # fmt: skip
        if st.button("Export", icon=":material/swap_vert:", help="In a form that other programs read."):
            export.choose(addresses)
            st.switch_page(export.PAGE, query_params={})  # without, Streamlit refuses: the line is bound
        if library.can_write:
            if st.button(
                "Open in Library", icon=":material/photo_library:", help="A link to them that lasts."
            ):
                line = f"set:{library.coin_sets.store(addresses)}"
                st.switch_page("pages/library.py", query_params={"library_words": line})
            if st.button("Tag", icon=":material/sell:", help="Add tags to all of them, or remove some."):
                tagging = {"id": token_hex(8), "addresses": list(addresses)}
            with st.popover("Remove from library", icon=":material/south_west:"):
                st.markdown(f"Move {format.counted(len(addresses), 'coin')} back to Approved?")
                forms.show(
                    "atlas-remove", library,
                    partial(_degrade, library, tuple(addresses), job_bar.watcher()),
                    button=Button("Remove", kind="primary"),
                )  # fmt: skip
    addresses = _narrowed(library, addresses)
    show_cards(
        "atlas-chosen",
        library,
        library.records(addresses[:_SHOWN]),
        actions=[LIKE, CAPTION, TAGS, DEGRADE],
        handlers=WAYS,
        tagging=tagging,
    )
    if len(addresses) > _SHOWN:
        st.caption(f"The first {_SHOWN} of them; *Open in Library* shows all.")


def _narrowed(library: Library, addresses: Sequence[str]) -> Sequence[str]:
    """Says what the selection has in common; those that have the term that was clicked, or all."""
    chosen = library.records(addresses[:COMPARED])
    everything = library.records(library.addresses(Filter(tier="library"))[:COMPARED])
    found = {one.term: one for one in common_terms(chosen, everything)}
    if not found:
        st.caption("No tag or word is more frequent here than in the library.")
        return addresses

    def label(term: str) -> str:
        return f"{format.plain(term)} {found[term].share:.0%}"

    term = st.pills(
        "In common", list(found), key="atlas-common", format_func=label,
        help="Tags and words of captions that are more frequent here than in the whole library. "
        "A click shows those that have it.",
    )  # fmt: skip
    if term not in found:
        return addresses
    one = found[term]
    st.caption(f"{one.share:.0%} of the selection, {one.usual:.0%} of the library.")
    return [record.address for record in chosen if has_term(record, one.term)]


def _degrade(
    library: Library, addresses: Sequence[str], watch: Callable[[Job], Job], sent: forms.Sent
) -> str:
    if len(addresses) > AT_ONCE:
        name = f"Remove {len(addresses):,} coins from the library"
        options = {"verb": "degrade"}
        watch(library.jobs.start("move", addresses, name=name, options=options, decision=sent.decision))
        return ""
    return undo.result(
        library.degrade(addresses, decision=sent.decision), message="Removed from the library:"
    )
