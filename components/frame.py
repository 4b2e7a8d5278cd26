"""What every page has: its title and icon, the way to the other pages, the state of the library, undo."""

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st

from components import access, back_button, decisions, jobs, live, resources, state, wording
from store.library import Library
from store.records import Tier

BRAND = Path(__file__).resolve().parent.parent / "res" / "brand"
MARK = BRAND / "mark.svg"

JOBS = "pages/jobs.py"

# Script, name, icon, and the tier whose count stands beside it. These icons are a font that Streamlit serves
# itself; as a page's own icon (`page_icon`) the same names would be fetched from outside.
Link = tuple[str, str, str, Tier | None]
FIRST: Link = ("overview.py", "Overview", ":material/space_dashboard:", None)
# By what one is here for.
PAGES: dict[str, tuple[Link, ...]] = {
    "Work": (
        ("pages/pending.py", "Pending", ":material/inbox:", "pending"),
        ("pages/approved.py", "Approved", ":material/task_alt:", "approved"),
        ("pages/captions.py", "Captions", ":material/edit_note:", None),
        ("pages/drafting.py", "Drafting", ":material/neurology:", None),
    ),
    "Look": (
        ("pages/search.py", "Search", ":material/search:", "library"),
        ("pages/map.py", "Map", ":material/scatter_plot:", None),
        ("pages/evaluation.py", "Evaluation", ":material/fact_check:", None),
        ("pages/generate.py", "To the model", ":material/auto_awesome:", None),
        ("pages/lore.py", "Lore & memory", ":material/auto_stories:", None),
    ),
    "Keep": (
        ("pages/exchange.py", "In and out", ":material/swap_vert:", None),
        ("pages/tags.py", "Tags", ":material/label:", None),
        (JOBS, "Jobs", ":material/hourglass_top:", None),
        ("pages/history.py", "History", ":material/history:", None),
        ("pages/health.py", "Health", ":material/monitor_heart:", None),
    ),
}

_MODEL = "The model that turns texts and pictures into vectors loads in the background."
_LOOK = "Everything can be looked at and searched here, nothing changed: that is how this page was opened."
_COPYCATS = "Copycats of these coins are still being looked for; badges appear as they are found."
_CHROMA = "Chroma follows in the background; lists and searches here do not wait for it."


def open_page(title: str, *, undo: Callable[[Library], None] = decisions.undo_button) -> Library:
    """Begin a page, its first call: frame and header; gives the library, or says why not and ends.

    `undo` draws the header's way to take back what is decided on this page.
    """
    st.set_page_config(
        page_title=f"{title} · Memedex",
        page_icon=MARK,
        layout="wide",
        initial_sidebar_state=232,
        menu_items={"About": "**Memedex** reviews, captions, searches and inspects a library of memecoins."},
    )
    st.logo(BRAND / "wordmark.svg", size="large", icon_image=MARK)
    resources.settle_memory()
    if not access.may_see():
        access.ask_to_log_in()
        st.stop()
    library = resources.library()
    with st.sidebar:
        _navigation(library)
    _header(title, library, undo)
    if title != "Jobs":  # there they are shown in full
        jobs.watch(library.jobs, can_stop=library.can_write)
    state.arrive(title)
    state.show_what_was_said()
    return library


def _navigation(library: Library) -> None:
    counts = {**library.counts(), JOBS: len(library.jobs.open())}
    _link(FIRST, counts)
    for purpose, links in PAGES.items():
        st.caption(purpose)
        for link in links:
            _link(link, counts)
    back_button.keep_whole()
    access.account()


def _link(link: Link, counts: Mapping[str, int]) -> None:
    script, name, icon, tier = link
    count = counts.get(tier or script, 0)
    number = f" :gray-badge[{count:,}]" if count else ""
    st.page_link(script, label=f"{name}{number}", icon=icon, width="stretch")


def _header(title: str, library: Library, undo: Callable[[Library], None]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.title(title, anchor=False, width="stretch")
        _show_state(library)
        if title == "Pending" and library.can_write and (left := library.duplicates.unexamined()):
            st.badge(f"{left:,} to compare", icon=":material/difference:", color="gray", help=_COPYCATS)
        if not library.can_write:
            st.badge("reading only", icon=":material/lock:", color="yellow", help=_LOOK)
        else:
            undo(library)


def _show_state(library: Library) -> None:
    """Model and search index at a glance; asked again every second until both are at rest."""
    unrest = not _is_at_rest(library)
    runs = itertools.count()
    catch_up = live.catching_up()

    def line() -> None:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
            _state_badges(library)
        if unrest and next(runs):  # not the first time: once the browser asks again, the page is up
            resources.warm(library)
        catch_up(unrest and _is_at_rest(library))

    with st.container(width="content"):
        st.fragment(line, run_every=1.0 if unrest else None)()


def _is_at_rest(library: Library) -> bool:
    status = resources.status(library)
    model = status.model_status == "ready" or status.model_status.startswith("unavailable")
    return model and (not status.chroma_behind or bool(status.chroma_fault))


def _state_badges(library: Library) -> None:
    status = resources.status(library)
    model, how = wording.plain(status.model, limit=40), wording.plain(status.model_status, limit=120)
    if status.model_status.startswith("unavailable"):
        st.badge(f"{model} unavailable", icon=":material/neurology:", color="red", help=how)
    elif status.model_status == "ready":
        st.badge(model, icon=":material/neurology:", color="gray", help="The embedding model is ready.")
    else:
        st.badge(f"{model} · {how}", icon=":material/neurology:", color="yellow", help=_MODEL)
    if status.chroma_fault:
        why = wording.plain(status.chroma_fault, limit=300)
        st.badge("Chroma behind", icon=":material/sync_problem:", color="red", help=why)
    elif status.chroma_behind:
        st.badge(
            f"Chroma {status.chroma_behind:,} behind", icon=":material/sync:", color="yellow", help=_CHROMA
        )
    else:
        st.badge("Chroma in step", icon=":material/check:", color="gray", help=_CHROMA)
    if status.stuck:
        st.badge("stuck", icon=":material/error:", color="red", help=wording.plain(status.stuck, limit=300))
