"""The text memory on the command line: `python -m store memory VERB …`.

`add_arguments` hangs these verbs below the parser of `memory`; each sets the `run` that carries it out.
"""

import argparse
import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.commands.opening import root_of
from store.commands.reporting import as_json, named
from store.commands.terminal import Terminal, plain

if TYPE_CHECKING:
    from store.memory import Memory

_PATIENCE = 330.0  # seconds in which Chroma may catch up

Run = Callable[[Namespace, Terminal], int]


def add_arguments(memory: ArgumentParser) -> None:
    """Every verb of the text memory and its flags."""
    verbs = memory.add_subparsers(dest="memory_verb", required=True, metavar="VERB", title="verbs")

    def add(verb: str, run: Run, meaning: str) -> ArgumentParser:
        added = verbs.add_parser(
            verb, help=meaning, description=f"memory {verb}: {meaning}", allow_abbrev=False
        )
        added.add_argument("--root", type=Path, default=argparse.SUPPRESS, metavar="DIR")
        added.add_argument("--who", default=argparse.SUPPRESS, metavar="NAME")
        added.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
        added.set_defaults(run=run, parser=added)
        return added

    add("demo", demo, "take in a few made-up worlds, sessions, memories, papers and transcripts")
    add("status", status, "how much there is of each kind, and by which model")
    stored = add("store", store, "remember a text")
    stored.add_argument("content", metavar="TEXT")
    stored.add_argument("--tag", action="append", default=[], dest="tags", metavar="T", help="at most 10")
    searched = add("search", search, "the most relevant memories")
    searched.add_argument("query", metavar="TEXT")
    searched.add_argument("--limit", type=int, default=5, metavar="N", help="1 to 20 (5)")

    asked = add("lore", lore, "what is known of a world")
    asked.add_argument("world", metavar="WORLD")
    asked.add_argument("query", metavar="TEXT")
    asked.add_argument("-n", type=int, default=3, metavar="N", help="how many chunks (3)")
    worlds_ = add("worlds", worlds, "the worlds; with a folder, take in its YAML files")
    worlds_.add_argument("folder", nargs="?", type=Path, metavar="DIR")
    recalled = add("recall", recall, "what a character remembers of a session")
    recalled.add_argument("key", metavar="CHARACTER_SESSION")
    recalled.add_argument("query", metavar="TEXT")
    recalled.add_argument("-n", type=int, default=3, metavar="N", help="how many exchanges (3)")
    forgotten = add("forget-session", forget_session, "delete a session's memory for good, from every file")
    forgotten.add_argument("keys", nargs="+", metavar="CHARACTER_SESSION")

    paper = add("import-document", import_document, "take in papers of a protocol: PDF, Markdown, text")
    paper.add_argument("paths", nargs="+", type=Path, metavar="FILE")
    paper.add_argument("--protocol", required=True, metavar="NAME")
    papers = add("documents", documents, "the passages of papers nearest to a question")
    papers.add_argument("query", metavar="TEXT")
    papers.add_argument(
        "--protocol", action="append", dest="protocols", metavar="NAME", help="may be repeated"
    )
    papers.add_argument("-n", type=int, default=5, metavar="N", help="how many (5)")
    papers.add_argument("--compare", action="store_true", help="as many for each protocol, side by side")

    sessions = add("import-transcripts", import_transcripts, "take in recorded sessions")
    sessions.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    found = add("transcripts", transcripts, "messages of recorded sessions")
    found.add_argument("query", metavar="TEXT")
    found.add_argument("--mode", choices=("hybrid", "semantic", "full_text"), default="hybrid")
    found.add_argument("--type", action="append", default=[], dest="types", metavar="T", help="content type")
    found.add_argument("-n", type=int, default=10, metavar="N", help="how many (10)")
    checked = add("doctor", doctor, "check files, full text, vectors and Chroma")
    checked.add_argument("--repair", action="store_true", help="mend what can be mended, losing nothing")


def demo(arguments: Namespace, terminal: Terminal) -> int:
    """Take in the demo; what is there already stays."""
    from store.memory import demo as made_up

    with _writing(arguments, terminal) as memory:
        counts = terminal.watch(lambda progress: made_up.load(memory, progress=progress))
    return _answer(counts, arguments, terminal, [f"{name}: {count:,}" for name, count in counts.items()])


def status(arguments: Namespace, terminal: Terminal) -> int:
    """Counts, models, and what is left to do."""
    with _reading(arguments) as memory:
        found = asdict(memory.status())
    return _answer(
        found, arguments, terminal, [f"{name}: {count:,}" for name, count in found["counts"].items()]
    )


def store(arguments: Namespace, terminal: Terminal) -> int:
    """Remember a text."""
    with _writing(arguments, terminal) as memory:
        done = memory.memories.store_memory(arguments.content, arguments.tags, who=arguments.who or "")
    return _answer(done, arguments, terminal, [done["memory_id"]])


def search(arguments: Namespace, terminal: Terminal) -> int:
    """The most relevant memories."""
    with _reading(arguments) as memory:
        found = memory.memories.search_memory(arguments.query, limit=arguments.limit)
    rows = [
        f"{hit['relevance_score']:5.1f} %  {hit['memory_id']}  {hit['content']}" for hit in found["results"]
    ]
    return _answer(found, arguments, terminal, rows)


def lore(arguments: Namespace, terminal: Terminal) -> int:
    """What is known of a world."""
    with _reading(arguments) as memory:
        found = memory.lore.search(arguments.world, arguments.query, n=arguments.n)
    return _scored(found, arguments, terminal)


