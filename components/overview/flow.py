"""The way of coins from review to the library as one figure, whose tiles lead to their pages."""

from pathlib import Path
from typing import Any

import streamlit as st

from components.overview.week import Week
from components.shell import format, javascript
from components.shell.addresses import base_path
from components.shell.page import places
from components.shell.server import pictures
from components.shell.session import session
from store import Filter, Library
from store.records import Tier

_HERE = Path(__file__).resolve().parent
_component = st.components.v2.component(
    "memedex.flow",
    html='<nav class="memedex-flow" aria-label="From review to the library"></nav>',
    css=(_HERE / "flow.css").read_text("utf-8"),
    js=javascript.component(_HERE / "js" / "flow.js"),
)
_KEY = "overview-flow"
_PICTURES: dict[Tier, int] = {"pending": 8, "approved": 8, "library": 16, "trash": 8}  # as wide windows show
_CAME = {"approved": "approved", "library": "promoted", "trash": "rejected"}  # … this week
PAGES: dict[Tier, places.Link] = {
    "pending": places.to("Review"),
    "approved": places.to("Approved"),
    "library": places.to("Library"),
    "trash": places.REJECTED,
}


def show(library: Library, week: Week) -> None:
    """Draw it, and go to the page of a tile that was clicked."""
    _component(key=_KEY, data={"tiles": tiles(library, week)}, on_go_change=_nothing)
    chosen = session.sent(_KEY).get("go")
    if chosen in PAGES:
        st.switch_page(**PAGES[chosen])


def tiles(library: Library, week: Week) -> list[dict[str, Any]]:
    """Each tier: its number of coins and their share of all, the week's change, and its newest pictures."""
    counts = library.counts()
    total = max(1, sum(counts.values()))
    return [
        {
            "tier": tier,
            "label": format.TIERS[tier],
            "count": counts[tier],
            "change": f"{change:+,} this week" if (change := week.changes.get(tier, 0)) else "",
            "share": counts[tier] / total,
            "came": {"number": week.came[tier], "label": _CAME[tier]} if tier in _CAME else None,
            "pictures": _newest(library, tier),
            "href": f"{base_path()}/{places.address(link)}",
        }
        for tier, link in PAGES.items()
    ]


def _newest(library: Library, tier: Tier) -> list[str]:
    found = library.find(Filter(tier=tier), sort="moved", limit=_PICTURES[tier])
    return [pictures.address(library, record.image_hash) for record in found if record.image_hash]


def _nothing() -> None:
    """An empty listener, because Streamlit only reports values that have one."""
