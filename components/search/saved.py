"""Searches and weights saved under a name for everybody; a search has a link and shows what is new."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

import streamlit as st

from components.grid import result_link
from components.shell import format
from components.shell.page import forms, query_pictures
from components.shell.page.forms import Button, Field
from components.shell.page.query_pictures import LINE
from components.shell.session import presenter, resources, session
from store import Filter, Library, MemedexError, Query, SavedSearch
from store.catalog import named_values
from store.errors import InvalidRecord
from store.evaluation import marks
from store.records import FACETS, Facet
from store.search import Question, query_syntax

T = TypeVar("T")

_TOP = 60  # hits of a saved search among which new ones are counted
_LINK = "search"  # in the address: the name of a saved search
_RANKING = "search.ranking"  # how the page ranks now, for saving
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
    st.query_params.from_dict(
        {LINE: presenter.concealed(search.line, "question"), **result_link.kept(search)}
    )
    st.rerun()


def menu(library: Library, question: Question) -> None:
    """The saved searches, each a button; saving this one, and these weights."""
    saved = library.searches.all()
    news = _news(library, saved)
    label = f"Saved :blue-badge[{sum(news.values())}]" if any(news.values()) else "Saved"
    with st.popover(label, icon=":material/bookmark:"):
        if not saved and not library.can_write:
            st.caption("No saved searches yet.")
        with st.container():  # however many: what is below keeps its place
            for name, search in saved.items():
                with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                    new = f" :blue-badge[{news[name]} new]" if news.get(name) else ""
                    st.button(
                        f"{format.plain(name, limit=60)}{new}", key=f"saved-{name}", type="tertiary",
                        help=format.plain(presenter.concealed(search.line, "question"), limit=200),
                        width="stretch", on_click=_open, args=(library, name, search),
                    )  # fmt: skip
                    st.caption(f"[link](?{urlencode({_LINK: name})})", width="content")
                    if library.can_write:
                        _forget(library, library.searches, name, key=f"forget-{name}")
        if not library.can_write:
            return
        if not question.filter_faults and (question.terms or not question.filter.is_open):
            forms.show(
                "save-search", library, partial(_keep_search, library, question, _ranking()),
                fields=[Field("name", "Save this search as", longest=named_values.MAX_NAME)],
                button=Button("Save search"),
            )  # fmt: skip
        with st.container():
            for name in library.presets.all():
                with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                    st.markdown(f"Weights: {format.plain(name, limit=60)}", width="stretch")
                    _forget(library, library.presets, name, key=f"forget-weights-{name}")
        if (now := _ranking().now) and (weights := now.weights):
            st.caption(" · ".join(f"{facet} {weights[facet]:g}" for facet in FACETS))
            forms.show(
                "save-preset", library, partial(_keep_weights, library, _ranking()),
                fields=[Field("name", "Save these weights as", longest=named_values.MAX_NAME)],
                button=Button("Save weights"),
            )  # fmt: skip


def opened(value: object) -> SavedSearch | None:
    """The saved search that set the sliders, until they are moved, when `value` changes."""
    before, search = st.session_state.get(_OPENED, (None, None))
    if before is _JUST:
        st.session_state[_OPENED] = value, search
    return search if before in (_JUST, value) else None


def set_ranking(search: SavedSearch) -> None:
    """Remember how the page ranks now, for saving."""
    _ranking().now = search


def use_weights(weights: Mapping[Facet, float]) -> None:
    """Set the sliders to these weights in the page's next run, and leave the rest of the ranking as it is."""
    st.session_state[_OPENED] = _JUST, replace(_ranking().now or SavedSearch(""), weights=dict(weights))


_JUST = object()


def _open(library: Library, name: str, search: SavedSearch) -> None:
    st.session_state[LINE] = presenter.concealed(search.line, "question")
    if search.weights:
        weights = {facet: search.weights.get(facet, 0.0) for facet in FACETS}
        st.session_state[_OPENED] = _JUST, replace(search, weights=weights)
    st.session_state["fold"] = search.folded
    result_link.shift(search.shifted)
    result_link.resize(search.shown)
    if library.can_write:
        try:
            library.searches.mark_seen(name)
        except MemedexError as error:
            session.queue_message(format.plain(str(error), limit=200), icon=":material/error:")


@dataclass
class _Ranking:
    """How the page ranks now: forms that were drawn before it was known save it, too."""

    now: SavedSearch | None = None


def _ranking() -> _Ranking:
    ranking = st.session_state.setdefault(_RANKING, _Ranking())
    return ranking if isinstance(ranking, _Ranking) else _Ranking()


def _keep_search(library: Library, question: Question, ranking: _Ranking, given: Mapping[str, Any]) -> str:
    """Save the line and its controls as one line, with the ranking."""
    ranked = ranking.now if question.terms else None
    looked = {library.actor_name: time.time()}
    search = replace(ranked or SavedSearch(""), line=query_syntax.written(question), looked=looked)
    return keep(library.searches, search, given)


def _keep_weights(library: Library, ranking: _Ranking, given: Mapping[str, Any]) -> str:
    weights = ranking.now.weights if ranking.now else None
    return keep(library.presets, weights or {}, given)


def _forget(library: Library, values: named_values.NamedValues[T], name: str, *, key: str) -> None:
    forms.button(key, library, partial(values.delete, name), button=Button("Remove", kind="tertiary"))


def keep(values: named_values.NamedValues[T], thing: T, given: Mapping[str, Any]) -> str:
    """Save under an unused name (`given["name"]`), so that none is overwritten by accident."""
    name = " ".join(given["name"].split())
    taken = next((one for one in values.all() if one.casefold() == name.casefold()), None)
    if taken is None:
        values.save(name, thing)
        return ""
    if values.all()[taken] != thing:
        raise InvalidRecord(f"“{taken}” is taken: remove it first, or choose another name.")
    return f"Already saved as “{format.plain(taken, limit=60)}”."


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
        # Not the line: another search may weigh it otherwise.
        key = (name, since, library.generation, library.derived)
        now[key] = news[name] = before[key] if key in before else _new(library, search, since)
    st.session_state["search.news"] = now
    return news


def _new(library: Library, search: SavedSearch, since: float) -> int:
    question = query_syntax.read(search.line, base=Filter(tier="library"), actor=library.actor_name)
    parts, faults = query_pictures.parts_of(library, question)
    if faults or query_syntax.read(search.line).filter.tier not in (None, "library"):
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
            shift=marks.shift_of_question(library, question) if search.shifted else None,
        )
        found = library.search(query)
    except MemedexError:
        return 0
    return library.came_since([hit.address for hit in found.hits], since)
