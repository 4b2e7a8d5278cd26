"""Commands that query the text memory; none of them writes."""

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.cli.open_library import root_of
from store.cli.output import as_json, named
from store.cli.terminal import Terminal, plain
from store.disk.files import absolute
from store.errors import CatalogDamaged

if TYPE_CHECKING:
    from store.memory.engine.fusion import PassageHit
    from store.memory.engine.passages import Passages
    from store.memory.memories import FoundMemory
    from store.memory.memory import Memory
    from store.memory.verbs.searching import SearchFilters

# What a verb without --kind reads.
_KINDS = {
    "lore": "world_lore", "recall": "session_memory", "documents": "documents",
    "transcripts": "transcripts", "events": "transcripts",
}  # fmt: skip


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
        path = absolute(arguments.path)
        outcome = write(memory, path, kinds=arguments.kinds, model=arguments.vectors)
    done = {"path": str(path), "done": outcome.done, "refused": as_json(outcome.refused)}
    terminal.say(f"exported {len(outcome.done):,} entries to {path}")
    answered(done, arguments, terminal, [])
    return named(outcome.refused, terminal)


def search(arguments: Namespace, terminal: Terminal) -> int:
    """Print the most relevant memories, and near misses if they are asked for."""
    with reading(arguments) as memory:
        filters = filters_of(arguments)
        found = memory.memories.search_memory(
            arguments.query, arguments.limit, threshold=filters.min_score, near_misses=filters.near_misses,
            mmr=filters.mmr, where=filters.where(memory.memories.passages),
        )  # fmt: skip
        least = memory.memories.threshold if arguments.threshold is None else arguments.threshold
    rows = [_memory_line(hit) for hit in found["results"]]
    if not found["query_embedding_generated"]:
        terminal.say("the model is away: words alone were compared")
    if "note" in found:
        terminal.say(found["note"])
    if not rows:
        terminal.say(f"no memory is relevant to at least {least:g} %")
    misses = found.get("near_misses", [])
    if misses and not getattr(arguments, "json", False):
        rows += [f"below {least:g} %:", *map(_memory_line, misses)]
    return answered(found, arguments, terminal, rows)


def filters_of(arguments: Namespace) -> "SearchFilters":
    """The filters of `memory search`."""
    from store.memory.engine.inputs import checked_moment
    from store.memory.verbs.searching import SearchFilters

    since, until = (checked_moment(at) if at else None for at in (arguments.since, arguments.until))
    return SearchFilters(
        section=arguments.section,
        scope=arguments.scope, user=arguments.user, project=arguments.project, tags=arguments.tags,
        since=since, until=until, min_score=arguments.threshold, mmr=arguments.mmr,
        near_misses=arguments.near_misses,
    )  # fmt: skip


def _memory_line(hit: "FoundMemory") -> str:
    by = "  (by words)" if hit.get("found_by") else ""
    return f"{hit['relevance_score']:5.1f} %{by}  {hit['memory_id']}  {hit['content']}"


def lore(arguments: Namespace, terminal: Terminal) -> int:
    """Print what is known of a world."""
    from store.memory.engine.inputs import MOST_CHARS, checked_count

    with reading(arguments) as memory:
        memory.lore.check_known(arguments.world)
        _say_if_not_read(memory.lore.passages, arguments.query, terminal)
        most = checked_count(arguments.max_chars, what="--max-chars", most=MOST_CHARS)
        found = memory.lore.search(arguments.world, arguments.query, n=arguments.n)
    return _scored(found, arguments, terminal, most=most)


def recall(arguments: Namespace, terminal: Terminal) -> int:
    """Print what a character remembers."""
    from store.memory.engine.inputs import MOST_CHARS, checked_count

    with reading(arguments) as memory:
        memory.sessions.check_known(arguments.key)
        _say_if_not_read(memory.sessions.passages, arguments.query, terminal)
        most = checked_count(arguments.max_chars, what="--max-chars", most=MOST_CHARS)
        found = memory.sessions.search(arguments.key, arguments.query, n=arguments.n)
    return _scored(found, arguments, terminal, most=most)


def documents(arguments: Namespace, terminal: Terminal) -> int:
    """Print the passages of papers nearest to a question."""
    from store.memory.documents.documents import pages_of

    with reading(arguments) as memory:
        found: Any
        memory.documents.check_known(arguments.protocols or (), arguments.section)
        _say_if_not_read(memory.documents.passages, arguments.query, terminal)
        if arguments.compare:
            names = arguments.protocols or [*memory.documents.protocols()]
            found = memory.documents.compare(arguments.query, names, arguments.n, section=arguments.section)
            hits = [hit for some in found.values() for hit in some]
        else:
            found = hits = memory.documents.search(
                arguments.query, arguments.n, protocol=arguments.protocols, section=arguments.section
            )
    if hits and all("near_miss" in hit for hit in hits):
        terminal.say("no passage answers this; closest:")
    rows = [
        f"{hit['score']:.3f} {'(near miss) ' if 'near_miss' in hit else ''}{_parts(hit)}  "
        f"{hit['metadata']['protocol']}  {hit['metadata']['source']}, "
        f"{pages_of(hit['metadata'])}{_section(hit['metadata'])}  {hit['content']}"
        for hit in hits
    ]
    if not rows:
        terminal.say("no paper of these protocols is there; import one with import-document")
    return answered(found, arguments, terminal, rows)


