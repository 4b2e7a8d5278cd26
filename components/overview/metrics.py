"""Figures of the library: how many where, how that came about, and what needs attention."""

import time
from pathlib import Path
from typing import Literal

import streamlit as st

from components.overview import model_choice
from components.review import promote
from components.shell import format, resources
from store.catalog.filters import Filter
from store.jobs import background_worker
from store.library import Library
from store.reading import audit
from store.records import Tier
from store.settings import settings

DAYS = 30
_HEIGHT = 170  # px; the same with and without a line
_DAY = 86_400
_CARDS: tuple[tuple[Tier, str, Literal["blue", "green", "gray"], str], ...] = (
    ("pending", "Review", "blue", "New coins, to be approved or rejected."),
    ("approved", "Approved", "blue", "Waiting for captions, or to be promoted."),
    ("library", "Library", "green", "Captioned, embedded, searchable."),
    ("trash", "Rejected", "gray", "Rejected or deleted; each can be restored."),
)
_SYSTEM_STATUS = ("System status", "pages/health.py", ":material/monitor_heart:")


def figures(library: Library) -> None:
    """A card for each tier: how many now, the change since a week ago, the last month as a line."""
    counts, today = library.counts(), int(time.time() // _DAY)
    moves = _moves(library, settings().root, library.generation, today)
    with st.grid(4, min_column_width=200):
        for tier, label, color, meaning in _CARDS:
            days = line(counts[tier], moves.get(tier, {}), today=today)
            change = days[-1] - days[-8]
            st.metric(
                label,
                f"{counts[tier]:,}",
                change or None,
                delta_color=color,
                border=True,
                height=_HEIGHT,
                help=f"{meaning} The line shows {DAYS} days, the change is that of the last week.",
                chart_data=days if any(day != days[0] for day in days) else None,
                chart_type="area",
            )


@st.cache_data(show_spinner=False, max_entries=4)
def _moves(_library: Library, root: Path, generation: int, today: int) -> dict[Tier, dict[int, int]]:
    """The moves of the days shown; cached until the library or the day changes."""
    return tier_moves(_library, since=(today - DAYS) * _DAY)


def tier_moves(library: Library, *, since: float) -> dict[Tier, dict[int, int]]:
    """For each tier, day (since 1970) → how many more entered than left, from the history."""
    moves: dict[Tier, dict[int, int]] = {}
    for day, gone, come, count in audit.by_day(library, since=since):
        for tier, change in ((gone, -count), (come, count)):
            if tier:
                days = moves.setdefault(tier, {})
                days[day] = days.get(day, 0) + change
    return moves


def line(now: int, moves: dict[int, int], *, today: int) -> list[int]:
    """How many were in a tier at the end of each of the last days, counted back from now."""
    days = [now]
    for day in range(today, today - DAYS, -1):
        days.append(days[-1] - moves.get(day, 0))
    return [max(0, count) for count in reversed(days)]


def attention(library: Library) -> None:
    """What to do next, each with a link; or that nothing is left to do."""
    rows = _needs(library)
    if not rows:
        st.success(
            "All done: every coin is reviewed, captioned and embedded.", icon=":material/check_circle:"
        )
        return
    for text, label, page, icon in rows:
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.markdown(text, width="stretch")
            st.page_link(page, label=label, icon=icon)


def _needs(library: Library) -> list[tuple[str, str, str, str]]:
    """For each thing to do: a sentence, the label of its link, the page, and the link's icon."""
    counts, status = library.counts(), resources.status(library)
    ready, promoted = promote.ready(library)
    bare = library.count(Filter(tier="approved", captioned=False, troubled=False))
    blocked = library.count(Filter(tier="approved", troubled=True))
    failing = ", ".join(one.worker for one in background_worker.faults())
    faults = (("A change is stuck:", status.stuck), ("Background work fails:", failing))
    todo = (
        (counts["pending"], "to review", "Review", "pages/pending.py", ":material/inbox:"),
        (bare, "to caption", "Caption", "pages/captions.py", ":material/edit_note:"),
        (blocked, "could not be promoted", "Show", "pages/approved.py", ":material/error:"),
        (ready, "ready to promote", "Promote", "pages/approved.py", ":material/task_alt:"),
        (promoted, "being promoted", "Follow", "pages/jobs.py", ":material/hourglass_top:"),
    )
    return [
        *(
            (f":red[{what}] {format.plain(fault, limit=200)}", *_SYSTEM_STATUS)
            for what, fault in faults
            if fault
        ),
        *(
            (f"**{format.counted(coins, 'coin')}** {what}", label, page, icon)
            for coins, what, label, page, icon in todo
            if coins
        ),
    ]


def model(library: Library) -> None:
    """The model that embeds; the page about health offers others."""
    st.subheader("Model", anchor=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(model_choice.sentence(library.model), width="stretch")
        st.page_link("pages/health.py", label="Change", icon=":material/tune:")
