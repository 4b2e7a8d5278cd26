"""Which entry the drawer shows: it is in the page's address, so that a link opens it."""

import streamlit as st

PARAM = "entry"


def open_entry(kind: str, id: str) -> None:
    """Show this entry in the drawer from the next run on."""
    st.query_params[PARAM] = f"{kind}:{id}"


def close_entry() -> None:
    """Take the entry out of the page's address."""
    st.query_params.pop(PARAM, None)


def open_button(kind: str, id: str, *, key: str, about: str = "Open this entry") -> None:
    """A small button that shows this entry in the drawer."""
    st.button(
        "",
        key=key,
        type="tertiary",
        icon=":material/open_in_full:",
        help=about,
        on_click=open_entry,
        args=(kind, id),
    )
