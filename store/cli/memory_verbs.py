"""Commands that page, Python and agents have under the same names (`store/memory/verbs/`)."""

import json
from argparse import Namespace
from dataclasses import asdict

from store.cli import memory_queries
from store.cli.memory_edits import writing
from store.cli.memory_queries import answered, reading
from store.cli.output import as_json, named
from store.cli.terminal import Terminal
from store.progress import Progress


def store(arguments: Namespace, terminal: Terminal) -> int:
    """Store a memory, a text of lore or an exchange."""
    from store.memory.engine.errors import InvalidInput
    from store.memory.engine.names import offered
    from store.memory.verbs.verbs import LORE, MEMORIES, SESSIONS, MemoryVerbs

    actor = arguments.actor or ""
    with writing(arguments, terminal) as memory:
        if arguments.kind == MEMORIES and not (arguments.scope or arguments.name):
            done = memory.memories.store_memory(arguments.content, arguments.tags, actor=actor)
            return answered(done, arguments, terminal, [done["memory_id"]])
        if arguments.kind == LORE and not arguments.scope:
            raise InvalidInput(f"--in has to name its world{offered('', memory.lore.names())}")
        if arguments.kind == LORE and not arguments.name:
            raise InvalidInput("--name has to give it a name in its world")
        if arguments.kind == SESSIONS and not arguments.scope:
            raise InvalidInput("--in has to name its session")
        id = MemoryVerbs(memory).store(
            arguments.content, kind=arguments.kind, tags=arguments.tags, scope=arguments.scope,
            name=arguments.name, is_new=arguments.new, actor=actor,
        )  # fmt: skip
    return answered({"id": id}, arguments, terminal, [id])


def list_(arguments: Namespace, terminal: Terminal) -> int:
    """Print a page of the entries of one kind."""
    from store.memory.verbs.verbs import MemoryVerbs

    with reading(arguments) as memory:
        total, rows = MemoryVerbs(memory).list(
            kind=arguments.kind, scope=arguments.scope, words=arguments.words,
            offset=arguments.offset, limit=arguments.n,
        )  # fmt: skip
        text = memory.passages[arguments.kind].kind.text
    terminal.say(f"{len(rows):,} of {total:,} entries")
    lines = [f"{row['id']}  {' '.join(str(row[text]).split())[:120]}" for row in rows]
    return answered({"total": total, "entries": rows}, arguments, terminal, lines)


def show(arguments: Namespace, terminal: Terminal) -> int:
    """Print one entry, with everything that is stored of it but its vector."""
    from store.memory.verbs.verbs import MemoryVerbs

    with reading(arguments) as memory:
        row = MemoryVerbs(memory).show(arguments.id, kind=arguments.kind)
    return answered(row, arguments, terminal, [f"{name}: {value}" for name, value in row.items()])


def edit(arguments: Namespace, terminal: Terminal) -> int:
    """Change an entry's text or a memory's tags."""
    from store.memory.verbs.verbs import MemoryVerbs

    with writing(arguments, terminal) as memory:
        row = MemoryVerbs(memory).edit(
            arguments.id, kind=arguments.kind, text=arguments.text, tags=arguments.tags,
            actor=arguments.actor or "",
        )  # fmt: skip
    return answered(row, arguments, terminal, [row["id"]])


def remove(arguments: Namespace, terminal: Terminal) -> int:
    """Remove entries; undo brings them back. Unknown ones are named with the nearest."""
    from store.memory.verbs.verbs import MemoryVerbs

    with writing(arguments, terminal) as memory:
        outcome = MemoryVerbs(memory).remove(arguments.ids, kind=arguments.kind, actor=arguments.actor or "")
    answered({"done": outcome.done, "refused": as_json(outcome.refused)}, arguments, terminal, outcome.done)
    return named(outcome.refused, terminal)


def redo(arguments: Namespace, terminal: Terminal) -> int:
    """Redo one's own last undo of any kind."""
    with writing(arguments, terminal) as memory:
        outcome = memory.redo(actor=arguments.actor or "")
    terminal.say(f"redone: {len(outcome.done):,} entr{'y' if len(outcome.done) == 1 else 'ies'}")
    answered({"done": outcome.done, "refused": as_json(outcome.refused)}, arguments, terminal, outcome.done)
    return named(outcome.refused, terminal)


