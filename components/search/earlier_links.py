"""Old links with filters in `tags=`, `since=` and so on: they are moved into the line."""

from datetime import date, timedelta

import streamlit as st

from components.shell.query_pictures import LINE
from store.catalog.filter_syntax import edited, values
from store.catalog.filters import Filter
from store.library import Library
from store.records import CAPTION_FACETS, TIERS

_LENGTHS = {"over 100": ">99", "over 200": ">199", "over 400": ">399"}  # so many, or more
_NAMES = ("tags", "categories", "has", "since", "until", "length", "tier")


def take_controls(library: Library) -> None:
    """Convert an old link, once. Values that the library does not have are ignored."""
    given = {name: st.query_params.get_all(name) for name in _NAMES if name in st.query_params}
    if not given:
        return
    line = st.query_params.get(LINE) or st.session_state.get(LINE) or ""
    among = Filter(tier="library")
    for name, key, offered in (
        ("tags", "tag", library.tag_counts(among)),
        ("categories", "category", library.category_counts(among)),
        ("has", "has", CAPTION_FACETS),
    ):
        if chosen := [value for value in given.get(name, []) if value in offered]:
            line = edited(line, key, dict.fromkeys([*values(line, key, "question"), *chosen]), "question")
    for key, name, later in (("after", "since", 0), ("before", "until", 1)):
        if (day := _day("".join(given.get(name, [])[:1]))) is not None:
            moments = [*values(line, key, "question"), (day + timedelta(days=later)).isoformat()]
            line = edited(line, key, moments, "question")
    if (longer := _LENGTHS.get("".join(given.get("length", [])[:1]))) is not None:
        line = edited(line, "length", [*values(line, "length", "question"), longer], "question")
    tier = "".join(given.get("tier", [])[:1])
    if tier in TIERS and tier != "library" and not values(line, "tier", "question"):
        line = edited(line, "tier", [tier], "question")
    for name in given:
        st.query_params.pop(name)
    st.session_state[LINE] = line
    st.query_params[LINE] = line  # which is stronger than the session, and is copied as a link
    st.rerun()


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
