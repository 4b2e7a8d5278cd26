"""Choose the record to edit: by words, by a link, or by going to the next."""

from dataclasses import dataclass, replace

import streamlit as st

from components.grid.filters import Drawer, mended
from components.shell import format
from components.shell.session import presenter, safe_mode
from store import Filter, Library, MemedexError, Record
from store.catalog import filter_syntax

_PLACE = "caption-place"
SHOWN = 200  # a list that anybody would scroll; words narrow it
_WHERE = {"pending": "in Review", "trash": "rejected"}
_LISTS = {
    "To caption": Filter(tier="approved", captioned=False),
    "Approved": Filter(tier="approved"),
    "Library": Filter(tier="library"),
}


@dataclass(frozen=True, slots=True)
class PickedRecord:
    """A record, the addresses of its neighbours in the list, and the next one without a caption."""

    record: Record
    previous: str = ""
    following: str = ""
    bare: str = ""


def pick(library: Library) -> PickedRecord | None:
    """The chosen record and its neighbours; None, with a message, if there is none."""
    linked = linked_to(library)
    if (
        linked is None and "address" in st.query_params
    ):  # another coin instead would get the words meant for it
        st.button("Back to the list", icon=":material/arrow_forward:", on_click=_forget_link)
        return None
    first = _list_of(linked) if linked else "To caption" if library.count(_LISTS["To caption"]) else "Library"
    st.session_state.setdefault("caption-list", first)  # as `default` it would make another widget each time
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        chosen_list = st.segmented_control(
            "Show", list(_LISTS), key="caption-list", required=True, persist_state="session",
            on_change=_forget_link, label_visibility="collapsed",
        )  # fmt: skip
        words = st.text_input(
            "Find", key="caption-words", placeholder="words, tag:dog …", type="search", live=True,
            icon=":material/search:", width=190, persist_state="session", on_change=_forget_link,
            label_visibility="collapsed",
        )  # fmt: skip
        line = filter_syntax.parsed(
            presenter.revealed(words or ""), base=_LISTS[chosen_list or first], actor=library.actor_name
        )
        filter = line.filter
        Drawer("caption", "caption-words", changed=_forget_link).show(library, filter)
        mended([*line.faults, *line.hints])
        order = [] if line.faults else library.addresses(filter)  # without them, more than was meant
        chosen = linked or (library.get(order[0]) if order else None)
        if chosen is None:
            _say_nothing_is_there(library, chosen_list or first, words or "")
            return None
        go(chosen.address)  # it stays here when saving takes it off the list
        st.caption(format.counted(len(order), "coin"), width="content")
        uncaptioned = replace(filter, captioned=False)
        bare = set(order if filter == uncaptioned else library.addresses(uncaptioned))
        picked = browse(library, chosen, order, bare=bare)
        return picked if picked.bare else replace(picked, bare=_elsewhere(library, chosen))


def _elsewhere(library: Library, chosen: Record) -> str:
    """The address of a coin without a caption outside this list, if the list has no other."""
    return next((each for each in library.addresses(_LISTS["To caption"]) if each != chosen.address), "")


def browse(
    library: Library, chosen: Record, order: list[str], *, bare: set[str], title: str = ""
) -> PickedRecord:
    """Draw the list around the chosen record, and the buttons to its neighbours."""
    place = _place(chosen, order)
    start = max(0, min(place - SHOWN // 2, len(order) - SHOWN))
    shown = order[start : start + SHOWN]
    labels = {address: _label(library, library.get(address)) for address in {*shown, chosen.address}}
    st.session_state["caption-pick"] = chosen.address
    st.selectbox(
        f"{title} · {len(order):,}" if title else "Coin",
        list(labels),
        key="caption-pick",
        label_visibility="visible" if title else "collapsed",
        format_func=lambda address: labels[address],
        on_change=lambda: go(st.session_state["caption-pick"]),
        width="stretch",
    )
    is_there = place < len(order) and order[place] == chosen.address
    previous = order[place - 1] if place else ""
    following = next(iter(order[place + is_there : place + is_there + 1]), "")
    _turn("Previous", previous, icon=":material/chevron_left:", keys="Alt-↑")
    _turn("Next", following, icon=":material/chevron_right:", keys="Alt-↓")
    after = [*order[place + is_there :], *order[:place]]
    return PickedRecord(chosen, previous, following, next((each for each in after if each in bare), ""))


def go(address: str) -> None:
    """Open this record in the editor."""
    st.query_params["address"] = address


def _turn(meaning: str, way: str, *, icon: str, keys: str) -> None:
    st.button(
        meaning,
        key=f"caption-{meaning}",
        icon=icon,
        icon_position="right" if meaning == "Next" else "left",
        help=keys,
        disabled=not way,
        on_click=go,
        args=(way,),
    )


def _place(chosen: Record, order: list[str]) -> int:
    """The record's position in the list, or its former one if it was just captioned and has left it."""
    if chosen.address in order:
        st.session_state[_PLACE] = chosen.address, order.index(chosen.address)
    address, place = st.session_state.get(_PLACE, ("", 0))
    return min(place, len(order)) if address == chosen.address else 0


def linked_to(library: Library) -> Record | None:
    """The record in the page's address; if it cannot be edited the page says why."""
    address = st.query_params.get("address")
    if not address:
        return None
    try:
        record = library.get(address)
    except MemedexError as error:
        st.warning(
            f"This link opens no coin: {format.plain(str(error), limit=200)}.", icon=":material/link_off:"
        )
        return None
    if record.tier not in ("approved", "library"):
        st.warning("Only approved coins and those of the library are captioned.", icon=":material/info:")
        name = safe_mode.shown(library, record).name
        st.text(f"{name} is {_WHERE[record.tier]} now. What was typed about it is kept.")
        return None
    return record


def _list_of(record: Record) -> str:
    if record.tier == "library":
        return "Library"
    return "Approved" if record.is_captioned else "To caption"


def _forget_link() -> None:
    """Another list starts with its own first coin."""
    st.query_params.pop("address", None)


def _label(library: Library, record: Record) -> str:
    record = safe_mode.shown(library, record)
    return f"{record.name} · {record.ticker}" if record.ticker else record.name


def _say_nothing_is_there(library: Library, chosen_list: str, words: str) -> None:
    if words:
        st.info(f"Nothing under “{chosen_list}” matches these words.", icon=":material/search_off:")
    elif chosen_list == "To caption":
        st.success("Every approved coin is captioned.", icon=":material/check_circle:")
        st.page_link("pages/approved.py", label="Promote them", icon=":material/task_alt:")
    else:
        counts = library.counts()
        st.info(
            f"Nothing is {'approved' if chosen_list == 'Approved' else 'in the library'} yet.",
            icon=":material/inbox:",
        )
        if counts["pending"]:
            waiting = format.counted(counts["pending"], "coin")
            st.page_link("pages/review.py", label=f"Review {waiting}", icon=":material/inbox:")
