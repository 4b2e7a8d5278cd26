"""The stops of the tour as data: where each leads, what it says and does; and how all of it is taken back.

What a tour does, it does by the library's verbs in the name of `WHO`. So the history alone says what there is
to take back, also after a tab was closed in the middle.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from components.shell import streamlit_style
from store.captioning.suggestions import accept_suggestions
from store.errors import UnknownRecord
from store.library import Library
from store.outcome import Outcome

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
        page="pages/pending.py",
        parameters={"pending_words": "sh1ba"},
        mark="[role=gridcell]",
        text="Sh1ba Moonwalk came in with the picture of Shiba Moonwalk, cropped, under a name that looks "
        "the same. The badge says so, and a click on it puts both side by side. Every button names its key.",
        verb="Reject the copycat",
        do=_reject,
        is_done=_is_rejected,
        afterwards="It is rejected, with its reason. Nothing was deleted: it waits in Rejected, and would be "
        "recognised if it came again.",
    ),
    Stop(
        title="A caption is drafted and finished",
        heading="Captions",
        page="pages/captions.py",
        parameters={"address": DRAFTED},
        mark=".proposal, textarea",
        text="A caption has four texts, and each is searched by itself. The draft beside them is a recorded "
        "one: no language model is asked during this tour. One accepts a text, a sentence or a change of it; "
        "what a person wrote is never replaced.",
        verb="Accept the recorded draft",
        do=_caption,
        is_done=_is_captioned,
        afterwards="The texts are written, and History says that they come from a recorded draft. The coin "
        "is now ready to be promoted into the library.",
    ),
    Stop(
        title="A question, dragged and explained",
        heading="Search",
        page="pages/search.py",
        parameters={"q": "frog in the rain"},
        mark="[aria-label=Weights]",
        text="The question is compared with picture, entity, context, visual and emotions at once. Drag a "
        "slider of the strip: the order changes as you drag. Open a coin to see why it is where it is.",
    ),
    Stop(
        title="The map",
        heading="Map",
        page="pages/map.py",
        mark="canvas",
        text="Coins that are alike lie together. Scroll to come closer, point at a coin to see it large, and "
        "draw around some of them to open those in the grid.",
    ),
    Stop(
        title="What an agent is told, and why",
        heading="Lore & memory",
        page="pages/lore.py",
        parameters={"view": "Prompt preview", "prompt": "Who guards the vault?", "in": "tide_archive"},
        mark=streamlit_style.CODE_OR_START,
        text="An agent that asks gets these lines of the text memory and no others. Below them the page says "
        "what is not in them and why, and lists each entry with its score and source. If the memory is "
        "empty, the demo memory is one click away here; it stays until it is deleted.",
    ),
    Stop(
        title="Everything can be undone",
        heading="History",
        page="pages/history.py",
        mark=streamlit_style.NEWEST_DECISION,
        text="Every decision is listed with who made it, when and why, and each can be undone, also much "
        "later. “Undo it all” undoes what this tour did; the end of the tour does so as well.",
        verb="Undo it all",
        do=undo_tour,
        is_done=lambda library: not left_behind(library),
        afterwards="Every coin is where it was, and the draft waits again. History keeps that it was "
        "done, and undone.",
    ),
)
