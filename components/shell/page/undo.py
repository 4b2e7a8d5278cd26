"""Recent decisions in a few words, and undo: in the message of the page's last decision, and by key."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from components.shell import format
from components.shell.page import forms, streamlit_style
from components.shell.page.forms import Button
from components.shell.session import login, safe_mode, session
from store import Library, Outcome, PastDecision, Reader
from store.errors import InvalidRecord
from store.tasks import undo as undo_task

_LAST = 50  # decisions among which an undo looks for the page's own
AT_ONCE = 256  # records a page waits for, one operation; more are decided in the background
_FOUND = "memedex.found_decided"  # in a session's state: the page, and the last decision when it was opened


@dataclass(frozen=True)
class Reversal:
    """What a page offers to take back: the form and its button, the decision, and what to say of it."""

    form: str
    label: str
    key: str
    last: PastDecision | None
    about: str
    send: forms.Send

    @property
    def decision(self) -> str:
        """The decision's id; "" if there is none."""
        return self.last.id if self.last else ""

    @property
    def at(self) -> float:
        """When it was made (UNIX seconds); 0 if there is none."""
        return self.last.created_at if self.last else 0.0


def last_decision(library: Library) -> Sequence[Reversal]:
    """The person's last decision about coins, to undo."""
    last = library.to_undo(actor=library.actor_name)
    about = format.capital(sentence(library, last)) if last else "Nothing to undo."
    send = partial(_undo, library, last.id if last else "", login.session())
    return [Reversal("undo", "Undo", "z", last, about, send)]


def last_undo(library: Library) -> Sequence[Reversal]:
    """The person's last undo about coins, to redo; none if they decided something since."""
    return [
        Reversal(
            "redo", "Redo", "Z", last, format.capital(sentence(library, last)), partial(one, library, last.id)
        )
        for last in filter(None, map(library.decision, library.log.to_redo(library.actor_name)))
    ]


def show(library: Library, page: str, reversals: Sequence[Reversal]) -> None:
    """Offer these by key, and in a message if the decision was made while this page was shown.

    Else the buttons are there for the palette, for the key and for those who move by tab.
    """
    newest = reversals[-1].decision if reversals else ""
    came_to, found = st.session_state.get(_FOUND, ("", ""))
    if came_to != page:
        found = newest
        st.session_state[_FOUND] = (page, found)
    is_new = newest not in ("", found)
    place = streamlit_style.UNDO if is_new else streamlit_style.LATER_UNDO
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=place):
        if is_new:
            st.markdown(reversals[-1].about, width="content")
        for each in reversals:
            button = Button(each.label, "", "tertiary", each.about, disabled=not each.decision, key=each.key)
            forms.show(each.form, library, each.send, button=button)


def _undo(library: Library, shown: str, place: str, sent: forms.Sent) -> str:
    """Undo what the page's run named, or what the page decided since and shows already."""
    done = library.decision(sent.decision)
    if done and done.reverses:  # this press was answered, and the answer was lost
        return one(library, done.reverses, sent)
    own = {shown, *session.decisions_of(place)}
    candidates = (each for each in undo_task.undoable(library, limit=_LAST) if each in own)
    return one(library, next(candidates, shown), sent)


def one(library: Library, decision: str, sent: forms.Sent) -> str:
    """Undo this decision, which the page names, or redo what it undid; what to say of it."""
    reversed_ = undo_task.reverse(library, decision, at_once=AT_ONCE, decision=sent.decision)
    made = library.decision(decision)
    return result(reversed_, message="Redone for" if made and made.verb == "undo" else "Undone for")


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


_NAMED = 2  # records that a decision is told by; of more, how many
_NAME, _SAID = 32, 120  # characters


def sentence(library: Reader, decision: PastDecision) -> str:
    """ "approved Bonk", "undid: promoted 12 coins", as Markdown."""
    plain = partial(format.plain, limit=_NAME)
    if first := original(library.log.get, decision):
        return f"{format.done(decision.verb)}: {_did(library, first.verb, decision, plain)}"
    return _did(library, decision.verb, decision, plain)


def _did(library: Reader, verb: str, decision: PastDecision, put: Callable[[str], str]) -> str:
    """The verb and what the decision acted on: of an undo, only what it did undo."""
    if decision.count > _NAMED:
        return format.did(verb, format.counted(decision.count, "coin"))
    events = library.history(decision=decision.id, limit=_NAMED)
    called = [(safe_mode.shown_name(library, event.address, event.name), event.address) for event in events]
    names = [put(name or format.shortened(address)) for name, address in called]
    if not names and decision.count:  # a verdict changes no record
        return format.did(verb, format.counted(decision.count, "pair"))
    did = format.did(verb, " and ".join(names)) if names else format.done(verb)
    if verb == "comment" and events and called[0][0] == events[0].name:  # else safe mode hides the coin
        did += f": “{format.plain(events[0].reason, limit=_SAID)}”"
    return did


def undone_text(library: Reader, verb: str, reversed_: str | None, *, by: str | None) -> str:
    """What an undo or a redo was about, as plain text; "" if that is not known.

    `by`: its own decision; None while it is still done in the background.
    """
    decision = library.decision(reversed_) if reversed_ else None
    if decision is None:
        return ""
    first = original(library.log.get, decision) or decision
    own = (library.decision(by) if by else None) or first
    return f"{'Redone' if verb == 'redo' else 'Undone'}: {_did(library, first.verb, own, _whole)}"


def original(get: Callable[[str], PastDecision | None], decision: PastDecision) -> PastDecision | None:
    """The first decision of the chain that this one undoes or redoes; None if it does neither."""
    first = None
    while decision.reverses and (earlier := get(decision.reverses)):
        first = decision = earlier
    return first


def _whole(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
