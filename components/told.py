"""A decision in a few words."""

from collections.abc import Callable

from components import wording
from store.history import Decision
from store.reading import Reader

_NAMED = 2  # records that a decision is told by; of more, how many
_NAME = 32  # characters


def sentence(library: Reader, decision: Decision, *, put: Callable[[str], str] | None = None) -> str:
    """ "approved Bonk", "promoted 12 coins"; `put` writes a stranger's name, else it is Markdown."""
    put = put or (lambda name: wording.plain(name, limit=_NAME))
    verb = wording.done(decision.verb)
    if decision.count > _NAMED:
        return f"{verb} {wording.counted(decision.count, 'coin')}"
    events = library.history(decision=decision.id, limit=_NAMED)
    names = [put(event.name or wording.shortened(event.address)) for event in events]
    if not names and decision.count:  # a verdict changes no record
        return f"{verb} {wording.counted(decision.count, 'pair')}"
    return f"{verb} {' and '.join(names)}" if names else verb


def taken_back(library: Reader, verb: str, reversed_: str | None) -> str:
    """What an undo or a redo was about, where no Markdown is read; "" where that is not known."""
    decision = library.decision(reversed_) if reversed_ else None
    while decision and decision.reverses:  # what was done again, or taken back before
        decision = library.decision(decision.reverses)
    if decision is None:
        return ""
    return f"{'Done again' if verb == 'redo' else 'Taken back'}: {sentence(library, decision, put=_whole)}"


def _whole(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
