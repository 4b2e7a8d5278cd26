"""The tour: a panel beside the page; its stop is in the session and in the address (`?tour=3`)."""

from pathlib import Path

import streamlit as st

from components.shell import format, javascript, session
from components.shell.tour_stops import STOPS, Stop, is_possible, left_behind, undo_tour
from store.library import Library

_HERE = Path(__file__).resolve().parent
_component = st.components.v2.component(
    "memedex.tour",
    html='<section class="tour" role="region" aria-label="Tour" tabindex="-1" hidden></section>',
    css=(_HERE / "tour.css").read_text("utf-8"),
    js=javascript.component(_HERE / "js" / "tour.js"),
)
_KEY = "memedex-tour"
_AT = "memedex.tour"  # the number of the stop, from 1
_IS_GOING = "memedex.tour_going"  # whether the page of the stop has not been reached yet
_PARAMETER = "tour"
_MISSING = "The tour is made of coins of the demo library. Load it on the Overview of an empty library first."


def show(library: Library, heading: str) -> None:
    """The panel, if a tour is on; goes to the page of the stop that the address asks for."""
    number = st.session_state.get(_AT) or _asked()
    if not number:
        return
    stop, possible = STOPS[number - 1], is_possible(library)
    # A page's own run may overtake the switch to another, and knows the address of before.
    is_going = st.session_state.get(_IS_GOING, _AT not in st.session_state)
    st.session_state[_AT] = number
    if is_going and stop.heading != heading and possible:
        _go(number)
    st.session_state[_IS_GOING] = False
    is_here = stop.heading == heading
    done = possible and stop.is_done(library)
    acts = bool(possible and stop.do and library.can_write and is_here and not done)
    _component(
        key=_KEY,
        data=_data(number, possible=possible, done=done, acts=acts, is_here=is_here),
        on_go_change=_nothing,
    )
    wish = session.sent(_KEY).get("go")
    if wish == "next" and acts and stop.do:
        stop.do(library)
    match wish:
        case "next" if not is_here:
            _go(number)
        case "next" if number < len(STOPS):
            _go(number + 1)
        case "back" if number > 1:
            _go(number - 1)
        case "next" | "end":
            _end(library)


def offer(library: Library) -> None:
    """Start the tour; and take back what a tour left that was broken off."""
    if _AT in st.session_state or not is_possible(library):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("Take the tour", icon=":material/tour:", help="Six stops of about a minute."):
            _go(1)
        left = len(left_behind(library)) if library.can_write else 0
        if left and st.button(f"Undo {format.counted(left, 'change')} of a tour", icon=":material/undo:"):
            _undo_tour(library)
            st.rerun()


def _data(number: int, *, possible: bool, done: bool, acts: bool, is_here: bool) -> dict[str, object]:
    stop: Stop = STOPS[number - 1]
    following = "Next" if number < len(STOPS) else "End the tour"
    return {
        "number": number,
        "count": len(STOPS),
        "title": stop.title,
        "text": (stop.afterwards if done and stop.afterwards else stop.text) if possible else _MISSING,
        "next": (stop.verb if acts else following if is_here else "Go there") if possible else "",
        "mark": stop.mark if is_here else "",
    }


def _asked() -> int:
    """The stop in the address; 0 without one."""
    text = st.query_params.get(_PARAMETER, "")
    return int(text) if text.isdecimal() and 1 <= int(text) <= len(STOPS) else 0


def _go(number: int) -> None:
    st.session_state[_AT], st.session_state[_IS_GOING] = number, True
    stop = STOPS[number - 1]
    st.switch_page(stop.page, query_params={**stop.parameters, _PARAMETER: str(number)})


def _end(library: Library) -> None:
    st.session_state.pop(_AT, None)
    st.session_state.pop(_IS_GOING, None)
    st.query_params.pop(_PARAMETER, None)
    if library.can_write and is_possible(library) and left_behind(library):
        _undo_tour(library)
    st.switch_page("overview.py")


def _undo_tour(library: Library) -> None:
    outcome = undo_tour(library)
    session.queue_message("What the tour did is undone.", icon=":material/undo:")
    for refusal in outcome.refused:
        session.queue_message(f"Kept: {format.plain(refusal.item)}: {format.plain(refusal.reason)}")


def _nothing() -> None:
    """The page runs because something was sent."""
