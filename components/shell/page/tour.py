"""The tour: a panel beside the page; its stop is in the session and in the address (`?tour=3`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import streamlit as st

from components.shell import format, javascript
from components.shell.page import streamlit_style
from components.shell.session import session
from store import Library, Outcome
from store.captioning import accept_suggestions
from store.errors import UnknownRecord

WHO = "tour"
COPYCAT = "local-demo-sh1ba-moonwalk"
DRAFTED = "local-demo-owl-night-long"
_RECENT = 500  # decisions among which a tour's own are looked for


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop: a page with parameters, what it says, what is marked there, and what its button does."""

    title: str
    heading: str  # of the page
    page: str
    text: str
    mark: str  # CSS selector
    parameters: Mapping[str, str] = field(default_factory=dict)
    verb: str = ""
    do: Callable[[Library], object] | None = None
    is_done: Callable[[Library], bool] = lambda library: False
    afterwards: str = ""


def undo_tour(library: Library) -> Outcome:
    """Undo what tours did, and open the drafts again that they took; what people changed since stays."""
    outcome = library.undo_decisions(left_behind(library), actor=WHO)
    taken = library.suggestions.of(DRAFTED, states=("taken",))
    library.suggestions.resolve([one.id for one in taken if one.settled_by == WHO], "open", actor=WHO)
    return outcome


def left_behind(library: Library) -> list[str]:
    """The decisions of tours that were not taken back, newest first."""
    return [
        one.id
        for one in library.decisions(limit=_RECENT)
        if one.actor == WHO and one.reverses is None and not one.is_undone
    ]


def is_possible(library: Library) -> bool:
    """Whether the coins of the demo library are there."""
    try:
        library.get(COPYCAT)
        library.get(DRAFTED)
    except UnknownRecord:
        return False
    return True


def _reject(library: Library) -> None:
    library.reject([COPYCAT], reason="copycat", actor=WHO)


def _is_rejected(library: Library) -> bool:
    return library.get(COPYCAT).tier == "trash"


def _caption(library: Library) -> None:
    accept_suggestions(library, [DRAFTED], actor=WHO)


def _is_captioned(library: Library) -> bool:
    return library.get(DRAFTED).is_captioned


STOPS = (
    Stop(
        title="A copycat is caught",
        heading="Review",
        page="pages/review.py",
        parameters={"pending_words": "sh1ba"},
        mark="[role=gridcell]",
        text="Sh1ba Moonwalk came in with the picture of Shiba Moonwalk, cropped, under a name that looks "
        "the same. The badge says so, and a click on it puts both side by side. Every button names its key.",
        verb="Reject the copycat",
        do=_reject,
        is_done=_is_rejected,
        afterwards="It is rejected, with its reason. Nothing was deleted: it is among the rejected coins,"
        " and would be recognised if it came again.",
    ),
    Stop(
        title="A caption is drafted and finished",
        heading="Captions",
        page="pages/captions.py",
        parameters={"address": DRAFTED},
        mark=".facet",
        text="A caption has four texts, and each is searched by itself. The drafts below are "
        "recorded: no language model is asked during this tour. Accept a text, a sentence or a change of it; "
        "what a person wrote is never replaced.",
        verb="Accept the recorded draft",
        do=_caption,
        is_done=_is_captioned,
        afterwards="The texts are written, and Activity says that they come from a recorded draft. The coin "
        "is now ready to be promoted into the library.",
    ),
    Stop(
        title="A question, dragged and explained",
        heading="Search",
        page="pages/search.py",
        parameters={"q": "an owl in the rain"},
        mark="[aria-label=Weights]",
        text="The question is compared with picture, entity, context, visual and emotions at once. Drag a "
        "slider of the strip: the order changes as you drag. “Why this order?” says why the first is first.",
    ),
    Stop(
        title="The map",
        heading="Search",
        page="pages/search.py",
        parameters={"view": "Map"},
        mark="canvas",
        text="Coins that are alike lie together. Scroll to come closer, point at a coin to see it large, and "
        "draw around some of them to open those in the grid.",
    ),
    Stop(
        title="What an agent is told, and why",
        heading="Memory",
        page="pages/memory.py",
        parameters={"ask": "Who guards the vault?", "world": "tide_archive"},
        mark=".mdx-lit, button.primary",  # the latter is a form's, where nothing is there yet
        text="An agent that asks is told this and nothing else of the text memory; a click on a lit passage "
        "opens its entry. Next to it is all that was found, and how well it fits; below it what it lacks, "
        "and why. If the memory is empty, the demo memory is one click away here; it stays until it is "
        "deleted.",
    ),
    Stop(
        title="Everything can be undone",
        heading="Activity",
        page="pages/activity.py",
        mark=streamlit_style.NEWEST_DECISION,
        text="Every decision is listed with who made it, when and why, and each can be undone, also much "
        "later. “Undo it all” undoes what this tour did; the end of the tour does so as well.",
        verb="Undo it all",
        do=undo_tour,
        is_done=lambda library: not left_behind(library),
        afterwards="Every coin is where it was, and the draft waits again. Activity keeps that it was "
        "done, and undone.",
    ),
)


_component = javascript.mounted(
    "tour",
    '<section class="tour" role="region" aria-label="Tour" tabindex="-1" hidden></section>',
    script="shell/js/tour.js",
    style="shell/page/tour.css",
)
_KEY = "memedex-tour"
_AT = "memedex.tour"  # the number of the stop, from 1
_IS_GOING = "memedex.tour_going"  # whether the page of the stop has not been reached yet
_PARAMETER = "tour"
_MISSING = (
    "The tour is made of coins of the demo library. Load it on the Home page of an empty library first."
)


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
