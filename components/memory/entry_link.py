"""Which entry the drawer shows: it is in the page's address, so that a link opens it, and Back closes it."""

from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

PARAM = "entry"
_PAGE = "pages/memory.py"


def close_entry() -> None:
    """Take the entry out of the page's address."""
    st.query_params.pop(PARAM, None)


def show(kind: str, id: str, *, behind: Mapping[str, str] | None = None) -> None:
    """A link to this page with this entry in the drawer; `behind` are the parameters of another page's."""
    others = _others() if behind is None else behind
    st.page_link(
        _PAGE, label="Open", icon=":material/open_in_full:",
        query_params={**others, PARAM: f"{kind}:{id}"},
    )  # fmt: skip


def address(kind: str, id: str) -> str:
    """The same link for markup of our own, below this page."""
    return "?" + urlencode({**_others(), PARAM: f"{kind}:{id}"}, doseq=True)


def _others() -> dict[str, list[str]]:
    return {name: st.query_params.get_all(name) for name in st.query_params if name != PARAM}
