"""Replace words in many captions: a preview of every change first, and one undo for all."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from components.captions import picker
from components.editor.facets import PURPOSES
from components.editor.rows import EditorRow, show_rows
from components.grid.filters import Drawer
from components.grid.grid import lead_to
from components.shell import format
from components.shell.page import job_bar, places, views
from components.shell.page.forms import Button
from components.shell.session import presenter
from store import Filter, Library, Outcome, Progress, Record
from store.captioning import Replacement, ReplaceRequest, replacements
from store.catalog import filter_syntax
from store.errors import InvalidRecord
from store.records import CAPTION_FACETS, Tier

_CHOSEN = "memedex.replacing.chosen"  # addresses that a grid brought along
_ROWS = "replace-rows"
SHOWN = 200  # changes on the page; what is beyond is made as well, and said
_SCOPES: dict[str, tuple[Tier, ...]] = {
    "Approved and library": ("approved", "library"),
    "Approved": ("approved",),
    "Library": ("library",),
}


def show(library: Library) -> None:
    """Fields for what to find, where, and its replacement; then every change, and the button."""
    request = _wanted()
    records, faults = _selection(library)
    for fault in faults:
        st.caption(f":orange[{format.plain(fault, limit=160)}]")
    if not request.find:
        st.caption(
            f"Among {format.counted(len(records), 'coin')}. Nothing is changed before you have seen it."
        )
        return
    try:
        found = replacements(records, request)
    except InvalidRecord as error:
        st.warning("This cannot be searched for:", icon=":material/error:")
        st.text(str(error))
        return
    if not found:
        st.info("No caption of this selection would change.", icon=":material/search_off:")
        return
    _preview(library, found, {record.address: record for record in records})


def _wanted() -> ReplaceRequest:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        find = st.text_input(
            "Find", key="replace-find", placeholder="words", live=True, persist_state="session"
        )
        put = st.text_input(
            "Replace with",
            key="replace-put",
            placeholder="nothing: take them out",
            live=True,
            persist_state="session",
        )
        is_pattern = st.toggle(
            "Regex", key="replace-pattern", help="A regular expression; `\\1` for a group."
        )
        ignores_case = st.toggle("Ignore case", key="replace-case", value=True)
    facets = st.pills(
        "Texts", CAPTION_FACETS, key="replace-facets", selection_mode="multi", default=CAPTION_FACETS,
        format_func=lambda facet: PURPOSES[facet].label, label_visibility="collapsed",
    )  # fmt: skip
    return ReplaceRequest(find or "", put or "", tuple(facets), is_pattern, ignores_case)


def preselect(chosen: Sequence[str]) -> None:
    """Grid handler: continue with the selection."""
    st.session_state[_CHOSEN] = list(chosen)
    lead_to(places.REPLACE)


def _selection(library: Library) -> tuple[list[Record], list[str]]:
    """The records to search, and what of the line was not understood."""
    if chosen := st.session_state.get(_CHOSEN):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(f"{format.counted(len(chosen), 'coin')} chosen", color="primary")
            st.button("Search all captions", type="tertiary", on_click=st.session_state.pop, args=(_CHOSEN,))
        return [record for record in library.records(chosen) if record.tier != "trash"], []
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        scope = st.segmented_control(
            "Among",
            list(_SCOPES),
            key="replace-scope",
            required=True,
            label_visibility="collapsed",
            default=next(iter(_SCOPES)),
        )
        line = st.text_input(
            "Which coins",
            key="replace-line",
            persist_state="session",
            placeholder="words, tag:dog, category:animals …",
            live=True,
            icon=":material/search:",
            label_visibility="collapsed",
        )
        tiers = _SCOPES[scope or next(iter(_SCOPES))]
        line_filter = filter_syntax.parsed(
            presenter.revealed(line or ""), base=Filter(tier=tiers[0]), actor=library.actor_name
        )
        Drawer("replace", "replace-line").show(library, line_filter.filter.among(tiers))
    if line_filter.faults:  # without what was not understood, it would be far more than was meant
        return [], line_filter.faults
    records: list[Record] = []
    for tier in tiers:
        records += library.find(replace(line_filter.filter, tier=tier))
    return records, [*line_filter.hints]


def _preview(library: Library, found: list[Replacement], records: dict[str, Record]) -> None:
    place = st.container(horizontal=True, vertical_alignment="center", gap="small")

    def go(address: str) -> None:
        st.query_params.pop("check", None)
        picker.go(address)
        views.turn_to("Write")

    rows = [
        EditorRow(
            key=f"{each.address} {each.facet}",
            record=records[each.address],
            label=PURPOSES[each.facet].label,
            text=each.before,
            after=each.after,
        )
        for each in found[:SHOWN]
    ]
    left = show_rows(_ROWS, library, rows, go=go, choose=library.can_write)
    chosen = [each for each in found if f"{each.address} {each.facet}" not in left]
    coins = len({each.address for each in chosen})
    with place:
        if library.can_write:
            label = f"Replace in {format.counted(len(chosen), 'text')}"
            is_locked = not chosen or job_bar.is_busy(library.jobs)
            job_bar.button(
                "replace", library, f"Replace in {format.counted(coins, 'caption')}",
                replacing(library, chosen, coins), after_run=True,
                button=Button(label, icon="find_replace", kind="primary", disabled=is_locked),
            )  # fmt: skip
        beyond = f", of which the first {SHOWN} are shown" if len(found) > SHOWN else ""
        st.caption(f"{format.counted(coins, 'coin')}{beyond}. One undo reverses all of it.", width="stretch")


def replacing(library: Library, chosen: list[Replacement], number: int) -> Callable[[Progress], Outcome]:
    """The work; if records changed since the preview it fails, with the rest done.

    Raises InvalidRecord at the end if records were left as they are.
    """

    def work(progress: Progress) -> Outcome:
        progress.total, progress.what = number, "captions"
        outcome = library.replace(chosen, progress=progress)
        if outcome.refused:
            first = outcome.refused[0]
            refused = format.counted(len(outcome.refused), "coin")
            raise InvalidRecord(f"{refused} left as they were, {first.item}: {first.reason}")
        return outcome

    return work
