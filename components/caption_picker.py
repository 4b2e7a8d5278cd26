"""Which record is on the desk: found by words, by a link, or by going to the next."""

import streamlit as st

from components import wording
from store.errors import MemedexError
from store.library import Library
from store.listing import Filter
from store.records import Record

SHOWN = 200  # a list that anybody would scroll; words narrow it
_DESKS = {
    "To caption": Filter(tier="approved", captioned=False),
    "Approved": Filter(tier="approved"),
    "Library": Filter(tier="library"),
}


def pick(library: Library) -> Record | None:
    """The chosen record; None where there is none to choose, which the page has said by then."""
    linked = _linked(library)
    first = _desk_of(linked) if linked else "To caption" if library.count(_DESKS["To caption"]) else "Library"
    st.session_state.setdefault("caption-desk", first)  # as `default` it would make another widget each time
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        desk = st.segmented_control(
            "Show", list(_DESKS), key="caption-desk", required=True, persist_state="session",
            on_change=_forget_link,
        )  # fmt: skip
        words = st.text_input(
            "Find", key="caption-words", placeholder="name, ticker or words", type="search", live=True,
            icon=":material/search:", width=260, persist_state="session", on_change=_forget_link,
        )  # fmt: skip
        found = _found(library, desk or first, words or "")
        chosen = linked or (found[0] if found else None)
        if chosen is None:
            _say_nothing_is_there(library, desk or first, words or "")
            return None
        _list(found, chosen, library.count(_filter(desk or first, words or "")))
    return chosen


def _linked(library: Library) -> Record | None:
    address = st.query_params.get("address")
    if not address:
        return None
    try:
        record = library.get(address)
    except MemedexError as error:
        st.warning("The link leads nowhere:", icon=":material/link_off:")
        st.text(str(error))
        return None
    if record.tier not in ("approved", "library"):
        st.warning("Only approved coins and those of the library are captioned.", icon=":material/info:")
        return None
    return record


def _desk_of(record: Record) -> str:
    if record.tier == "library":
        return "Library"
    return "Approved" if record.is_captioned else "To caption"


def _forget_link() -> None:
    """Another list begins with its own first coin."""
    st.query_params.pop("address", None)


def _filter(desk: str, words: str) -> Filter:
    base = _DESKS[desk]
    return Filter(tier=base.tier, captioned=base.captioned, words=words)


def _found(library: Library, desk: str, words: str) -> list[Record]:
    return library.find(_filter(desk, words), limit=SHOWN)


def _list(found: list[Record], chosen: Record, total: int) -> None:
    """The list itself, and the way to the neighbours."""
    records = {record.address: record for record in found} | {chosen.address: chosen}
    order = [record.address for record in found]
    place = order.index(chosen.address) if chosen.address in order else -1
    st.session_state["caption-pick"] = chosen.address
    st.selectbox(
        f"Coin · {total:,}" if total <= SHOWN else f"Coin · the newest {SHOWN} of {total:,}",
        list(records),
        key="caption-pick",
        format_func=lambda address: _label(records[address]),
        on_change=lambda: go(st.session_state["caption-pick"]),
        width="stretch",
    )
    for icon, step, meaning in (
        (":material/chevron_left:", -1, "Previous"),
        (":material/chevron_right:", 1, "Next"),
    ):
        neighbour = place + step
        there = place >= 0 and 0 <= neighbour < len(order)
        st.button(
            meaning,
            key=f"caption-{meaning}",
            icon=icon,
            icon_position="left" if step < 0 else "right",
            disabled=not there,
            on_click=go,
            args=(order[neighbour] if there else "",),
        )


def go(address: str) -> None:
    """Put this record on the desk."""
    st.query_params["address"] = address


def _label(record: Record) -> str:
    return f"{record.name} · {record.ticker}" if record.ticker else record.name


def _say_nothing_is_there(library: Library, desk: str, words: str) -> None:
    if words:
        st.info(f"Nothing under “{desk}” matches these words.", icon=":material/search_off:")
    elif desk == "To caption":
        st.success("Every approved coin is captioned.", icon=":material/check_circle:")
        st.page_link("pages/approved.py", label="Promote them", icon=":material/task_alt:")
    else:
        counts = library.counts()
        st.info(
            f"Nothing is {'approved' if desk == 'Approved' else 'in the library'} yet.",
            icon=":material/inbox:",
        )
        if counts["pending"]:
            waiting = wording.counted(counts["pending"], "coin")
            st.page_link("pages/pending.py", label=f"Review {waiting}", icon=":material/inbox:")
