"""What was decided lately, and taking it back."""

import streamlit as st

from components import state, wording
from store.errors import MemedexError
from store.library import Library


def undo_button(library: Library) -> None:
    """A button that takes back one's own last decision, and says which that is."""
    last = next(
        (
            decision
            for decision in library.decisions(limit=20)
            if not decision.is_undone and decision.verb not in ("undo", "redo")
        ),
        None,
    )
    st.button(
        "Undo",
        key="memedex.undo",
        icon=":material/undo:",
        help=f"Take back: {sentence(last.verb, last.count)}" if last else "There is nothing to take back.",
        disabled=last is None,
        on_click=undo,
        args=(library,),
    )


def undo(library: Library) -> None:
    """Take back one's own last decision."""
    try:
        outcome = library.undo()
    except MemedexError as error:
        state.say(wording.plain(str(error), limit=200), icon=":material/error:")
        return
    if outcome.done:
        state.say(f"Taken back for {wording.counted(len(outcome.done), 'coin')}.", icon=":material/undo:")
    for refusal in outcome.refused[:3]:
        state.say(
            f"{wording.plain(refusal.item)}: {wording.plain(refusal.reason, limit=200)}",
            icon=":material/error:",
        )


def sentence(verb: str, count: int) -> str:
    """ "approved 3 coins"."""
    return f"{wording.done(verb)} {wording.counted(count, 'coin')}"


def recent(library: Library, *, limit: int = 8) -> None:
    """The last decisions, newest first."""
    decisions = library.decisions(limit=limit)
    if not decisions:
        st.caption("Nothing was decided yet.")
        return
    for decision in decisions:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            words = sentence(decision.verb, decision.count).capitalize()
            st.markdown(f":gray[~~{words}~~]" if decision.is_undone else words, width="stretch")
            st.caption(f"{wording.plain(decision.who)} · {wording.ago(decision.at)}", width="content")
