"""Telling what a verb did, and naming what it refused."""

from argparse import Namespace
from collections.abc import Sequence

from store.commands.terminal import Terminal
from store.importing.candidate import Refusal
from store.outcome import Outcome

_DONE = {
    "approve": "approved",
    "return": "returned",
    "reject": "rejected",
    "promote": "promoted",
    "degrade": "degraded",
    "delete": "deleted",
    "restore": "restored",
    "caption": "captioned",
    "undo": "undone",
    "redo": "redone",
}


def report(outcome: Outcome, arguments: Namespace, terminal: Terminal) -> int:
    """Say what was done and what was refused; the exit status."""
    if arguments.json:
        terminal.answer_json({"done": outcome.done, "refused": as_json(outcome.refused)})
    refused = f", refused {len(outcome.refused):,}" if outcome.refused else ""
    terminal.say(f"{_DONE[arguments.verb]} {len(outcome.done):,}{refused}")
    return named(outcome.refused, terminal)


def named(refused: Sequence[Refusal], terminal: Terminal) -> int:
    """Name each thing refused, with the reason; the exit status."""
    for refusal in refused:
        terminal.say(f"refused {refusal.item}: {refusal.reason}")
    return 1 if refused else 0


def as_json(refused: Sequence[Refusal]) -> list[dict[str, str]]:
    return [{"item": refusal.item, "reason": refusal.reason} for refusal in refused]
