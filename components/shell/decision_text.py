"""A decision in a few words."""

from collections.abc import Callable

from components.shell import format, safe_mode
from store.catalog.history import PastDecision
from store.reading.reader import Reader

_NAMED = 2  # records that a decision is told by; of more, how many
_NAME = 32  # characters


def sentence(library: Reader, decision: PastDecision, *, put: Callable[[str], str] | None = None) -> str:
    """ "approved Bonk", "undid: promoted 12 coins"; `put` formats an untrusted name, else it is Markdown."""
    put = put or (lambda name: format.plain(name, limit=_NAME))
    if original := _original(library, decision):
        return f"{format.done(decision.verb)}: {_did(library, original.verb, decision, put)}"
    return _did(library, decision.verb, decision, put)


def _did(library: Reader, verb: str, decision: PastDecision, put: Callable[[str], str]) -> str:
    """The verb and what the decision acted on: of an undo, only what it did undo."""
    if decision.count > _NAMED:
        return format.did(verb, format.counted(decision.count, "coin"))
    events = library.history(decision=decision.id, limit=_NAMED)
    called = [(safe_mode.shown_name(library, event.address, event.name), event.address) for event in events]
    names = [put(name or format.shortened(address)) for name, address in called]
    if not names and decision.count:  # a verdict changes no record
        return format.did(verb, format.counted(decision.count, "pair"))
    return format.did(verb, " and ".join(names)) if names else format.done(verb)


def undone_text(library: Reader, verb: str, reversed_: str | None, *, by: str | None) -> str:
    """What an undo or a redo was about, as plain text; "" if that is not known.

    `by`: its own decision; None while it is still done in the background.
    """
    decision = library.decision(reversed_) if reversed_ else None
    if decision is None:
        return ""
    original = _original(library, decision) or decision
    own = (library.decision(by) if by else None) or original
    return f"{'Redone' if verb == 'redo' else 'Undone'}: {_did(library, original.verb, own, _whole)}"


def _original(library: Reader, decision: PastDecision) -> PastDecision | None:
    """The first decision of the chain that this one undoes or redoes; None if it does neither."""
    original = None
    while decision.reverses and (earlier := library.decision(decision.reverses)):
        original = decision = earlier
    return original


def _whole(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
