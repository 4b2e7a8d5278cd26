"""What was decided lately, and taking it back."""

import streamlit as st

from components import state, wording
from components.grid.ledger import AT_ONCE
from store import reversing
from store.errors import MemedexError
from store.history import Decision
from store.library import Library
from store.outcome import Outcome

_NAMED = 2  # records that a decision is told by; of more, how many


def undo_button(library: Library) -> None:
    """A button that takes back one's own last decision, and says which that is."""
    last = next((decision for decision in library.decisions(limit=50) if _stands(library, decision)), None)
    st.button(
        "Undo",
        key="memedex.undo",
        icon=":material/undo:",
        help=f"Take back: {sentence(library, last)}" if last else "There is nothing to take back.",
        disabled=last is None,
        on_click=undo,
        args=(library,),
    )


def _stands(library: Library, decision: Decision) -> bool:
    return decision.who == library.who and not decision.is_undone and decision.verb != "undo"


def undo(library: Library) -> None:
    """Take back one's own last decision."""
    try:
        outcome = reversing.reverse(library, "undo", at_once=AT_ONCE)
    except MemedexError as error:
        state.say(wording.plain(str(error), limit=200), icon=":material/error:")
        return
    tell(outcome)


def tell(outcome: Outcome) -> None:
    """Say on the next run what came of taking back."""
    if outcome.done:
        state.say(f"Taken back for {wording.counted(len(outcome.done), 'coin')}.", icon=":material/undo:")
    tell_refused(outcome)


def tell_refused(outcome: Outcome) -> None:
    """Say on the next run what was refused, and why."""
    for refusal in outcome.refused[:3]:
        reason = wording.plain(refusal.reason, limit=200)
        state.say(f"{wording.shortened(refusal.item)}: {reason}", icon=":material/error:")


def sentence(library: Library, decision: Decision) -> str:
    """ "approved Bonk", "promoted 12 coins"; Markdown, strangers' names escaped."""
    verb = wording.done(decision.verb)
    if decision.count > _NAMED:
        return f"{verb} {wording.counted(decision.count, 'coin')}"
    events = library.history(decision=decision.id, limit=_NAMED)
    names = [wording.plain(event.name or wording.shortened(event.address), limit=32) for event in events]
    if not names and decision.count:  # a verdict changes no record
        return f"{verb} {wording.counted(decision.count, 'pair')}"
    return f"{verb} {' and '.join(names)}" if names else verb


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
