"""Commands about whom the text memory obeys: versions, what waits, pins, merging, moments, kept contexts."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from store.cli.memory_edits import KINDS, writing
from store.cli.memory_queries import answered, reading
from store.cli.output import as_json, named
from store.cli.terminal import Terminal

if TYPE_CHECKING:
    from store.outcome import Outcome

Add = Callable[[str, Callable[[Namespace, Terminal], int], str], ArgumentParser]


def add_arguments(add: Add) -> None:
    """Add these commands with their flags."""
    parser = add("versions", versions, "every version of an entry: who wrote it, when, through what")
    parser.add_argument("id", metavar="ID")
    parser.add_argument("--kind", choices=KINDS, default="memories", help="memories")
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
    listed = add("contexts", contexts, "contexts that were handed out; with an id, what was in one")
    listed.add_argument("id", nargs="?", metavar="ID", help="its beginning is enough")
    again = add("replay", replay, "what a context would have been otherwise")
    again.add_argument("id", metavar="ID", help="as `contexts` lists it; its beginning is enough")
    again.add_argument("--threshold", type=float, metavar="PERCENT", help="another minimum score")
    again.add_argument("--without", action="append", default=[], metavar="ID", help="without this entry")
    again.add_argument(
        "--chunk", type=int, nargs=2, metavar=("SIZE", "OVERLAP"), help="of papers, in characters"
    )
    again.add_argument("--model", default="", metavar="NAME", help="embedded by another model")
    tried = add("try-chunks", try_chunks, "a paper's passages with another chunk size; stores nothing")
    tried.add_argument("id", metavar="PROTOCOL/FILE")
    tried.add_argument("--size", type=int, default=1000, metavar="N", help="characters (1000)")
    tried.add_argument("--overlap", type=int, default=100, metavar="N", help="characters (100)")
    tried.add_argument("--question", default="", metavar="TEXT", help="the passages that fit it best")


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
    if not found:
        terminal.say("nothing waits for review")
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

    request = (arguments.keep, arguments.others)
    if arguments.yes:
        with writing(arguments, terminal) as memory:
            done = merging.merge(
                memory.passages[arguments.kind], *request, text=arguments.text, actor=arguments.actor or ""
            )
    else:
        with reading(arguments) as memory:
            done = merging.preview(memory.passages[arguments.kind], *request)
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
    if not found:
        terminal.say("nothing changed between these moments")
    return answered([asdict(one) for one in found], arguments, terminal, lines)


def contexts(arguments: Namespace, terminal: Terminal) -> int:
    """Print the kept contexts, newest first, or what was in one."""
    from store.memory.trust import replay as replaying

    with reading(arguments) as memory:
        if arguments.id:
            shown = replaying.entries(memory, replaying.context(memory, arguments.id))
            lines = [f"{one.score:.3f}  {one.id}  {one.text}" for one in shown]
            return answered([asdict(one) for one in shown], arguments, terminal, lines)
        found = replaying.contexts(memory)
    lines = [
        f"{one.id[:8]}  {_moment(one.created_at)}  {one.kind}  {one.agent or one.actor}  {one.question}"
        for one in found
    ]
    return answered([asdict(one) for one in found], arguments, terminal, lines)


def replay(arguments: Namespace, terminal: Terminal) -> int:
    """Print what a context would have been, beside what it was."""
    from store.memory.trust import replay as replaying

    request = replaying.WhatIf(
        threshold=arguments.threshold,
        without=arguments.without,
        chunk=tuple(arguments.chunk) if arguments.chunk else None,
        model=arguments.model,
    )
    with reading(arguments) as memory:
        found = replaying.replay(memory, replaying.context(memory, arguments.id), request)
    signs = {"same": " ", "added": "+", "removed": "-"}
    lines = [f"{signs[one.what]} {one.score:.3f}  {one.id}  {one.text}" for one in found]
    return answered([asdict(one) for one in found], arguments, terminal, lines)


def try_chunks(arguments: Namespace, terminal: Terminal) -> int:
    """Print a paper's passages with another chunk size.

    Raises UnknownEntry if there is no such paper.
    """
    from store.memory.engine.errors import UnknownEntry
    from store.memory.engine.names import offered
    from store.memory.trust import replay as replaying

    with reading(arguments) as memory:
        known = {one.id: one for one in memory.documents.sources()}
        if arguments.id not in known:
            raise UnknownEntry(f"there is no paper {arguments.id!r}{offered(arguments.id, known)}")
        found = replaying.try_chunks(
            memory, known[arguments.id], size=arguments.size, overlap=arguments.overlap,
            question=arguments.question,
        )  # fmt: skip
    shown = [{name: value for name, value in row.items() if name != "vector"} for row in found]
    return answered(shown, arguments, terminal, [f"{one['content']}\n" for one in shown])


def _decided(outcome: "Outcome", arguments: Namespace, terminal: Terminal) -> int:
    result = {"done": outcome.done, "refused": as_json(outcome.refused)}
    answered(result, arguments, terminal, outcome.done)
    return named(outcome.refused, terminal)


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}" if seconds else "unknown"
