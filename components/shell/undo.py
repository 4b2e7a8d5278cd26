"""Recent decisions, and undo."""

from collections import Counter
from functools import partial

import streamlit as st

from components.shell import format, forms, presenter
from components.shell.decision_text import sentence
from components.shell.forms import Button
from store.errors import InvalidRecord
from store.library import Library
from store.outcome import Outcome
from store.tasks import undo as undo_task

AT_ONCE = 256  # records a page waits for, one operation; more are decided in the background


def undo_button(library: Library) -> None:
    """A button that undoes one's own last decision, and names it."""
    last = library.to_undo(actor=library.actor_name)
    about = f"Undo: {sentence(library, last)}" if last else "Nothing to undo."
    send = partial(one, library, last.id if last else "")
    button("undo", library, send, about=about, disabled=last is None)


def button(key: str, library: Library, send: forms.Send, *, about: str, disabled: bool) -> None:
    """An undo button. A double click is one click: until the page shows the next one, it is locked."""
    forms.show(key, library, send, button=Button("Undo", icon="undo", help=about, disabled=disabled))


def one(library: Library, decision: str, sent: forms.Sent) -> str:
    """Undo this decision, which the page names, or redo what it undid; what to say of it."""
    reversed_ = undo_task.reverse(library, decision, at_once=AT_ONCE, decision=sent.decision)
    return result(reversed_, message="Undone for")


def result(outcome: Outcome, *, message: str) -> str:
    """What a form says of a decision about coins: how many it changed, and what was refused, as `said`."""
    changed = Counter(outcome.done) - Counter(outcome.unchanged)
    done = f"{message} {format.counted(len(changed), 'coin')}." if changed else "Nothing had to be changed."
    return said(outcome, done if outcome.done else "")


def said(outcome: Outcome, done: str) -> str:
    """What a form says: `done`, and what was refused. Raises InvalidRecord with the reasons if all was."""
    reasons = [f"{format.shortened(refusal.item)}: {refusal.reason}" for refusal in outcome.refused[:3]]
    if reasons and not outcome.done:
        raise InvalidRecord("; ".join(reasons))
    return " ".join(filter(None, [done, *(format.plain(reason, limit=200) for reason in reasons)]))


def recent(library: Library, *, limit: int) -> None:
    """The last decisions, newest first."""
    decisions = library.decisions(limit=limit)
    if not decisions:
        st.caption("Nothing was decided yet.")
    for decision in decisions:
        words = sentence(library, decision)
        words = words[:1].upper() + words[1:]
        with st.container(gap=None):
            st.markdown(f":gray[~~{words}~~]" if decision.is_undone else words)
            st.caption(f"{format.plain(presenter.name(decision.actor))} · {format.ago(decision.created_at)}")
