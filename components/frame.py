"""What every page has: its title and icon, the way to the other pages, the state of the library, undo."""

import itertools
from pathlib import Path

import streamlit as st

from components import access, decisions, jobs, resources, state, wording
from store.library import Library
from store.records import Tier

MARK = Path(__file__).resolve().parent.parent / "res" / "brand" / "mark.svg"

# Script, name, icon, and the tier whose count stands beside it. These icons are a font that Streamlit serves itself;
# as a page's own icon (`page_icon`) the same names would be fetched from outside.
PAGES: tuple[tuple[str, str, str, Tier | None], ...] = (
    ("overview.py", "Overview", ":material/space_dashboard:", None),
    ("pages/pending.py", "Pending", ":material/inbox:", "pending"),
    ("pages/approved.py", "Approved", ":material/task_alt:", "approved"),
    ("pages/captions.py", "Captions", ":material/edit_note:", None),
    ("pages/search.py", "Search", ":material/search:", "library"),
    ("pages/lore.py", "Lore & memory", ":material/auto_stories:", None),
    ("pages/health.py", "Health", ":material/monitor_heart:", None),
)


def open_page(title: str) -> Library:
    """Begin a page, its first call: frame, navigation and header; gives the library, or says why not and ends."""
    st.set_page_config(
        page_title=f"{title} · Memedex",
        page_icon=MARK,
        layout="wide",
        initial_sidebar_state=232,
        menu_items={"About": "**Memedex** reviews, captions, searches and inspects a library of memecoins."},
    )
    st.logo(MARK, size="large", link=None)
    resources.settle_memory()
    if not access.may_see():
        access.ask_to_log_in()
        st.stop()
    library = resources.library()
    with st.sidebar:
        _navigation(library)
    _header(title, library)
    jobs.watch(resources.jobs())
    state.show_what_was_said()
    return library


def _navigation(library: Library) -> None:
    counts = library.counts()
    for script, name, icon, tier in PAGES:
        number = f" :gray-badge[{counts[tier]:,}]" if tier and counts[tier] else ""
        st.page_link(script, label=f"{name}{number}", icon=icon, width="stretch")


def _header(title: str, library: Library) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.title(title, anchor=False, width="stretch")
        _show_state(library)
        if resources.is_read_only():
            st.badge("reading only", icon=":material/lock:", color="yellow")
        else:
            decisions.undo_button(library)


def _show_state(library: Library) -> None:
    """Model and search index at a glance; asked again every second until both are at rest."""
    unrest = not _is_at_rest(library)
    runs = itertools.count()

    def line() -> None:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
            _state_badges(library)
        if unrest and next(runs):  # not the first time: once the browser asks again, the page is up
            resources.warm(library)
            if _is_at_rest(library):
                st.rerun()

    st.fragment(line, run_every=1.0 if unrest else None)()


def _is_at_rest(library: Library) -> bool:
    status = library.status()
    return status.embedder_status in ("ready", "not available") and not status.chroma


def _state_badges(library: Library) -> None:
    status = library.status()
    model = wording.plain(status.model, limit=40)
    ready = status.embedder_status == "ready"
    st.badge(
        model if ready else f"{model} · {wording.plain(status.embedder_status)}",
        icon=":material/neurology:",
        color="gray" if ready else "yellow",
        help="The model that turns texts and pictures into vectors.",
    )
    if status.chroma:
        st.badge(
            "Chroma behind",
            icon=":material/sync:",
            color="yellow",
            help=wording.plain(status.chroma, limit=300),
        )
    if status.stuck:
        st.badge("stuck", icon=":material/error:", color="red", help=wording.plain(status.stuck, limit=300))
