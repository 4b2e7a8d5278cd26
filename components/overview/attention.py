"""What to do next."""

import streamlit as st

from components.review import promote
from components.shell import format
from components.shell.page import places
from components.shell.session import resources
from store import Filter, Library
from store.jobs import background_worker
from store.rules import second_opinions

_MOST = 3
_REVIEW, _CAPTIONS = places.to("Review"), places.to("Captions")
_APPROVED, _ACTIVITY = places.to("Approved"), places.to("Activity")
_RULES = ("Rules", places.RULES, ":material/trending_down:")
_SYSTEM_STATUS = ("System status", places.STATUS, ":material/monitor_heart:")


def show(library: Library) -> None:
    """The next things to do, at most three, each with a link; or that nothing is left to do."""
    rows = _needs(library)[:_MOST]
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
    opinions = len(second_opinions.asked(library))
    failing = ", ".join(one.worker for one in background_worker.faults())
    faults = (("A change is stuck:", status.stuck), ("Background work fails:", failing))
    todo = (
        (counts["pending"], "to review", "Review", _REVIEW, ":material/inbox:"),
        (opinions, "for your second opinion", "Answer", places.SECOND_OPINIONS, ":material/group:"),
        (uncaptioned, "to caption", "Caption", _CAPTIONS, ":material/edit_note:"),
        (blocked, "could not be promoted", "Show", _APPROVED, ":material/error:"),
        (ready, "ready to promote", "Promote", _APPROVED, ":material/task_alt:"),
        (promoted, "being promoted", "Follow", _ACTIVITY, ":material/hourglass_top:"),
    )
    broken = [one for one in library.rules.all().values() if one.told]
    return [
        *(
            (f":red[{what}] {format.plain(fault, limit=200)}", *_SYSTEM_STATUS)
            for what, fault in faults
            if fault
        ),
        *(
            (
                f"**Rule {format.plain(one.name)}** is only shown now: {format.plain(one.told, limit=200)}",
                *_RULES,
            )
            for one in broken
        ),
        *(
            (f"**{format.counted(coins, 'coin')}** {what}", label, link, icon)
            for coins, what, label, link, icon in todo
            if coins
        ),
    ]