def recall(arguments: Namespace, terminal: Terminal) -> int:
    """What a character remembers."""
    with _reading(arguments) as memory:
        found = memory.sessions.search(arguments.key, arguments.query, n=arguments.n)
    return _scored(found, arguments, terminal)


def worlds(arguments: Namespace, terminal: Terminal) -> int:
    """The worlds; with a folder, its files are copied to where worlds are kept, and taken in."""
    refused = []
    if arguments.folder:
        from store.files import Disk

        with _writing(arguments, terminal) as memory:
            for path in sorted(arguments.folder.glob("*.y*ml")):
                Disk().replace(memory.places.worlds / path.name, path.read_bytes())
            report = memory.lore.load_worlds(memory.places.worlds, who=arguments.who or "")
        refused = report.refused
        terminal.say(f"took in {len(report.done):,} worlds, refused {len(refused):,}")
    with _reading(arguments) as memory:
        found = [{"id": world.id, "name": world.name, "file": world.file} for world in memory.lore.worlds()]
    _answer(found, arguments, terminal, [f"{world['id']}  {world['name']}" for world in found])
    return named(refused, terminal)


def forget_session(arguments: Namespace, terminal: Terminal) -> int:
    """Delete for good."""
    with _writing(arguments, terminal) as memory:
        gone = {key: memory.sessions.delete_session_memory(key) for key in arguments.keys}
    return _answer(gone, arguments, terminal, [f"{key}: {count:,} deleted" for key, count in gone.items()])


def import_document(arguments: Namespace, terminal: Terminal) -> int:
    """Take in papers; what cannot be read is named, the rest is taken."""
    from store.errors import BadSource
    from store.importing.candidate import Refusal

    done, refused = [], []
    with _writing(arguments, terminal) as memory:
        for path in arguments.paths:
            try:
                source = memory.documents.import_document(
                    path, protocol=arguments.protocol, who=arguments.who or ""
                )
                done.append(asdict(source))
            except BadSource as error:
                refused.append(Refusal(path.name, str(error)))
    _answer(
        {"done": done, "refused": as_json(refused)},
        arguments,
        terminal,
        [f"{one['id']}: {one['pages']:,} pages" for one in done],
    )
    return named(refused, terminal)


def documents(arguments: Namespace, terminal: Terminal) -> int:
    """The passages of papers nearest to a question."""
    with _reading(arguments) as memory:
        found: Any
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
    return _answer(found, arguments, terminal, rows)


def import_transcripts(arguments: Namespace, terminal: Terminal) -> int:
    """Take in recorded sessions; again, only what is new."""
    with _writing(arguments, terminal) as memory:
        report = terminal.watch(
            lambda progress: memory.transcripts.import_sessions(arguments.paths, progress=progress)
        )
    terminal.say(
        f"{len(report.sessions):,} sessions: {report.messages:,} new messages, {report.changed:,} changed, "
        f"{report.events:,} new events, {report.present:,} were there"
    )
    if getattr(arguments, "json", False):
        terminal.answer_json({**asdict(report), "refused": as_json(report.refused)})
    return named(report.refused, terminal)


def transcripts(arguments: Namespace, terminal: Terminal) -> int:
    """Messages of recorded sessions."""
    with _reading(arguments) as memory:
        hits = memory.transcripts.search(
            arguments.query, mode=arguments.mode, content_types=arguments.types, n=arguments.n
        )
    rows = [
        f"{hit.score:.3f}  {hit.message['session_id']} {hit.message['sequence']}  "
        f"{(hit.chunk or {}).get('source_text') or hit.message['text_content'] or ''}"
        for hit in hits
    ]
    return _answer([asdict(hit) for hit in hits], arguments, terminal, rows)


def doctor(arguments: Namespace, terminal: Terminal) -> int:
    """Say what is wrong, and mend it if asked; status 0 when all is well."""
    from store.memory import doctor as checking

    with _writing(arguments, terminal) as memory:
        memory.wait_for_chroma(_PATIENCE)
        found = checking.repair(memory) if arguments.repair else checking.check(memory)
    for finding in found:
        terminal.say(f"{finding.kind}: {finding.what} ({finding.remedy})")
    _answer({"well": not found, "findings": [asdict(one) for one in found]}, arguments, terminal, [])
    if not found:
        terminal.say("all is well")
    return 1 if found else 0


@contextmanager
def _reading(arguments: Namespace) -> Iterator["Memory"]:
    from store.memory import Memory, Places, UnknownEntry

    root = root_of(arguments)
    if not Places(root).folder.is_dir():  # a mistyped --root must not make one
        raise UnknownEntry(f"there is no text memory in {root}; --root names another place")
    with Memory.open_for_reading(root) as memory:
        yield memory


@contextmanager
def _writing(arguments: Namespace, terminal: Terminal) -> Iterator["Memory"]:
    """On leaving, Chroma has caught up or is said to be behind."""
    from store.memory import Memory

    with Memory.open(root_of(arguments)) as memory:
        yield memory
        if not memory.wait_for_chroma(_PATIENCE):
            found = memory.status()
            terminal.say(f"Chroma is {found.chroma_behind:,} entries behind {found.chroma_fault}".rstrip())


def _scored(found: list[tuple[dict[str, Any], float]], arguments: Namespace, terminal: Terminal) -> int:
    rows = [f"{score:.3f}  {row['id']}  {row['text']}" for row, score in found]
    return _answer([{**row, "score": score} for row, score in found], arguments, terminal, rows)


def _answer(value: Any, arguments: Namespace, terminal: Terminal, rows: list[str]) -> int:
    if getattr(arguments, "json", False):
        terminal.answer_json(json.loads(json.dumps(value, default=str)))
    else:
        for row in rows:
            terminal.answer(plain(row))
    return 0
