"""Coins that another user decided, or the same one in another window, while they were on a page."""

from collections.abc import Collection, Sequence
from typing import Any

import streamlit as st

from components.shell import format
from components.shell.session import presenter
from store import Event, Library, MemedexError, Reader

_LOOKED_AT = 20  # events of a record since it was shown
_SHADOWS = 60  # on one page
_REVERSALS = {"undo": "undone", "redo": "redone"}


def decided_since(library: Library, address: str, *, seen: int, made: Collection[str]) -> Event | None:
    """The last move of a record since the revision that was seen, unless `made` has its decision.

    A person's own undo is none: it comes from the page that it is shown on.
    """
    try:
        changes = library.get(address).revision - seen
    except MemedexError:
        return None
    if changes <= 0:
        return None
    events = library.history(address=address, limit=min(changes, _LOOKED_AT))
    move = next((event for event in events if event.before_tier != event.after_tier), None)
    if move is None or move.decision in made:
        return None
    return None if move.actor == library.actor_name and move.verb in _REVERSALS else move


def decision_text(library: Reader, event: Event, *, with_age: bool = True) -> str:
    """ "approved by ann just now"."""
    who = "you in another window" if event.actor == library.actor_name else presenter.name(event.actor)
    done = _REVERSALS.get(event.verb) or format.done(event.verb)
    return f"{done} by {who}{f' {format.ago(event.created_at)}' if with_age else ''}"


def shadows(
    key: str, library: Library, shown: Sequence[str], *, question: object
) -> dict[str, dict[str, str]]:
    """What others made of coins that this page showed for the same question: label and decision, by address.

    Among them is what the same person decided: each window knows which decisions are its own.
    """
    kept: dict[str, Any] = st.session_state.get(f"{key}.shadows") or {}
    if kept.get("question") != question:
        kept = {"question": question, "shown": [], "gone": {}}
    left = [each for each in dict.fromkeys([*kept["gone"], *kept["shown"]]) if each not in set(shown)]
    gone = {}
    for address in left[-_SHADOWS:]:
        latest = library.history(address=address, limit=1)
        if latest:
            label = decision_text(library, latest[0], with_age=False)
            gone[address] = {"label": label, "decision": latest[0].decision}
    st.session_state[f"{key}.shadows"] = {"question": question, "shown": list(shown), "gone": [*gone]}
    return gone
