"""What every page has: title and icon, navigation, the state of the library, undo."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st

from components.shell import javascript
from components.shell.page import address, job_bar, live, local_time, streamlit_style, tour
from components.shell.page import undo as shell_undo
from components.shell.session import login, presenter, resources, safe_mode, session
from store import RESOURCES, Library, __version__
from store.catalog import replication
from store.records import Tier

BRAND = RESOURCES / "brand"
MARK = BRAND / "mark.svg"

ABOUT = f"**Memedex {__version__}** reviews, captions, searches and inspects a library of memecoins."
JOBS = "pages/jobs.py"

# Script, name, icon, and the tier whose count stands beside it. These icons are a font that Streamlit serves
# itself; as a page's own icon (`page_icon`) the same names would be fetched from outside.
Link = tuple[str, str, str, Tier | None]
FIRST: Link = ("overview.py", "Overview", ":material/space_dashboard:", None)
# By what one is here for.
PAGES: dict[str, tuple[Link, ...]] = {
    "Curate": (
        ("pages/pending.py", "Review", ":material/inbox:", "pending"),
        ("pages/approved.py", "Approved", ":material/task_alt:", "approved"),
        ("pages/captions.py", "Captions", ":material/edit_note:", None),
        ("pages/drafting.py", "AI drafts", ":material/neurology:", None),
        ("pages/rejected.py", "Rejected", ":material/delete:", "trash"),
    ),
    "Explore": (
        ("pages/library.py", "Library", ":material/photo_library:", None),
        ("pages/search.py", "Search", ":material/search:", "library"),
        ("pages/map.py", "Map", ":material/scatter_plot:", None),
        ("pages/insights.py", "Insights", ":material/insights:", None),
        ("pages/evaluation.py", "Evaluation", ":material/fact_check:", None),
        ("pages/generate.py", "Generate", ":material/auto_awesome:", None),
        ("pages/lore.py", "Lore & memory", ":material/auto_stories:", None),
    ),
    "Manage": (
        ("pages/exchange.py", "Import & export", ":material/swap_vert:", None),
        ("pages/tags.py", "Tags", ":material/label:", None),
        (JOBS, "Jobs", ":material/hourglass_top:", None),
        ("pages/history.py", "History", ":material/history:", None),
        ("pages/health.py", "System status", ":material/monitor_heart:", None),
    ),
}

# A page without an entry, and the script of the entry under which it belongs.
BELONGS_TO = {"Caption QA": "pages/captions.py"}

_REPLICA = "A copy of a library on another machine, as it was at this time. Decisions are made there."
_LOOK = "Everything can be looked at and searched here, nothing changed: that is how this page was opened."
_COPYCATS = "Copycats of these coins are still being looked for; badges appear as they are found."


def open_page(title: str, *, undo: Callable[[Library], None] = shell_undo.undo_button) -> Library:
    """Begin a page, as its first call: frame and header; returns the library, or says why not and stops.

    `undo` draws the header's undo button for this page.
    """
    st.set_page_config(
        page_title=f"{title} · Memedex",
        page_icon=MARK,
        layout="wide",
        initial_sidebar_state=232,
        menu_items={"About": ABOUT},
    )
    st.html(streamlit_style.BUTTONS)
    presenter.begin()
    st.logo(BRAND / "wordmark.svg", size="large", icon_image=MARK)
    if not login.may_see():
        login.ask_to_log_in()
        st.stop()
    address.tidy()
    library = resources.library()
    session.begin(library)
    if script := BELONGS_TO.get(title):
        st.html(streamlit_style.current_entry(Path(script).stem))
    with st.sidebar:
        _navigation(library)
    with st.container(gap=None):  # without a job the bars take no room
        _header(title, library, undo)
        job_bar.watch(library, are_bars_drawn=title != "Jobs")  # there they are shown in full
        tour.show(library, title)
    session.drop_old_links()
    session.show_messages()
    return library


def _navigation(library: Library) -> None:
    counts = dict[str, int](library.counts().items()) | {JOBS: len(library.jobs.open())}
    _link(FIRST, counts)
    for purpose, links in PAGES.items():
        st.caption(purpose)
        for link in links:
            _link(link, counts)
    _keep_whole()
    login.account()


def _reading_only(library: Library) -> None:
    behind = replication.seconds_behind(library.catalog)
    if behind is None:
        st.badge("reading only", icon=":material/lock:", color="yellow", help=_LOOK)
    elif behind <= replication.LATE:
        seen = local_time.text(time.time() - behind, "%H:%M:%S")
        st.badge(f"replica, {seen}", icon=":material/sync:", color="yellow", help=_REPLICA)
    else:
        st.badge("replica, out of date", icon=":material/sync_problem:", color="red", help=_REPLICA)


def _link(link: Link, counts: Mapping[str, int]) -> None:
    script, name, icon, tier = link
    count = counts.get(tier or script, 0)
    number = f" :gray-badge[{count:,}]" if count else ""
    st.page_link(script, label=f"{name}{number}", icon=icon, width="stretch")


def _header(title: str, library: Library, undo: Callable[[Library], None]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.title(title, anchor=False, width="content")
        if library.can_write:
            undo(library)  # on the left: a toast covers what stands on the right, and says what can be undone
        st.space("stretch")
        safe_mode.switches()
        live.badges(library)
        if title == "Review" and library.can_write and (left := library.duplicates.unexamined()):
            st.badge(f"{left:,} to compare", icon=":material/difference:", color="gray", help=_COPYCATS)
        if not library.can_write:
            _reading_only(library)


_back_button = st.components.v2.component(
    "memedex.back_button", js=javascript.component(Path(__file__).with_name("back_button.js"))
)


def _keep_whole() -> None:
    """Keep what was asked and selected on this page in the browser's history; once on a page is enough."""
    _back_button(key="memedex-back-button")
