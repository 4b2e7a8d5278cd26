"""The views of a page as links, so that each has an address and Back leads to the one before."""

from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import urlencode

import streamlit as st

from components.shell.page import streamlit_style
from components.shell.session import presenter

VIEW = "view"  # the parameter; no control may be bound to it: Streamlit drops what another page has bound


def choose(
    views: Sequence[str],
    *,
    parameter: str = VIEW,
    counts: Mapping[str, int] | None = None,
    label: str = "Views",
) -> str:
    """Draw the links and return the view in the page's address, which is the first if it names none."""
    chosen = shown(views, parameter=parameter)
    if presenter.is_on():
        counts = None
    links = []
    for view in views:
        count = f" <small>{counts[view]:,}</small>" if counts and view in counts else ""
        current = ' aria-current="page"' if view == chosen else ""
        address = escape(_address(parameter, view, usual=views[0]))
        link = f'class="memedex-link" target="_self" href="{address}"{current}'
        links.append(f"<a {link}>{escape(view)}{count}</a>")
    drawn = f'<nav class="memedex-views" aria-label="{escape(label)}">{"".join(links)}</nav>'
    st.html(f"{streamlit_style.VIEWS}{drawn}")
    return chosen


def shown(views: Sequence[str], *, parameter: str = VIEW) -> str:
    """The view in the page's address; the first if it names none of these."""
    asked = st.query_params.get(parameter)
    return asked if asked is not None and asked in views else views[0]


def turn_to(view: str, *, parameter: str = VIEW) -> None:
    """Show this view on the next run."""
    st.query_params[parameter] = view


def _address(parameter: str, view: str, *, usual: str) -> str:
    """This page with another view; the other parameters stay."""
    others = [
        (name, one)
        for name in st.query_params
        if name not in (parameter, "coin")  # a panel that was open
        for one in st.query_params.get_all(name)
    ]
    return "?" + urlencode([*([(parameter, view)] if view != usual else []), *others])
