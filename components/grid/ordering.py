"""The order of a grid: by a column of the catalog, or by what the pictures look like."""

from collections.abc import Mapping
from typing import cast

import streamlit as st

from components import wording
from components.grid.ledger import Entry, Handler
from store.errors import MemedexError
from store.filter import Filter
from store.library import Library
from store.looks import ORDERS, Order
from store.records import Record

# The address holds what the control shows: hence words that make a link readable.
LIKE_ONE = "Like one coin"
SORTS: Mapping[str, str] = {
    "Newest": "newest",
    "Oldest": "oldest",
    "Name": "name",
    "Moved": "moved",
    "Most suspicious": "suspicious",
    "Like what was approved": "approved",
    "Unlike the library": "unlike",
    LIKE_ONE: "like",
}


def choose(key: str) -> tuple[str, str]:
    """Draw the control; gives the order and, for the one that needs it, the coin it goes by."""
    label = st.selectbox(
        "Order", list(SORTS), key=f"{key}_sort", bind="query-params", width=180, label_visibility="collapsed"
    )
    like = ""
    if label == LIKE_ONE:
        like = st.text_input(
            "Coin", key=f"{key}_like", bind="query-params", width=140, label_visibility="collapsed",
            placeholder="m on a coin, or address",
        ) or ""  # fmt: skip
    if SORTS[label] in ORDERS:
        st.button(
            "", key=f"{key}-order-again", icon=":material/refresh:", on_click=_forget, args=(key,),
            help="Order anew by what was decided since",
        )  # fmt: skip
    return SORTS[label], like.strip()


def resembling(key: str) -> Mapping[str, Handler]:
    """The handler that puts first what looks like the coin under the cursor."""

    def handler(entry: Entry) -> None:
        if entry.addresses:
            st.session_state[f"{key}_sort"] = LIKE_ONE
            # Through the address: a widget that was not there before takes its first value from it.
            st.session_state[f"{key}_like"] = st.query_params[f"{key}_like"] = entry.addresses[0]
            to_first_page(key)

    return {"like": handler}


def to_first_page(key: str) -> None:
    """Begin at the first page of what is asked from now on."""
    if st.session_state.get(f"{key}_page", 1) != 1:
        st.session_state[f"{key}_page"] = 1


def page_of(
    key: str, library: Library, asked: Filter, *, sort: str, like: str, offset: int, limit: int
) -> list[Record]:
    """These records of all that pass, in order; where the pictures cannot say one, the newest first."""
    if sort not in ORDERS:
        return library.find(asked, sort=sort, offset=offset, limit=limit)
    try:
        found = _by_looks(key, library, asked, order=cast(Order, sort), like=like)
    except MemedexError as error:
        st.caption(f":orange[{wording.plain(str(error), limit=200)}]")
        return library.find(asked, offset=offset, limit=limit)
    return library.records(found[offset : offset + limit])


def _by_looks(key: str, library: Library, asked: Filter, *, order: Order, like: str) -> list[str]:
    """In the order of when it was asked for: no card must jump because the one before it was decided."""
    passing = library.addresses(asked)
    if order == "like" and not like:
        st.caption("Put the cursor on a coin and press **m**: what looks most like it comes first.")
        return passing
    question = (asked, order, like)
    kept = st.session_state.get(f"{key}.order")
    if kept is None or kept[0] != question:
        with st.spinner("Comparing pictures …"):
            found = library.by_looks(passing, order, like=like)
        kept = (question, {address: place for place, address in enumerate(found.addresses)}, found.unseen)
        st.session_state[f"{key}.order"] = kept
    _, places, unseen = kept
    if unseen:
        pictures = wording.counted(unseen, "picture")
        st.caption(f"{pictures} not looked at yet, at the end for now; that goes on in the background.")
    last = len(places)
    return sorted(passing, key=lambda address: places.get(address, last))


def _forget(key: str) -> None:
    st.session_state.pop(f"{key}.order", None)
