"""What every page has: title and icon, navigation, the state of the library, undo."""

import time
from collections.abc import Callable, Sequence

import streamlit as st

from components.shell import format, javascript
from components.shell.page import address, job_bar, live, local_time, palette, places, streamlit_style, tour
from components.shell.page import undo as shell_undo
from components.shell.page.undo import Reversal
from components.shell.session import login, presenter, resources, safe_mode, session
from store import RESOURCES, Filter, Library, __version__
from store.catalog import replication

BRAND = RESOURCES / "brand"
MARK = BRAND / "mark.svg"

ABOUT = f"**Memedex {__version__}** reviews, captions, searches and inspects a library of memecoins."
_REPLICA = "A copy of a library on another machine, as it was at this time. Decisions are made there."
_LOOK = "Everything can be looked at and searched here, nothing changed: that is how this page was opened."


def open_page(
    title: str,
    *,
    reversals: Callable[[Library], Sequence[Reversal]] = shell_undo.last_decision,
    is_grid: bool = False,
) -> Library:
    """Begin a page, as its first call: frame and header; returns the library, or says why not and stops.

    `reversals` is what can be taken back on this page. `is_grid`: the page is a grid, which has a row of
    tools and undo of its own; its header says only what is wrong.
    """
    st.set_page_config(
        page_title=f"{title} · Memedex",
        page_icon=MARK,
        layout="wide",
        initial_sidebar_state="collapsed" if presenter.is_on() else 232,
        menu_items={"About": ABOUT},
    )
    st.html(streamlit_style.BUTTONS + streamlit_style.PANEL)
    st.html(streamlit_style.GRID_PAGE if is_grid else streamlit_style.PAGE + streamlit_style.UNDO_MESSAGE)
    presenter.begin()
    st.logo(BRAND / "wordmark.svg", size="large", icon_image=MARK)
    if not login.may_see():
        login.ask_to_log_in()
        st.stop()
    address.tidy()
    library = resources.library()
    session.begin(library)
    st.html(streamlit_style.SIDEBAR)
    with st.sidebar:
        _navigation(library)
    with st.container(gap=None):  # without a job the bars take no room
        _header(title, library, is_grid=is_grid)
        shell_undo.show(library, title, [] if is_grid or not library.can_write else reversals(library))
        job_bar.watch(library, are_bars_drawn=title != "Activity")  # there they are shown in full
        tour.show(library, title)
    session.show_messages()
    return library


def _navigation(library: Library) -> None:
    """The places in their groups, each with the number of coins or jobs that wait there."""
    tiers = library.counts()
    counts = {
        "Review": tiers["pending"],
        "Approved": tiers["approved"],
        "Captions": library.count(Filter(tier="approved", captioned=False)),
        "Library": tiers["library"],
        "Activity": len(library.jobs.open()),
    }
    for number, group in enumerate(places.GROUPS):
        with st.container(key=f"places-{number}"):
            for place in group:
                count = counts.get(place.name, 0)
                label = f"{place.name} :gray[{count:,}]" if count else place.name
                st.page_link(place.script, label=label, width="stretch")
                if place.name == "Review":
                    with st.container(key="saved-views-rules"):  # it stands below its place as those do
                        st.page_link(**places.RULES, label="Rules", width="stretch")
                if place.name == "Library":
                    _saved_views(library)
    _keep_whole()
    login.account()
    with st.container(key="palette"):
        palette.show(library)


def _saved_views(library: Library) -> None:
    """The filters that were saved, each a link to the coins that match."""
    for name in library.filters.all():
        with st.container(key=f"saved-view-{name}"):
            label = format.plain(name, limit=40)
            st.page_link(**places.saved_view(name), label=label, width="stretch")


def _reading_only(library: Library) -> None:
    behind = replication.seconds_behind(library.catalog)
    if behind is None:
        st.badge("reading only", icon=":material/lock:", color="yellow", help=_LOOK)
    elif behind <= replication.LATE:
        seen = local_time.text(time.time() - behind, "%H:%M:%S")
        st.badge(f"replica, {seen}", icon=":material/sync:", color="yellow", help=_REPLICA)
    else:
        st.badge("replica, out of date", icon=":material/sync_problem:", color="red", help=_REPLICA)


def _header(title: str, library: Library, *, is_grid: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="memedex-header"):
        st.title(title, anchor=False, width="content")
        if title in places.PLACES:
            st.caption(places.PLACES[title].about, width="content")
        if not is_grid:
            st.space("stretch")
        switches = [] if is_grid else safe_mode.switches()  # a grid has them in its menu
        safe_mode.watch(drawn=switches if title == "Settings" else [one for one in switches if one["isOn"]])
        live.badges(library)
        if not library.can_write:
            _reading_only(library)


_back_button = javascript.mounted("back_button", script="shell/page/back_button.js")


def _keep_whole() -> None:
    """Keep what was asked and selected on this page in the browser's history; once on a page is enough."""
    _back_button(key="memedex-back-button")
