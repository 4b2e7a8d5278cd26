"""Which entry the drawer shows: it is in the page's address, so that a link opens it, and Back closes it."""

import streamlit as st

PARAM = "entry"
_PAGE = "pages/memory.py"


def close_entry() -> None:
    """Take the entry out of the page's address."""
    st.query_params.pop(PARAM, None)


def show(kind: str, id: str, *, label: str = "Open", about: str = "") -> None:
    """A link to this page, as it is, with this entry in the drawer."""
    st.page_link(
        _PAGE,
        label=label,
        icon=":material/open_in_full:",
        help=about or None,
        query_params={**_others(), PARAM: f"{kind}:{id}"},
    )


def _others() -> dict[str, list[str]]:
    return {name: st.query_params.get_all(name) for name in st.query_params if name != PARAM}
