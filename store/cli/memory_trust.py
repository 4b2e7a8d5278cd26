"""Verbs about whom the text memory obeys: versions, what waits, pins, merging, moments, kept contexts."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

from typer import Argument, Option

from store.cli.call import Call
from store.cli.memory import Id, Ids, KindName, decided, verb
from store.memory.values import Recall, WhatIf, checked_moment

Kind = Annotated[KindName, Option(help="memories")]
Waiting = Annotated[list[str], Argument(metavar="ID", help="as `pending` lists it")]


@verb("versions")
def versions(call: Call, id: Id, kind: Kind = KindName.MEMORIES) -> int:
    """Every version of an entry: who wrote it, when, through what."""
    with call.reading_memory(kind) as memory:
        passages = memory.entries(kind)
        found = passages.versions(id)
        text = passages.kind.text
    lines = [
        f"{_moment(one.created_at)}  {one.author or 'unknown'}  {one.via or 'unknown'}  {one.verb}: "
        f"{one.row[text] if one.row else '(removed)'}"
        for one in found
    ]
    return call.answered([asdict(one) for one in found], lines)


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}" if seconds else "unknown"


# -- what agents wrote ------------------------------------------------------------------------------------


@verb("pending")
def pending(call: Call) -> int:
    """What agents wrote and nobody has decided about."""
    with call.reading_memory() as memory:
        found = memory.waiting()
    lines = []
    for one in found:
        lines.append(f"{one.entry.id}  {one.entry.kind}  {one.entry.agent}  {one.text}")
        lines += [f"  {flag.why}: {flag.reason}" for flag in one.flags]
    if not found:
        call.say("nothing waits for review")
    return call.answered([asdict(one) for one in found], lines)


@verb("accept")
def accept(call: Call, ids: Waiting) -> int:
    """Accept what agents wrote."""
    with call.writing_memory() as memory:
        outcome = memory.accept(ids, actor=call.actor)
    return decided(outcome, call)


@verb("reject")
def reject(call: Call, ids: Waiting) -> int:
    """Reject what agents wrote."""
    with call.writing_memory() as memory:
        outcome = memory.reject(ids, actor=call.actor)
    return decided(outcome, call)


# -- what a context may hold ------------------------------------------------------------------------------


@verb("pin")
def pin(call: Call, ids: Ids, kind: Kind = KindName.MEMORIES) -> int:
    """Have entries in every context."""
    return _marked(ids, kind, "pinned", call)


@verb("never-recall")
def never_recall(call: Call, ids: Ids, kind: Kind = KindName.MEMORIES) -> int:
    """Have entries in no context and no answer."""
    return _marked(ids, kind, "never", call)


@verb("recall-again")
def recall_again(call: Call, ids: Ids, kind: Kind = KindName.MEMORIES) -> int:
    """Treat entries as all others again."""
    return _marked(ids, kind, "", call)


def _marked(ids: Sequence[str], kind: str, state: Recall, call: Call) -> int:
    with call.writing_memory() as memory:
        memory.set_recall(ids, state, kind=kind, actor=call.actor)
    return call.answered({"done": ids}, ids)


@verb("merge")
def merge(
    call: Call,
    keep: Id,
    others: Annotated[list[str], Argument(metavar="ID", help="are removed")],
    kind: Kind = KindName.MEMORIES,
    text: Annotated[str, Option(metavar="TEXT", help="instead of the text that is shown")] = "",
    yes: Annotated[bool, Option("--yes", help="do it")] = False,
) -> int:
    """Merge entries that say nearly the same into the first; shows it without --yes."""
    if yes:
        with call.writing_memory() as memory:
            done = memory.merge(keep, others, kind=kind, text=text, actor=call.actor)
    else:
        with call.reading_memory(kind) as memory:
            done = memory.preview_merge(keep, others, kind=kind)
        call.say("nothing was changed; --yes merges them into this text")
    return call.answered(asdict(done), [text or done.text])


@verb("junk")
def junk(call: Call, kind: Kind = KindName.MEMORIES) -> int:
    """The share of entries that repeat, only ask, are contradicted or never recalled, and the ten worst."""
    with call.reading_memory(kind) as memory:
        found = call.watch(lambda progress: memory.junk(kind, progress=progress))
        proposed = {
            one.id: memory.preview_merge(one.merge[0], one.merge[1:], kind=kind).text
            for one in found.worst
            if one.merge
        }
    lines = [f"{found.share:.0%} of {found.entries:,} {kind}".replace("%", " %")]
    lines += [f"  {why}: {count:,}" for why, count in found.parts.items()]
    for one in found.worst:
        lines += [f"{one.id}  {one.text}", *(f"  {reason.why}: {reason.words}" for reason in one.reasons)]
        if one.merge:
            lines.append(f"  memory merge {' '.join(one.merge)} --kind {kind} --yes: {proposed[one.id]}")
    if found.not_counted:
        call.say(found.not_counted)
    worst = [{**asdict(one), "merged": proposed.get(one.id)} for one in found.worst]
    return call.answered({**asdict(found), "share": found.share, "worst": worst}, lines)


@verb("recall-test")
def recall_test(call: Call, kind: Kind = KindName.MEMORIES) -> int:
    """Ask for each entry by its most telling words; lists those not among the first five."""
    with call.reading_memory(kind) as memory:
        found = call.watch(lambda progress: memory.recall_test(kind, progress=progress))
    call.say(f"{len(found.unfound):,} of {found.asked:,} {kind} are not found by their own words")
    lines = [f"{one.id}  {one.text}  (asked: {one.question})" for one in found.unfound]
    return call.answered(asdict(found), lines)


# -- moments and kept contexts ----------------------------------------------------------------------------


@verb("diff")
def diff(
    call: Call,
    since: Annotated[str, Argument(metavar="SINCE", help="a date or time")],
    until: Annotated[str | None, Argument(metavar="UNTIL", help="now")] = None,
) -> int:
    """What was added, removed or changed between two moments."""
    last = checked_moment(until) if until else None
    with call.reading_memory() as memory:
        found = memory.difference(checked_moment(since), last)
    lines = []
    for one in found:
        lines.append(f"{one.what}  {one.kind}  {one.id}")
        lines += [f"  {sign} {text}" for sign, text in (("-", one.before), ("+", one.after)) if text]
    if not found:
        call.say("nothing changed between these moments")
    return call.answered([asdict(one) for one in found], lines)


@verb("contexts")
def contexts(
    call: Call, id: Annotated[str | None, Argument(metavar="ID", help="its beginning is enough")] = None
) -> int:
    """Contexts that were handed out; with an id, what was in one."""
    with call.reading_memory() as memory:
        if id:
            shown = memory.context_entries(memory.context(id))
            lines = [f"{one.score:.3f}  {one.id}  {one.text}" for one in shown]
            return call.answered([asdict(one) for one in shown], lines)
        found = memory.contexts()
    lines = [
        f"{one.id[:8]}  {_moment(one.created_at)}  {one.kind}  {one.agent or one.actor}  {one.question}"
        for one in found
    ]
    return call.answered([asdict(one) for one in found], lines)


@verb("replay")
def replay(
    call: Call,
    id: Annotated[str, Argument(metavar="ID", help="as `contexts` lists it; its beginning is enough")],
    threshold: Annotated[float | None, Option(metavar="PERCENT", help="another minimum score")] = None,
    without: Annotated[list[str] | None, Option(metavar="ID", help="without this entry")] = None,
    chunk: Annotated[
        tuple[int, int] | None, Option(metavar="SIZE OVERLAP", help="of papers, in characters")
    ] = None,
    model: Annotated[str, Option(metavar="NAME", help="embedded by another model")] = "",
) -> int:
    """What a context would have been otherwise."""
    request = WhatIf(threshold=threshold, without=without or [], chunk=chunk, model=model)
    with call.reading_memory() as memory:
        found = memory.replay(memory.context(id), request)
    signs = {"same": " ", "added": "+", "removed": "-"}
    lines = [f"{signs[one.what]} {one.score:.3f}  {one.id}  {one.text}" for one in found]
    return call.answered([asdict(one) for one in found], lines)


@verb("try-chunks")
def try_chunks(
    call: Call,
    id: Annotated[str, Argument(metavar="PROTOCOL/FILE")],
    size: Annotated[int, Option(metavar="N", help="characters (1000)")] = 1000,
    overlap: Annotated[int, Option(metavar="N", help="characters (100)")] = 100,
    question: Annotated[str, Option(metavar="TEXT", help="the passages that fit it best")] = "",
) -> int:
    """A paper's passages with another chunk size; stores nothing."""
    with call.reading_memory() as memory:
        found = memory.try_chunks(id, size=size, overlap=overlap, question=question)
    shown = [{name: value for name, value in row.items() if name != "vector"} for row in found]
    return call.answered(shown, [f"{one['content']}\n" for one in shown])
