"""The way of coins from review to the library, and how many went on in the last seven days."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape
from pathlib import Path

import streamlit as st

from components.shell import format
from components.shell.addresses import base_path
from components.shell.page import local_time, places, streamlit_style
from components.shell.server import pictures
from store import Filter, Library
from store.reading import audit
from store.records import TIERS, Tier
from store.settings import settings

_CSS = (Path(__file__).with_name("flow.css")).read_text("utf-8")
_PICTURES: dict[Tier, int] = {"pending": 8, "approved": 8, "library": 16, "trash": 8}  # as wide windows show
_CAME: dict[Tier, str] = {"approved": "approved", "library": "promoted", "trash": "rejected"}
PLACES: dict[Tier, places.Link] = {
    "pending": places.to("Review"),
    "approved": places.to("Approved"),
    "library": places.to("Library"),
    "trash": places.REJECTED,
}
DAYS = 7
_ORDER: tuple[Tier | None, ...] = (None, "pending", "approved", "library")  # the way of a coin, trash aside

Move = tuple[int, Tier | None, Tier | None, int]  # day since 1970, from and to a tier, number of coins


@dataclass(frozen=True, slots=True)
class Week:
    """How many coins went where: the change of each tier, and those that went on, without what was undone."""

    changes: dict[Tier, int]
    came: dict[Tier, int]


def show(library: Library) -> None:
    """Draw the tiers, and between them how many coins went on this week."""
    week = _week(library)
    tiles = "".join(_step(tier, week) + _tile(library, tier, week) for tier in PLACES)
    st.html(
        f"<style>{_CSS}</style>"
        f'<nav class="memedex-flow" aria-label="From review to the library">{tiles}</nav>'
    )


def _step(tier: Tier, week: Week) -> str:
    """The coins that came into this tier this week, on an arrow that leads there."""
    if tier not in _CAME:
        return ""
    number = f"<strong>{week.came[tier]:,}</strong>{_CAME[tier]}"
    return f'<div class="step {tier}" style="--tone:{_tone(tier)}">{number}</div>'


def _tile(library: Library, tier: Tier, week: Week) -> str:
    """A tier with its number of coins, the week's change, and its newest pictures."""
    change = week.changes.get(tier, 0)
    found = library.find(Filter(tier=tier), sort="moved", limit=_PICTURES[tier])
    shown = [pictures.address(library, record.image_hash) for record in found if record.image_hash]
    tone = _tone(tier)
    images = "".join(f'<img src="{escape(address)}" alt="" loading="lazy">' for address in shown)
    return (
        f'<a class="tile {tier} memedex-link" target="_self" style="--tone:{tone}"'
        f' href="{base_path()}/{escape(places.address(PLACES[tier]))}">'
        f'<span class="name">{format.TIERS[tier]}</span> <strong>{library.counts()[tier]:,}</strong>'
        f'<span class="change">{f"{change:+,} this week" if change else ""}</span>'
        f'<span class="pictures">{images}</span></a>'
    )


def _tone(tier: Tier) -> str:
    return streamlit_style.colour(f"{format.TIER_COLORS[tier]}Color")


def _week(library: Library) -> Week:
    """The last seven days in the reader's time zone, today included."""
    first = local_time.now().date() - timedelta(days=DAYS - 1)
    return _read(library, settings().root, library.generation, first, local_time.zone_name())


@st.cache_data(show_spinner=False, max_entries=4)
def _read(_library: Library, root: Path, generation: int, first: date, zone: str) -> Week:
    return summed(audit.moves_by_day(_library, since=local_time.midnight(first), zone=local_time.zone()))


def summed(moves: Iterable[Move]) -> Week:
    """The moves of a week, added up."""
    changes: dict[Tier, int] = {}
    came: dict[Tier, int] = dict.fromkeys(TIERS, 0)
    for _, gone, come, number in moves:
        if gone == come:
            continue
        for tier, change in ((gone, -number), (come, number)):
            if tier:
                changes[tier] = changes.get(tier, 0) + change
        step, sign = _entered(gone, come)
        if step:
            came[step] += sign * number
    return Week(changes, {tier: max(0, number) for tier, number in came.items()})


def _entered(gone: Tier | None, come: Tier | None) -> tuple[Tier | None, int]:
    """The tier that is entered for the first time, or, with -1, left backwards."""
    if come == "trash":
        return "trash", 1
    if gone == "trash":
        return "trash", -1
    if _ORDER.index(come) > _ORDER.index(gone):
        return come, 1
    return gone, -1
