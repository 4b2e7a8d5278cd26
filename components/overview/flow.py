"""The way of coins from review to the library, with a branch of rejected ones; tiers lead to their places."""

from html import escape
from pathlib import Path

import streamlit as st

from components.overview.week import Week
from components.shell import format
from components.shell.addresses import base_path
from components.shell.page import places, streamlit_style
from components.shell.server import pictures
from store import Filter, Library
from store.records import Tier

_CSS = (Path(__file__).with_name("flow.css")).read_text("utf-8")
_PICTURES: dict[Tier, int] = {"pending": 8, "approved": 8, "library": 16, "trash": 8}  # as wide windows show
_CAME: dict[Tier, str] = {"approved": "approved", "library": "promoted", "trash": "rejected"}
PLACES: dict[Tier, places.Link] = {
    "pending": places.to("Review"),
    "approved": places.to("Approved"),
    "library": places.to("Library"),
    "trash": places.REJECTED,
}


def show(library: Library, week: Week) -> None:
    """Draw the tiers, and between them how many coins went on this week."""
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
