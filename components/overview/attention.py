"""What needs attention, and the model."""

import streamlit as st

from components.overview import model_choice, model_download
from components.review import promote
from components.shell import format
from components.shell.page import places
from components.shell.session import resources
from store import Filter, Library
from store.jobs import background_worker

_REVIEW, _CAPTIONS = places.to("Review"), places.to("Captions")
_APPROVED, _ACTIVITY = places.to("Approved"), places.to("Activity")
_SYSTEM_STATUS = ("System status", places.STATUS, ":material/monitor_heart:")


def show(library: Library) -> None:
    """The next things to do, each with a link; or that nothing is left to do."""
    rows = _needs(library)
    if not rows:
        st.success(
            "All done: every coin is reviewed, captioned and embedded.", icon=":material/check_circle:"
        )
        return
    for text, label, link, icon in rows:
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.markdown(text, width="stretch")
            st.page_link(**link, label=label, icon=icon)


def _needs(library: Library) -> list[tuple[str, str, places.Link, str]]:
    """For each thing to do: a sentence, the label of its link, where it leads, and the link's icon."""
    counts, status = library.counts(), resources.status(library)
    ready, promoted = promote.ready(library)
    uncaptioned = library.count(Filter(tier="approved", captioned=False, troubled=False))
    blocked = library.count(Filter(tier="approved", troubled=True))
    failing = ", ".join(one.worker for one in background_worker.faults())
    faults = (("A change is stuck:", status.stuck), ("Background work fails:", failing))
    todo = (
        (counts["pending"], "to review", "Review", _REVIEW, ":material/inbox:"),
        (uncaptioned, "to caption", "Caption", _CAPTIONS, ":material/edit_note:"),
        (blocked, "could not be promoted", "Show", _APPROVED, ":material/error:"),
        (ready, "ready to promote", "Promote", _APPROVED, ":material/task_alt:"),
        (promoted, "being promoted", "Follow", _ACTIVITY, ":material/hourglass_top:"),
    )
    return [
        *(
            (f":red[{what}] {format.plain(fault, limit=200)}", *_SYSTEM_STATUS)
            for what, fault in faults
            if fault
        ),
        *(
            (f"**{format.counted(coins, 'coin')}** {what}", label, link, icon)
            for coins, what, label, link, icon in todo
            if coins
        ),
    ]


def model(library: Library) -> None:
    """The model that embeds; if it is the built-in one, also CLIP, for one click."""
    st.header("Model", anchor=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(model_choice.sentence(library.model), width="stretch")
        st.page_link(**places.MODEL, label="Change", icon=":material/tune:")
    model_download.reference(library)
