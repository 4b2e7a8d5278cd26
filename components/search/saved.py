"""Searches and weights saved under a name for everybody; a search has a link and shows what is new."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import urlencode

import streamlit as st

from components.grid import result_link
from components.shell import format, query_pictures, resources, session
from components.shell.query_pictures import LINE
from store.catalog.filters import Filter
from store.catalog.named_values import NamedValues
from store.errors import MemedexError
from store.library import Library
from store.records import FACETS, Facet
from store.search.query import Query
from store.search.query_syntax import Question, read, written
from store.search.saved_searches import SavedSearch

T = TypeVar("T")

_TOP = 60  # hits of a saved search among which new ones are counted
_LINK = "search"  # in the address: the name of a saved search
_NOW = "search.now"  # how the page ranks now, for saving
_OPENED = "search.opened"  # the saved search that set the sliders, until one moves


def take_link(library: Library) -> None:
    """Open the search in the page's address, once; from then on the line itself is there."""
    name = st.query_params.pop(_LINK, None)
    if name is None:
        return
    search = library.searches.all().get(name)
    if search is None:
        session.queue_message(
            f"There is no saved search {format.plain(name, limit=60)}.", icon=":material/error:"
        )
        session.show_messages()
        return
    _open(library, name, search)
    # What a link says is stronger than the session, and what only the session has is in no link: reset it.
    st.query_params.from_dict({LINE: search.line, **result_link.kept(search)})
    st.rerun()


def menu(library: Library, question: Question) -> None:
    """The saved searches, each a button; saving this one, and these weights."""
    saved = library.searches.all()
    news = _news(library, saved)
    label = f"Saved :blue-badge[{sum(news.values())}]" if any(news.values()) else "Saved"
    with st.popover(label, icon=":material/bookmark:"):
        if not saved and not library.can_write:
            st.caption("No saved searches yet.")
        with st.container():  # however many: what stands below keeps its place
            for name, search in saved.items():
                with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                    new = f" :blue-badge[{news[name]} new]" if news.get(name) else ""
                    st.button(
                        f"{format.plain(name, limit=60)}{new}", key=f"saved-{name}", type="tertiary",
                        help=format.plain(search.line, limit=200), width="stretch",
                        on_click=_open, args=(library, name, search),
                    )  # fmt: skip
                    st.caption(f"[link](?{urlencode({_LINK: name})})", width="content")
                    _forget(library.searches.delete, name, key=f"forget-{name}", can_write=library.can_write)
        if not library.can_write:
            return
        if not question.filter_faults and (question.terms or not question.filter.is_open):
            with st.form("save-search", border=False, clear_on_submit=True):
                given = st.text_input("Save this search as", max_chars=60)
                if st.form_submit_button("Save search"):
                    _keep(library.searches, given, _this_search(library, question))
                    st.rerun()
        with st.container():
            for name in library.presets.all():
                with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                    st.markdown(f"Weights: {format.plain(name, limit=60)}", width="stretch")
                    _forget(library.presets.delete, name, key=f"forget-weights-{name}", can_write=True)
        if now := st.session_state.get(_NOW):
            with st.form("save-preset", border=False, clear_on_submit=True):
                given = st.text_input("Save these weights as", max_chars=60)
                st.caption(" · ".join(f"{facet} {now.weights[facet]:g}" for facet in FACETS))
                if st.form_submit_button("Save weights"):
                    _keep(library.presets, given, now.weights)
                    st.rerun()


def opened(told: object) -> SavedSearch | None:
    """The saved search that set the sliders, until they are moved, when `told` changes."""
    before, search = st.session_state.get(_OPENED, (None, None))
    if before is _JUST:
        st.session_state[_OPENED] = told, search
    return search if before in (_JUST, told) else None


def set_ranking(
    weights: Mapping[Facet, float], *, calibrated: bool, fused: bool, folded: bool, shown: int
) -> None:
    """Remember how the page ranks now, for saving."""
    st.session_state[_NOW] = SavedSearch("", dict(weights), {}, calibrated, folded, shown, fused)


_JUST = object()


def _open(library: Library, name: str, search: SavedSearch) -> None:
    st.session_state[LINE] = search.line
    if search.weights:
        weights = {facet: search.weights.get(facet, 0.0) for facet in FACETS}
        st.session_state[_OPENED] = _JUST, replace(search, weights=weights)
    st.session_state["fold"] = search.folded
    result_link.resize(search.shown)
    if library.can_write:
        _save(lambda: library.searches.mark_seen(name))


def _this_search(library: Library, question: Question) -> SavedSearch:
    """The line and the controls beside it as one line, with the ranking."""
    ranked = st.session_state.get(_NOW) if question.terms else None
    return replace(
        ranked or SavedSearch(""), line=written(question), looked={library.actor_name: time.time()}
    )


def _forget(forget: Callable[[str], None], name: str, *, key: str, can_write: bool) -> None:
    if can_write:
        st.button("Remove", key=key, type="tertiary", on_click=_save, args=(lambda: forget(name),))


def _keep(values: NamedValues[T], name: str | None, thing: T) -> None:
    """Save under an unused name, so that nobody's is overwritten by accident."""
    name = " ".join((name or "").split())
    taken = next((one for one in values.all() if one.casefold() == name.casefold()), None)
    if taken is None:
        _save(lambda: values.save(name, thing))
    elif values.all()[taken] != thing:
        said = f"“{format.plain(taken, limit=60)}” is taken: remove it first, or choose another name."
        session.queue_message(said, icon=":material/error:")
    else:
        session.queue_message(f"Already saved as “{format.plain(taken, limit=60)}”.", icon=":material/check:")


def _save(verb: Callable[[], None]) -> None:
    try:
        verb()
    except MemedexError as error:
        session.queue_message(format.plain(str(error), limit=200), icon=":material/error:")


def _news(library: Library, saved: Mapping[str, SavedSearch]) -> dict[str, int]:
    """How many relevant hits of each search are new since this person last looked."""
    if not saved or resources.status(library).model_status != "ready":
        return {}
    before: dict[Any, int] = st.session_state.get("search.news", {})
    now, news = {}, {}
    for name, search in saved.items():
        since = search.looked.get(library.actor_name)
        if since is None:
            continue
        key = (
            name,
            since,
            library.generation,
            library.derived,
        )  # not the line: another search may weigh it otherwise
        now[key] = news[name] = before[key] if key in before else _new(library, search, since)
    st.session_state["search.news"] = now
    return news


def _new(library: Library, search: SavedSearch, since: float) -> int:
    question = read(search.line, base=Filter(tier="library"), actor=library.actor_name)
    parts, faults = query_pictures.parts_of(library, question)
    if faults or read(search.line).filter.tier not in (None, "library"):
        return 0
    if not parts:
        return library.came_since(library.addresses(question.filter), since)
    try:
        calibrated = search.calibrated and library.calibration.in_force() is not None
        query = Query(
            parts,
            search.weights,
            top=_TOP,
            filter=question.filter,
            calibrated=calibrated,
            fused=search.fused,
        )
        found = library.search(query)
    except MemedexError:
        return 0
    return library.came_since([hit.address for hit in found.hits], since)
