"""Parameters of a page's address for its controls."""

import math
from typing import Literal, TypedDict
from urllib.parse import quote

import streamlit as st

_IS_READ = "memedex.address"
_UNBOUND = "memedex.unbound."  # and the key of a field whose text was too long for the address
_LONGEST = 4_000  # characters of a text as an address has it; servers refuse addresses of some kilobytes


class Kept(TypedDict):
    """What keeps the text of a field while the field is not drawn, as on another page."""

    key: str
    bind: Literal["query-params"] | None
    persist_state: Literal["session"]  # a text that is not in the address is kept by the server


def kept(key: str) -> Kept:
    """Keep the text of the field of this key: in the address, if it has room there."""
    return {"key": key, "bind": binding(key), "persist_state": "session"}


def binding(key: str) -> Literal["query-params"] | None:
    """How the text field of this key is bound: to the address, as long as its text has room there."""
    text, unbound = str(st.session_state.get(key) or ""), f"{_UNBOUND}{key}"
    is_link = unbound in st.session_state and key in st.query_params  # its own text is not in the address
    if len(quote(text)) > _LONGEST and not is_link:
        st.session_state[unbound] = True
        return None
    if st.session_state.pop(unbound, False) and text and not is_link:
        st.query_params[key] = text  # what a field without a binding says is not in the address by itself
    return "query-params"


def tidy() -> None:
    """Once for each visit: remove values that Streamlit's controls reject.

    These are an empty value and an infinite number; controls ignore other unknown values themselves.
    """
    if _IS_READ in st.session_state:
        return
    st.session_state[_IS_READ] = True
    nonsense = [name for name in st.query_params if any(map(_is_nonsense, st.query_params.get_all(name)))]
    for name in nonsense:
        del st.query_params[name]
    if nonsense:
        st.rerun()


def _is_nonsense(value: str) -> bool:
    try:
        return not value or math.isinf(float(value))
    except ValueError:
        return False
