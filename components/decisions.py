"""What was decided lately, and taking it back."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from components import state, wording
from components.grid.ledger import AT_ONCE
from components.told import sentence
from store import reversing
from store.errors import MemedexError
from store.library import Library
from store.outcome import Outcome


def undo_button(library: Library) -> None:
    """A button that takes back one's own last decision, and says which that is."""
    last = library.to_undo(who=library.who)
    st.button(
        "Undo",
        key="memedex.undo",
        icon=":material/undo:",
        help=f"Take back: {sentence(library, last)}" if last else "There is nothing to take back.",
        disabled=last is None,
        on_click=undo,
        args=(library,),
    )


def undo(library: Library) -> None:
    """Take back one's own last decision."""
    take_back(partial(reversing.reverse, library, "undo", at_once=AT_ONCE))


def take_back(decide: Callable[[], Outcome]) -> None:
    """Take something back now, and say on the next run what came of it."""
    carry_out(decide, said="Taken back for", icon=":material/undo:")


def carry_out(decide: Callable[[], Outcome], *, said: str, icon: str) -> None:
    """Decide something now, and say on the next run for how many coins, what was refused, and why."""
    try:
        outcome = decide()
    except MemedexError as error:
        state.say(wording.plain(str(error), limit=200), icon=":material/error:")
        return
    if outcome.done:
        state.say(f"{said} {wording.counted(len(outcome.done), 'coin')}.", icon=icon)
    for refusal in outcome.refused[:3]:
        reason = wording.plain(refusal.reason, limit=200)
        state.say(f"{wording.shortened(refusal.item)}: {reason}", icon=":material/error:")


def recent(library: Library, *, limit: int = 8) -> None:
    """The last decisions, newest first."""
    decisions = library.decisions(limit=limit)
    if not decisions:
        st.caption("Nothing was decided yet.")
    for decision in decisions:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            words = sentence(library, decision)
            words = words[:1].upper() + words[1:]
            st.markdown(f":gray[~~{words}~~]" if decision.is_undone else words, width="stretch")
            st.caption(f"{wording.plain(decision.who)} · {wording.ago(decision.at)}", width="content")
