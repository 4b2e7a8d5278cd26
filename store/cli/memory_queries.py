"""Commands that query the text memory; none of them writes."""

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from store.cli.open_library import root_of
from store.cli.output import as_json, named
from store.cli.terminal import Terminal, plain

if TYPE_CHECKING:
    from store.memory.memory import Memory


def status(arguments: Namespace, terminal: Terminal) -> int:
    """Print counts, models, and what is left to do."""
    with reading(arguments) as memory:
        found = asdict(memory.status())
    for one in found["moved_aside"]:  # a kind that cannot be used is named on every opening
        terminal.say(one)
    return answered(
        found, arguments, terminal, [f"{name}: {count:,}" for name, count in found["counts"].items()]
    )


def export(arguments: Namespace, terminal: Terminal) -> int:
    """Write entries in the layout of their reference."""
    from store.memory.exporting.export import export as write

    with reading(arguments) as memory:
        path = arguments.path.expanduser().resolve()
        outcome = write(memory, path, kinds=arguments.kinds, model=arguments.vectors)
    done = {"path": str(path), "done": outcome.done, "refused": as_json(outcome.refused)}
    terminal.say(f"exported {len(outcome.done):,} entries to {path}")
    answered(done, arguments, terminal, [])
    return named(outcome.refused, terminal)


def search(arguments: Namespace, terminal: Terminal) -> int:
    """Print the most relevant memories."""
    from store.memory.memories import RELEVANT

    with reading(arguments) as memory:
        found = memory.memories.search_memory(arguments.query, limit=arguments.limit)
    rows = [
        f"{hit['relevance_score']:5.1f} %  {hit['memory_id']}  {hit['content']}" for hit in found["results"]
    ]
    if not rows:
        terminal.say(f"no memory is relevant to at least {RELEVANT:g} %")
    return answered(found, arguments, terminal, rows)


def lore(arguments: Namespace, terminal: Terminal) -> int:
    """Print what is known of a world."""
    from store.memory.engine.inputs import MOST_CHARS, checked_count

    with reading(arguments) as memory:
        memory.lore.check_known(arguments.world)
        most = checked_count(arguments.max_chars, what="--max-chars", most=MOST_CHARS)
        found = memory.lore.search(arguments.world, arguments.query, n=arguments.n)
    return _scored(found, arguments, terminal, most=most)


def recall(arguments: Namespace, terminal: Terminal) -> int:
    """Print what a character remembers."""
    from store.memory.engine.inputs import MOST_CHARS, checked_count

    with reading(arguments) as memory:
        memory.sessions.check_known(arguments.key)
        most = checked_count(arguments.max_chars, what="--max-chars", most=MOST_CHARS)
        found = memory.sessions.search(arguments.key, arguments.query, n=arguments.n)
    return _scored(found, arguments, terminal, most=most)


def documents(arguments: Namespace, terminal: Terminal) -> int:
    """Print the passages of papers nearest to a question."""
    with reading(arguments) as memory:
        found: Any
        memory.documents.check_known(arguments.protocols or ())
        if arguments.compare:
            names = arguments.protocols or [*memory.documents.protocols()]
            found = memory.documents.compare(arguments.query, names, arguments.n)
            hits = [hit for some in found.values() for hit in some]
        else:
            found = hits = memory.documents.search(arguments.query, arguments.n, protocol=arguments.protocols)
    rows = [
        f"{hit['score']:.3f}  {hit['metadata']['protocol']}  {hit['metadata']['source']}, "
        f"page {hit['metadata']['page']}  {hit['content']}"
        for hit in hits
    ]
    if not rows:
        terminal.say("no paper of these protocols is there; import-document takes one in")
    return answered(found, arguments, terminal, rows)


def transcripts(arguments: Namespace, terminal: Terminal) -> int:
    """Print messages of recorded sessions."""
    with reading(arguments) as memory:
        hits = memory.transcripts.search(
            arguments.query, mode=arguments.mode, content_types=arguments.types, n=arguments.n
        )
    rows = [
        f"{hit.score:.3f}  {hit.message['session_id']} {hit.message['sequence']}  "
        f"{(hit.chunk or {}).get('source_text') or hit.message['text_content'] or ''}"
        for hit in hits
    ]
    if not hits:
        terminal.say("no message was found")
    return answered([asdict(hit) for hit in hits], arguments, terminal, rows)


def events(arguments: Namespace, terminal: Terminal) -> int:
    """Print events of recorded sessions that match the filters, newest first."""
    from store.memory.transcripts.events import EventFilter

    asked = EventFilter(
        event=arguments.event, tool_name=arguments.tool, lvl=arguments.level, session_id=arguments.session,
        project_slug=arguments.project, since=arguments.since, until=arguments.until,
    )  # fmt: skip
    with reading(arguments) as memory:
        total = memory.transcripts.count_events(asked)
        found = memory.transcripts.find_events(asked, offset=arguments.offset, limit=arguments.n)
    rows = [
        f"{row['ts']}  {row['lvl'] or '-'}  {row['event']}  {row['tool_name'] or ''}  {row['session_id']}"
        for row in found
    ]
    terminal.say(f"{len(found):,} of {total:,} events")
    return answered(found, arguments, terminal, rows)


@contextmanager
def reading(arguments: Namespace) -> Iterator["Memory"]:
    from store.memory.engine.errors import UnknownEntry
    from store.memory.engine.places import Places
    from store.memory.memory import Memory

    root = root_of(arguments)
    if not Places(root).folder.is_dir():  # a mistyped --root must not make one
        raise UnknownEntry(f"there is no text memory in {root}; --root names another place")
    with Memory.open_for_reading(root) as memory:
        yield memory


def _scored(
    found: list[tuple[dict[str, Any], float]], arguments: Namespace, terminal: Terminal, *, most: int
) -> int:
    characters = sum(len(row["text"]) for row, _ in found)
    if characters > most:
        terminal.say(f"context_warning: {characters:,} characters, more than {most:,}; nothing was left out")
    rows = [f"{score:.3f}  {row['id']}  {row['text']}" for row, score in found]
    return answered([{**row, "score": score} for row, score in found], arguments, terminal, rows)


def answered(value: Any, arguments: Namespace, terminal: Terminal, rows: list[str]) -> int:
    if getattr(arguments, "json", False):
        terminal.answer_json(json.loads(json.dumps(value, default=str)))
    else:
        for row in rows:
            terminal.answer(plain(row))
    return 0