def transcripts(arguments: Namespace, terminal: Terminal) -> int:
    """Print messages of recorded sessions."""
    from store.memory.engine.inputs import checked_moment

    since, until = (checked_moment(at) if at else None for at in (arguments.since, arguments.until))
    with reading(arguments) as memory:
        memory.transcripts.check_known(session_id=arguments.session, project_slug=arguments.project)
        _say_if_not_read(memory.transcripts.passages, arguments.query, terminal)
        hits = memory.transcripts.search(
            arguments.query, mode=arguments.mode, content_types=arguments.types, n=arguments.n,
            user_id=arguments.user, session_id=arguments.session, project_slug=arguments.project,
            since=since, until=until, min_score=arguments.min_score, mmr=arguments.mmr,
        )  # fmt: skip
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
    from store.memory.engine.errors import UnknownEntry
    from store.memory.transcripts.events import EventFilter

    filter = EventFilter(
        event=arguments.event, tool_name=arguments.tool, lvl=arguments.level, session_id=arguments.session,
        error_type=arguments.error_type, model_used=arguments.model, project_slug=arguments.project,
        since=arguments.since, until=arguments.until,
    )  # fmt: skip
    with reading(arguments) as memory:
        total = memory.transcripts.count_events(filter)
        found = memory.transcripts.find_events(filter, offset=arguments.offset, limit=arguments.n)
        try:
            memory.transcripts.check_known_events(filter)
        except UnknownEntry as error:
            terminal.say(str(error))
    rows = [
        f"{row['ts']}  {row['lvl'] or '-'}  {row['event']}  {row['tool_name'] or ''}  {row['session_id']}"
        for row in found
    ]
    terminal.say(f"{len(found):,} of {total:,} events")
    return answered(found, arguments, terminal, rows)


def check_there_is_one(root: Path) -> None:
    """Raises UnknownEntry if there is no text memory: a mistyped --root must not make one."""
    from store.memory.engine.errors import UnknownEntry
    from store.memory.engine.places import Places

    if not Places(root).folder.is_dir():
        raise UnknownEntry(f"there is no text memory in {root}; --root names another place")


@contextmanager
def reading(arguments: Namespace) -> Iterator["Memory"]:
    """The text memory for reading, as of the moment of `--as-of` if it is given."""
    from store.memory.engine.inputs import checked_moment
    from store.memory.memory import Memory

    root = root_of(arguments)
    check_there_is_one(root)
    with Memory.open_for_reading(root) as memory:
        kind = getattr(arguments, "kind", _KINDS.get(arguments.memory_verb))
        if fault := memory.status().faults.get(kind or ""):  # an empty answer would not be true
            raise CatalogDamaged(fault)
        if moment := getattr(arguments, "as_of", ""):
            with memory.as_of(checked_moment(moment)) as past:
                yield past
        else:
            yield memory


def _scored(found: list["PassageHit"], arguments: Namespace, terminal: Terminal, *, most: int) -> int:
    characters = sum(len(hit.row["text"]) for hit in found)
    if characters > most:
        terminal.say(f"context_warning: {characters:,} characters, more than {most:,}; nothing was left out")
    if any(hit.cosine is None for hit in found):
        terminal.say("the model is away: words alone were compared")
    rows = [f"{hit.score:.3f} {_parts(hit.parts())}  {hit.row['id']}  {hit.row['text']}" for hit in found]
    shown = [{**hit.row, "score": hit.score, **hit.parts()} for hit in found]
    return answered(shown, arguments, terminal, rows)


def _say_if_not_read(passages: "Passages", query: str, terminal: Terminal) -> None:
    if note := passages.not_read(query):
        terminal.say(note)


def _section(metadata: dict[str, Any]) -> str:
    return f" ({metadata['section']})" if metadata.get("section") else ""


def _parts(parts: dict[str, Any]) -> str:
    """What meaning and words gave to a hit, such as "(meaning 0.412, words 0.50)"."""
    meaning = "-" if parts["meaning"] is None else f"{parts['meaning']:.3f}"
    late = f", late interaction {parts['late_interaction']:.3f}" if "late_interaction" in parts else ""
    return f"(meaning {meaning}, words {parts['words']:.2f}{late})"


def answered(value: Any, arguments: Namespace, terminal: Terminal, rows: list[str]) -> int:
    """Print a value as JSON if `--json` is given, else these rows; returns exit status 0."""
    if getattr(arguments, "json", False):
        terminal.answer_json(json.loads(json.dumps(value, default=str)))
    else:
        for row in rows:
            terminal.answer(plain(row))
    return 0
