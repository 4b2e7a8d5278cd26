"""Among which coins is searched: the controls; the line can say the same and more."""

from datetime import UTC, date, datetime, time
from typing import Any

import streamlit as st

from components import wording
from store.filter import Filter
from store.library import Library
from store.records import CAPTION_FACETS, TIERS

_PUT = "search.put"  # controls set from elsewhere: what each showed, and what it is to show
_OPEN = "search.filter-open"  # whether the last run showed the controls
_LENGTHS = {"any length": None, "over 100": 100, "over 200": 200, "over 400": 400}


def choose(library: Library) -> tuple[Filter, bool]:
    """The filter, and whether copies of one coin are folded into one result."""
    everything = Filter(tier="library")
    drawer = st.popover("Filter", icon=":material/filter_alt:", key="search-filter", on_change="rerun")
    _insist(shown=bool(drawer.open))
    with drawer:
        tags = st.multiselect("Tags", list(library.tag_counts(everything)), key="tags", bind="query-params")
        categories = st.multiselect(
            "Categories", list(library.category_counts(everything)), key="categories", bind="query-params"
        )
        with st.container(horizontal=True, gap="small"):
            since = st.date_input("Created since", None, key="since", bind="query-params")
            until = st.date_input("Created until", None, key="until", bind="query-params")
        having = st.pills(
            "Facets that must be written",
            CAPTION_FACETS,
            selection_mode="multi",
            key="has",
            bind="query-params",
        )
        with st.container(horizontal=True, gap="small"):
            longer = st.selectbox("Caption, characters", list(_LENGTHS), key="length", bind="query-params")
            tier = st.selectbox(
                "Tier", TIERS, index=TIERS.index("library"), key="tier", bind="query-params",
                help="Outside the library coins have no vectors: they are found by their words.",
            )  # fmt: skip
        folded = st.toggle("Fold copies into one", key="fold", bind="query-params")
        st.caption(
            "In the line: `tag:dog -tag:nsfw category:animals after:2025-01 before:2025-02 has:visual "
            '-has:emotions length:>200 dup:yes tier:approved`, and `"exact words"`'
        )
    chosen = Filter(
        tier=tier if tier != "library" else None,  # the line may name another
        tags=tuple(tags),
        categories=tuple(categories),
        since=_second(since, time.min),
        until=_second(until, time.max),
        having=tuple(facet for facet in CAPTION_FACETS if facet in (having or ())),
        longer=_LENGTHS.get(longer or ""),
    )
    return chosen, bool(folded)


def put(**values: Any) -> None:
    """Set controls by their name in the address; call it before they are drawn."""
    held: dict[str, tuple[Any, Any]] = st.session_state.setdefault(_PUT, {})
    for name, value in values.items():
        before, _ = held.get(name, (st.session_state.get(name), None))
        held[name] = before, value
        st.session_state[name] = value


def clear() -> None:
    """Everything passes again, as far as the controls say; call it before they are drawn."""
    put(
        tags=[], categories=[], since=None, until=None, has=[], length=next(iter(_LENGTHS)), tier="library"
    )  # fmt: skip


def _insist(*, shown: bool) -> None:
    """A browser that does not show the controls takes no new values, and goes on saying the old ones."""
    held: dict[str, tuple[Any, Any]] = st.session_state.get(_PUT, {})
    if shown and st.session_state.get(_OPEN):
        held.clear()
    for name, (was, value) in held.items():
        if st.session_state.get(name) == was:
            st.session_state[name] = value
    st.session_state[_OPEN] = shown


def told(chosen: Filter) -> str:
    """The filter in words, as Markdown; "" for none."""
    parts = [wording.plain(label) for label in (*chosen.tags, *chosen.categories)]
    parts += [f"not {wording.plain(label)}" for label in (*chosen.without_tags, *chosen.without_categories)]
    parts += [f"with {facet}" for facet in chosen.having] + [f"without {facet}" for facet in chosen.lacking]
    for word, moment in (("since", chosen.since), ("until", chosen.until)):
        if moment is not None:
            parts.append(f"created {word} {datetime.fromtimestamp(moment, UTC):%Y-%m-%d}")
    if chosen.longer is not None:
        parts.append(f"captions of {chosen.longer:,} characters or more")
    if chosen.shorter is not None:
        parts.append(f"captions of {chosen.shorter:,} characters or fewer")
    if chosen.suspicious is not None:
        parts.append("suspected copies" if chosen.suspicious else "no suspected copies")
    if chosen.words:
        parts.append(wording.plain(chosen.words))
    return f"only {', '.join(parts)}" if parts else ""


def _second(day: object, of: time) -> int | None:
    return int(datetime.combine(day, of, UTC).timestamp()) if isinstance(day, date) else None