def assemble(arguments: Namespace, terminal: Terminal) -> int:
    """Print the context that a model would get for a prompt, and say what is left out and why."""
    from store.memory.verbs.verbs import KINDS, MemoryVerbs

    with reading(arguments) as memory:
        found = MemoryVerbs(memory).assemble(
            arguments.prompt, world=arguments.world, session=arguments.session,
            kinds=arguments.kinds or KINDS,
        )  # fmt: skip
    if not found.chunks:
        terminal.say(
            "nothing was found for it; the lore of a world needs --world, a session's memory --session"
        )
    for section in found.sections:
        if section.context_warning:
            terminal.say(
                f"context_warning: {section.name} has {section.characters:,} characters, more than "
                f"{section.budget:,}; nothing was left out for that"
            )
    for one in found.left_out:
        terminal.say(f"not in it: {one}")
    value = {
        "text": found.text,
        "characters": found.characters,
        "tokens": found.tokens,
        "entries": [{"kind": one.kind, "id": one.row["id"], "score": one.score} for one in found.chunks],
        "left_out": [asdict(one) for one in found.left_out],
    }
    return answered(value, arguments, terminal, found.text.splitlines())


def ask(arguments: Namespace, terminal: Terminal) -> int:
    """Ask a model; print the answer and the entries that it cites. Ctrl-C keeps what came until then."""
    from store.memory.verbs.asking import Answer, configured_model
    from store.memory.verbs.verbs import MemoryVerbs

    model = configured_model(arguments.model)

    def ask_model(progress: Progress) -> Answer:
        progress.what = f"asking {model.name}"
        pieces = MemoryVerbs(memory).ask(
            arguments.question, model=model, world=arguments.world, session=arguments.session,
            chunks=arguments.n, is_stopping=lambda: progress.cancelled,
        )  # fmt: skip
        return [piece for piece in pieces if isinstance(piece, Answer)][-1]

    with reading(arguments) as memory:
        answer = terminal.watch(ask_model)
    cited = [
        f"[{one.number}] {one.kind} {one.id}: {' '.join(one.text.split())[:120]}" for one in answer.citations
    ]
    if not answer.is_whole:
        terminal.say("stopped: the answer is not complete")
    if answer.unknown:
        terminal.say(f"the answer cites entries that it was not given: {answer.unknown}")
    return answered(asdict(answer), arguments, terminal, [*answer.text.splitlines(), "", *cited])


def names(arguments: Namespace, terminal: Terminal) -> int:
    """Print the session keys, protocols or tags, with the number of entries of each."""
    from store.memory.verbs.verbs import MemoryVerbs

    with reading(arguments) as memory:
        verbs = MemoryVerbs(memory)
        counts = {"sessions": verbs.sessions, "protocols": verbs.protocols, "tags": verbs.tags}
        found = counts[arguments.memory_verb]()
    return answered(found, arguments, terminal, [f"{name}: {count:,}" for name, count in found.items()])


def search(arguments: Namespace, terminal: Terminal) -> int:
    """Print the entries of one kind that fit a question best."""
    from store.memory.verbs.verbs import MEMORIES, MemoryVerbs

    if arguments.kind == MEMORIES:
        return memory_queries.search(arguments, terminal)
    with reading(arguments) as memory:
        hits = MemoryVerbs(memory).search(
            arguments.query, kind=arguments.kind, limit=arguments.limit,
            filters=memory_queries.filters_of(arguments),
        )  # fmt: skip
        if note := memory.passages[arguments.kind].not_read(arguments.query):
            terminal.say(note)
        text = memory.passages[arguments.kind].kind.text
    rows = [
        f"{hit['score']:.3f}  {'(near miss)  ' if 'near_miss' in hit else ''}{hit['id']}  {hit[text]}"
        for hit in hits
    ]
    if not hits:
        terminal.say("nothing was found")
    return answered(json.loads(json.dumps(hits, default=str)), arguments, terminal, rows)
