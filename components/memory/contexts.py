"""Past prompts: which entries models and agents were given, and what it would have been otherwise."""

from collections.abc import Sequence

import streamlit as st

from components.memory.kinds import KINDS, place_of
from components.shell import format
from components.shell.page import tables
from components.shell.session import presenter
from store import MemedexError, Memory
from store.memory.values import CHUNK_LENGTH, CHUNK_OVERLAP, KeptContext, ReplayedEntry, WhatIf
from store.settings import settings

_SHOWN = 200  # in the table
_ROW = 36  # px
_SIGNS = {
    "same": ("As it was", "gray", ":material/check:"),
    "added": ("Added", "green", ":material/add:"),
    "removed": ("Missing", "red", ":material/remove:"),
}


def show(memory: Memory) -> None:
    """The table of kept contexts; the chosen one below it."""
    found = memory.contexts()
    if not found:
        _nothing()
        return
    st.caption(
        f"{format.counted(len(found), 'prompt')}, newest first. Choose one to see what was in it, "
        "and what it would have been otherwise."
    )
    shown = found[:_SHOWN]
    event = tables.show(
        [_row(one) for one in shown], key="contexts", on_select="rerun", selection_mode="single-row-required",
        height=min(9, len(shown) + 1) * _ROW, alt="Past prompts",
        columns={"when": tables.when(), "question": st.column_config.TextColumn("question", width=240)},
    )  # fmt: skip
    chosen = [number for number in event["selection"]["rows"] if number < len(shown)]
    _context(memory, shown[chosen[0] if chosen else 0])


def _nothing() -> None:
    days = settings().keep_contexts
    st.info(
        f"No model or agent was given anything in the last {days:,} days."
        if days
        else "Prompts are not kept. With `MEMEDEX_KEEP_CONTEXTS=30` those of the last 30 days are, as ids "
        "and versions.",
        icon=":material/replay:",
    )


def _row(one: KeptContext) -> dict[str, object]:
    return {
        "when": tables.moment(one.created_at),
        "question": one.question,
        "kind": KINDS[one.kind].label,
        "where": one.scope,
        "entries": len(one.hits),
        "for": one.agent or presenter.name(one.actor),
        "through": one.via,
    }


def _context(memory: Memory, kept: KeptContext) -> None:
    st.header(format.plain(kept.question, limit=200))
    what_if = _controls(kept)
    try:
        with st.spinner("Asking again …"):
            found = memory.replay(kept, what_if)
    except MemedexError as error:
        st.error("This could not be tried:", icon=":material/error:")
        st.text(str(error))
        return
    changed = sum(one.what != "same" for one in found)
    st.caption(format.counted(changed, "difference") + "." if changed else "It would have been the same.")
    _entries(memory, kept.kind, found)


def _controls(kept: KeptContext) -> WhatIf:
    """Another threshold, chunk size or model, and entries to leave out."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        threshold = st.number_input(
            "Threshold in percent", 0.0, 100.0, kept.threshold, key=f"threshold_{kept.id}", width=160,
            placeholder="as it was",
        )  # fmt: skip
        without = st.multiselect(
            "Without", [hit.id for hit in kept.hits], key=f"without_{kept.id}", width=240,
            placeholder="all entries",
        )  # fmt: skip
        model = st.text_input(
            "Embedding model", key=f"model_{kept.id}", persist_state="session", width=240,
            placeholder="as it is",
        )  # fmt: skip
        chunk = _chunk(kept) if kept.kind == "documents" else None
    return WhatIf(threshold=threshold, without=without, chunk=chunk, model=(model or "").strip())


def _chunk(kept: KeptContext) -> tuple[int, int] | None:
    size = st.number_input(
        "Chunk size", 50, 20_000, None, key=f"size_{kept.id}", width=130, placeholder=f"{CHUNK_LENGTH:,}"
    )
    overlap = st.number_input(
        "Overlap", 0, 19_999, None, key=f"overlap_{kept.id}", width=120, placeholder=f"{CHUNK_OVERLAP:,}"
    )
    if size is None and overlap is None:
        return None
    return int(size or CHUNK_LENGTH), int(CHUNK_OVERLAP if overlap is None else overlap)


def _entries(memory: Memory, kind: str, found: Sequence[ReplayedEntry]) -> None:
    rows = {row["id"]: row for row in memory.entries(kind).rows([one.id for one in found])}
    for one in found:
        place = place_of(kind, rows[one.id]) if one.id in rows else one.id
        label, colour, icon = _SIGNS[one.what]
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.badge(label, icon=icon, color=colour)  # type: ignore[arg-type]
                st.markdown(f"**{one.score:.3f}** {format.plain(place)}")
            st.text(one.text or "This version is no longer there.")
