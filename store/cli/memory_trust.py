"""Commands about whom the text memory obeys: versions, what waits, pins, merging, moments, kept contexts."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from store.cli.memory_edits import KINDS
from store.cli.memory_edits import _writing as writing  # the one way to write
from store.cli.memory_queries import answered, reading
from store.cli.output import as_json, named
from store.cli.terminal import Terminal

if TYPE_CHECKING:
    from store.outcome import Outcome

Add = Callable[[str, Callable[[Namespace, Terminal], int], str], ArgumentParser]


def add_arguments(add: Add) -> None:
    """Add these commands with their flags."""
    told = add("versions", versions, "every version of an entry: who wrote it, when, through what")
    told.add_argument("id", metavar="ID")
    told.add_argument("--kind", choices=KINDS, default="memories", help="memories")
    add("pending", pending, "what agents wrote and nobody has decided about")
    taken = add("accept", accept, "accept what agents wrote")
    taken.add_argument("ids", nargs="+", metavar="ID", help="as `pending` lists it")
    refused = add("reject", reject, "reject what agents wrote")
    refused.add_argument("ids", nargs="+", metavar="ID", help="as `pending` lists it")
    for verb, state, meaning in (
        ("pin", "pinned", "have entries in every context"),
        ("never-recall", "never", "have entries in no context and no answer"),
        ("recall-again", "", "treat entries as all others again"),
    ):
        marked = add(verb, mark, meaning)
        marked.add_argument("ids", nargs="+", metavar="ID")
        marked.add_argument("--kind", choices=KINDS, default="memories", help="memories")
        marked.set_defaults(state=state)
    differs = add("diff", difference, "what was added, removed or changed between two moments")
    differs.add_argument("since", metavar="SINCE", help="a date or time")
    differs.add_argument("until", nargs="?", metavar="UNTIL", help="now")
    merged = add(
        "merge", merge, "merge entries that say nearly the same into the first; shows it without --yes"
    )
    merged.add_argument("keep", metavar="ID")
    merged.add_argument("others", nargs="+", metavar="ID", help="are removed")
    merged.add_argument("--kind", choices=KINDS, default="memories", help="memories")
    merged.add_argument("--text", default="", metavar="TEXT", help="instead of the text that is shown")
    merged.add_argument("--yes", action="store_true", help="do it")


def versions(arguments: Namespace, terminal: Terminal) -> int:
    """Print every version of an entry, newest first."""
    with reading(arguments) as memory:
        passages = memory.passages[arguments.kind]
        found = passages.versions(arguments.id)
        text = passages.kind.text
    lines = [
        f"{_moment(one.created_at)}  {one.author or 'unknown'}  {one.via or 'unknown'}  {one.verb}: "
        f"{one.row[text] if one.row else '(removed)'}"
        for one in found
    ]
    return answered([asdict(one) for one in found], arguments, terminal, lines)


def pending(arguments: Namespace, terminal: Terminal) -> int:
    """Print what waits, with what speaks against it."""
    from store.memory.trust import review

    with reading(arguments) as memory:
        found = review.waiting(memory)
    lines = []
    for one in found:
        lines.append(f"{one.entry.id}  {one.entry.kind}  {one.entry.agent}  {one.text}")
        lines += [f"  {flag.why}: {flag.reason}" for flag in one.flags]
    return answered([asdict(one) for one in found], arguments, terminal, lines)


def accept(arguments: Namespace, terminal: Terminal) -> int:
    """Accept what waits under these ids."""
    from store.memory.trust import review

    with writing(arguments, terminal) as memory:
        outcome = review.accept(memory, arguments.ids, actor=arguments.actor or "")
    return _decided(outcome, arguments, terminal)


def reject(arguments: Namespace, terminal: Terminal) -> int:
    """Reject what waits under these ids."""
    from store.memory.trust import review

    with writing(arguments, terminal) as memory:
        outcome = review.reject(memory, arguments.ids, actor=arguments.actor or "")
    return _decided(outcome, arguments, terminal)


def mark(arguments: Namespace, terminal: Terminal) -> int:
    """Pin entries, never recall them, or neither."""
    from store.memory.engine.recall import set_recall

    with writing(arguments, terminal) as memory:
        passages = memory.passages[arguments.kind]
        set_recall(passages, arguments.ids, arguments.state, actor=arguments.actor or "")
    return answered({"done": arguments.ids}, arguments, terminal, arguments.ids)


def merge(arguments: Namespace, terminal: Terminal) -> int:
    """Show the merged text; with --yes, merge."""
    from store.memory.trust import merge as merging

    asked = (arguments.keep, arguments.others)
    if arguments.yes:
        with writing(arguments, terminal) as memory:
            done = merging.merge(
                memory.passages[arguments.kind], *asked, text=arguments.text, actor=arguments.actor or ""
            )
    else:
        with reading(arguments) as memory:
            done = merging.preview(memory.passages[arguments.kind], *asked)
        terminal.say("nothing was changed; --yes merges them into this text")
    return answered(asdict(done), arguments, terminal, [arguments.text or done.text])


def difference(arguments: Namespace, terminal: Terminal) -> int:
    """Print the entries that differ between two moments."""
    from store.memory.engine.inputs import checked_moment
    from store.memory.trust.difference import difference as between

    until = checked_moment(arguments.until) if arguments.until else None
    with reading(arguments) as memory:
        found = between(memory, checked_moment(arguments.since), until)
    lines = []
    for one in found:
        lines.append(f"{one.what}  {one.kind}  {one.id}")
        lines += [f"  {sign} {text}" for sign, text in (("-", one.before), ("+", one.after)) if text]
    return answered([asdict(one) for one in found], arguments, terminal, lines)


def _decided(outcome: "Outcome", arguments: Namespace, terminal: Terminal) -> int:
    said = {"done": outcome.done, "refused": as_json(outcome.refused)}
    answered(said, arguments, terminal, outcome.done)
    return named(outcome.refused, terminal)


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}" if seconds else "unknown"
