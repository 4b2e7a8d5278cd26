"""Print what a command did, and what it refused."""

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from store.cli.terminal import Terminal
from store.outcome import ImportReport, Outcome, Refusal

_MANY = 20  # refused for the same reason: more would hide every other one
_FIRST = 3

_DONE = {
    "approve": "approved",
    "back-to-review": "returned to review",
    "reject": "rejected",
    "promote": "promoted",
    "remove": "removed from the library",
    "delete": "deleted",
    "restore": "restored",
    "restore-files": "restored the files of",
    "caption": "captioned",
    "correct-text": "corrected",
    "read-pictures": "read",
    "flag": "flagged",
    "tag": "tagged",
    "rename-tag": "renamed on",
    "taxonomy": "gave other categories to",
    "accept": "accepted suggestions for",
    "undo": "undone",
    "adopt": "undone",
    "redo": "redone",
}


def report(outcome: Outcome, arguments: Namespace, terminal: Terminal) -> int:
    """Print what was done and what was refused; returns the exit status."""
    if arguments.json:
        terminal.answer_json(
            {"done": outcome.done, "unchanged": outcome.unchanged, "refused": as_json(outcome.refused)}
        )
    unchanged = f", unchanged {len(outcome.unchanged):,}" if outcome.unchanged else ""
    refused = f", refused {len(outcome.refused):,}" if outcome.refused else ""
    changed = len(outcome.done) - len(outcome.unchanged)
    terminal.say(f"{_DONE[arguments.verb]} {changed:,}{unchanged}{refused}")
    return named(outcome.refused, terminal)


def report_import(done: ImportReport, arguments: Namespace, terminal: Terminal) -> int:
    """Print what was added, what existed and where, and what was refused; returns the exit status."""
    if arguments.json:
        terminal.answer_json(
            {
                "added": done.done,
                "present": done.present,
                "completed": done.completed,
                "not_taken": [asdict(one) for one in done.not_taken],
                "unread": as_json(done.unread),
                "undated": done.undated,
                "refused": as_json(done.refused),
            }
        )
    where = Counter(done.present.values())
    tiers = f" ({', '.join(f'{count:,} in {tier}' for tier, count in where.items())})" if where else ""
    completed = f", {len(done.completed):,} of them completed" if done.completed else ""
    terminal.say(
        f"added {len(done.done):,}, already there {len(done.present):,}{tiers}{completed}, "
        f"refused {len(done.refused):,}"
    )
    for note in done.notes:
        terminal.say(note)
    return named(done.refused, terminal)


def named(refused: Sequence[Refusal], terminal: Terminal) -> int:
    """Print each refused item with its reason, one for many with the same; returns the exit status."""
    alike: dict[str, list[str]] = {}
    for refusal in refused:
        alike.setdefault(refusal.reason, []).append(refusal.item)
    for reason, items in alike.items():
        if len(items) > _MANY:
            first = ", ".join(items[:_FIRST])
            terminal.say(
                f"refused {len(items):,} for one reason: {reason} ({first}, …; --json names each of them)"
            )
        else:
            for item in items:
                terminal.say(f"refused {item}: {reason}" if item else f"refused '': {reason}")
    return 1 if refused else 0


def as_json(refused: Sequence[Refusal]) -> list[dict[str, str]]:
    """Refusals as JSON objects."""
    return [{"item": refusal.item, "reason": refusal.reason} for refusal in refused]
