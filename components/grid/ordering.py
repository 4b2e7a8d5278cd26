"""The order of a grid: by a column of the catalog, or by the pictures."""

from collections.abc import Mapping, Sequence
from typing import cast

import streamlit as st

from components.grid.actions import Handler
from components.grid.fields import label as field_label
from components.grid.page_number import turn_to
from components.shell import format
from components.shell.page import address
from store import Filter, Library, MemedexError, Record
from store.search import ORDERS, SAMPLES, Order

# The address holds what the control shows: hence words that make a link readable.
LIKE_ONE = "Like one coin"
SORTS: Mapping[str, str] = {
    "Newest": "newest",
    "Oldest": "oldest",
    "Name": "name",
    "Recently moved": "moved",
    "Most suspicious": "suspicious",
    "Most doubtful": "doubt",
    "Like what was approved": "approved",
    "Unlike the library": "unlike",
    LIKE_ONE: "like",
    "Random sample": "random",
    "Diverse sample": "diverse",
    "Typical sample": "typical",
    "Outliers": "outliers",
    "Balanced sample": "balanced",
}


def choose(key: str, library: Library) -> str:
    """Draw the control, with the numbers that came with coins; returns the order."""
    numbers = library.number_orders()
    sorts = {**SORTS, **{f"{field_label(field)}, highest": order for field, order in numbers.items()}}
    label = st.selectbox(
        "Order", list(sorts), key=f"{key}_sort", bind="query-params", width=170, label_visibility="collapsed"
    )
    if sorts[label] in ORDERS:
        st.button(
            "",
            key=f"{key}-order-again",
            icon=":material/refresh:",
            on_click=_forget,
            args=(key,),
            help="Order again, with the latest decisions",
        )
    return sorts[label]


def compared_with(key: str, sort: str) -> str:
    """Draw the field of the coin to compare with, if the order needs one, or of a sample's number."""
    if sort in SAMPLES:
        number = st.number_input(
            "Sample", 1, 1_000_000, 1, key=f"{key}_sample", bind="query-params", width=150,
            label_visibility="collapsed", help="Another number is another sample; the address has it",
        )  # fmt: skip
        return str(number)
    if sort != SORTS[LIKE_ONE]:
        return ""
    like = st.text_input(
        "Coin", **address.kept(f"{key}_like"), width=400,
        label_visibility="collapsed", placeholder="m on a coin, or address",
    )  # fmt: skip
    return (like or "").strip()


def resembling(key: str) -> Mapping[str, Handler]:
    """The handler that sorts by similarity to the coin under the cursor."""

    def handler(chosen: Sequence[str]) -> None:
        for coin in chosen[:1]:
            st.session_state[f"{key}_sort"] = LIKE_ONE
            # Through the address: a widget that was not there before takes its first value from it.
            st.session_state[f"{key}_like"] = st.query_params[f"{key}_like"] = coin
            turn_to(key, 1)

    return {"like": handler}


def page_of(
    key: str, library: Library, filter: Filter, *, sort: str, like: str, offset: int, limit: int
) -> list[Record]:
    """One page of the matching records in order; by age if the pictures cannot decide."""
    if sort not in (*ORDERS, *SAMPLES):
        return library.find(filter, sort=sort, offset=offset, limit=limit)
    try:
        found = _by_looks(key, library, filter, order=sort, like=like)
    except MemedexError as error:
        st.caption(f":orange[{format.plain(str(error), limit=200)}]")
        return library.find(filter, offset=offset, limit=limit)
    return library.records(found[offset : offset + limit])


def _by_looks(key: str, library: Library, filter: Filter, *, order: str, like: str) -> list[str]:
    """The order at the time of the request: a decision must not make other cards jump."""
    passing = library.addresses(filter)
    if order == "like" and not like:
        st.caption("Choose a coin and press **More like this**: what looks most like it comes first.")
        return passing
    question = (filter, order, like)
    kept = st.session_state.get(f"{key}.order")
    if kept is None or kept[0] != question:
        with st.spinner("Comparing pictures …"):
            found = (
                library.sampled(passing, order, seed=int(like))
                if order in SAMPLES
                else library.by_appearance(passing, cast(Order, order), like=like)
            )
        kept = (question, {address: place for place, address in enumerate(found.addresses)}, found.unseen)
        st.session_state[f"{key}.order"] = kept
    _, places, unseen = kept
    if unseen:
        pictures = format.counted(unseen, "picture")
        st.caption(f"{pictures} not compared yet; they come last until that is done.")
    last = len(places)
    return sorted(passing, key=lambda address: places.get(address, last))


def _forget(key: str) -> None:
    st.session_state.pop(f"{key}.order", None)
