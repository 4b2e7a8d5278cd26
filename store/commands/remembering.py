"""The text memory on the command line: `python -m store memory VERB …`.

`add_arguments` hangs these verbs below the parser of `memory`; each sets the `run` that carries it out.
"""

import argparse
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from store.commands.opening import root_of, typed_path
from store.commands.recalling import (
    answered,
    documents,
    events,
    lore,
    reading,
    recall,
    search,
    status,
    transcripts,
)
from store.commands.reporting import as_json, named
from store.commands.terminal import Terminal
from store.errors import BadSource
from store.progress import Progress

if TYPE_CHECKING:
    from store.memory import Memory

_PATIENCE = 330.0  # seconds in which Chroma may catch up

_KINDS = ("memories", "documents", "world_lore", "session_memory", "transcript_vectors")
_STRUCTURE = {
    "event": "type", "tool": "name of the tool", "level": "such as ERROR", "session": "id of the session",
    "project": "of the session", "since": "date or time", "until": "date or time, included",
}  # fmt: skip

Run = Callable[[Namespace, Terminal], int]


def add_arguments(memory: ArgumentParser) -> None:
    """Every verb of the text memory and its flags."""
    verbs = memory.add_subparsers(dest="memory_verb", required=True, metavar="VERB", title="verbs")

    def add(verb: str, run: Run, meaning: str) -> ArgumentParser:
        added = verbs.add_parser(
            verb, help=meaning, description=f"memory {verb}: {meaning}", allow_abbrev=False
        )
        added.add_argument("--root", type=typed_path, default=argparse.SUPPRESS, metavar="DIR")
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
    asked.add_argument("--max-chars", type=int, default=1000, metavar="N", help="warn above (1000)")
    told = add("add-lore", add_lore, "add a text to a world, in place of the one with the same name")
    told.add_argument("world", metavar="WORLD")
    told.add_argument("name", metavar="NAME")
    told.add_argument("text", metavar="TEXT")
    worlds_ = add("worlds", worlds, "the worlds; with a folder, take in its YAML files")
    worlds_.add_argument("folder", nargs="?", type=typed_path, metavar="DIR")
    recalled = add("recall", recall, "what a character remembers of a session")
    recalled.add_argument("key", metavar="CHARACTER_SESSION")
    recalled.add_argument("query", metavar="TEXT")
    recalled.add_argument("-n", type=int, default=3, metavar="N", help="how many exchanges (3)")
    recalled.add_argument("--max-chars", type=int, default=1500, metavar="N", help="warn above (1500)")
    exchanged = add("add-memory", add_memory, "remember what was said in a session")
    exchanged.add_argument("key", metavar="CHARACTER_SESSION")
    exchanged.add_argument("prompt", metavar="PROMPT")
    exchanged.add_argument("answer", metavar="ANSWER")
    forgotten = add("forget-session", forget_session, "delete a session's memory for good, from every file")
    forgotten.add_argument("keys", nargs="+", metavar="CHARACTER_SESSION")

    paper = add("import-document", import_document, "take in papers of a protocol: PDF, Markdown, text")
    paper.add_argument("paths", nargs="+", type=typed_path, metavar="FILE")
    paper.add_argument("--protocol", required=True, metavar="NAME")
    papers = add("documents", documents, "the passages of papers nearest to a question")
    papers.add_argument("query", metavar="TEXT")
    papers.add_argument(
        "--protocol", action="append", dest="protocols", metavar="NAME", help="may be repeated"
    )
    papers.add_argument("-n", type=int, default=5, metavar="N", help="how many (5)")
    papers.add_argument("--compare", action="store_true", help="as many for each protocol, side by side")

    sessions = add("import-transcripts", import_transcripts, "take in recorded sessions")
    sessions.add_argument("paths", nargs="+", type=typed_path, metavar="PATH")
    found = add("transcripts", transcripts, "messages of recorded sessions")
    found.add_argument("query", metavar="TEXT")
    found.add_argument("--mode", choices=("hybrid", "semantic", "full_text"), default="hybrid")
    found.add_argument("--type", action="append", default=[], dest="types", metavar="T", help="content type")
    found.add_argument("-n", type=int, default=10, metavar="N", help="how many (10)")
    happened = add("events", events, "events of recorded sessions, by their structure")
    for name, meaning in _STRUCTURE.items():
        happened.add_argument(f"--{name}", metavar="X", help=meaning)
    happened.add_argument("-n", type=int, default=100, metavar="N", help="how many (100)")
    happened.add_argument("--offset", type=int, default=0, metavar="N", help="after how many newer ones (0)")

    add("undo", undo, "take back your last decision about the text memory")
    embedded = add("model", model, "the models in use; with a name, embed everything anew with that one")
    embedded.add_argument("name", nargs="?", metavar="NAME")
    embedded.add_argument("--kind", choices=_KINDS, help="one kind of memory alone")
    checked = add("doctor", doctor, "check files, full text, vectors and Chroma")
    checked.add_argument("--repair", action="store_true", help="mend what can be mended, losing nothing")


def demo(arguments: Namespace, terminal: Terminal) -> int:
    """Take in the demo; what is there already stays."""
    from store.memory import demo as made_up

    with _writing(arguments, terminal) as memory:
        counts = terminal.watch(lambda progress: made_up.load(memory, progress=progress))
    return answered(counts, arguments, terminal, [f"{name}: {count:,}" for name, count in counts.items()])


def store(arguments: Namespace, terminal: Terminal) -> int:
    """Remember a text."""
    with _writing(arguments, terminal) as memory:
        done = memory.memories.store_memory(arguments.content, arguments.tags, who=arguments.who or "")
    return answered(done, arguments, terminal, [done["memory_id"]])


def add_lore(arguments: Namespace, terminal: Terminal) -> int:
    """Add a text to a world."""
    with _writing(arguments, terminal) as memory:
        memory.lore.add_lore(arguments.world, arguments.name, arguments.text, who=arguments.who or "")
    id = f"{arguments.world}_{arguments.name}"
    return answered({"id": id}, arguments, terminal, [id])


def add_memory(arguments: Namespace, terminal: Terminal) -> int:
    """Remember an exchange under a key, with an id of its own."""
    from uuid import uuid4

    from store.memory import exchange

    name, text = str(uuid4()), exchange(arguments.prompt, arguments.answer)
    with _writing(arguments, terminal) as memory:
        memory.sessions.add_memory(arguments.key, name, text, who=arguments.who or "")
    id = f"{arguments.key}_{name}"
    return answered({"id": id}, arguments, terminal, [id])


def undo(arguments: Namespace, terminal: Terminal) -> int:
    """Take back one's own last decision of any kind; what was changed since is named."""
    with _writing(arguments, terminal) as memory:
        outcome = memory.undo(who=arguments.who or "")
    terminal.say(f"taken back: {len(outcome.done):,} entr{'y' if len(outcome.done) == 1 else 'ies'}")
    answered({"done": outcome.done, "refused": as_json(outcome.refused)}, arguments, terminal, outcome.done)
    return named(outcome.refused, terminal)


def model(arguments: Namespace, terminal: Terminal) -> int:
    """Embed one kind, or all, with another model; the old vectors stay until the new ones are complete."""
    if arguments.name:
        from store.embedding import open_embedder

        embedder = open_embedder(arguments.name)
        kinds = [arguments.kind] if arguments.kind else _KINDS

        def embed(progress: Progress) -> None:
            for kind in kinds:
                memory.passages[kind].embed_all(embedder, progress=progress)

        with _writing(arguments, terminal) as memory:
            terminal.watch(embed)
    with reading(arguments) as memory:
        models = {kind: memory.passages[kind].model for kind in _KINDS}
    return answered(models, arguments, terminal, [f"{kind}: {name}" for kind, name in models.items()])


def worlds(arguments: Namespace, terminal: Terminal) -> int:
    """The worlds; with a folder, its files are copied to where worlds are kept, and taken in."""
    refused = []
    if arguments.folder:
        from store.files import Disk

        if not arguments.folder.is_dir():
            raise BadSource(f"there is no folder {arguments.folder}")
        with _writing(arguments, terminal) as memory:
            for path in sorted(arguments.folder.glob("*.y*ml")):
                Disk().replace(memory.places.worlds / path.name, path.read_bytes())
            report = memory.lore.load_worlds(memory.places.worlds, who=arguments.who or "")
        refused = report.refused
        terminal.say(f"took in {len(report.done):,} worlds, refused {len(refused):,}")
    with reading(arguments) as memory:
        found = [{"id": world.id, "name": world.name, "file": world.file} for world in memory.lore.worlds()]
    answered(found, arguments, terminal, [f"{world['id']}  {world['name']}" for world in found])
    return named(refused, terminal)


def forget_session(arguments: Namespace, terminal: Terminal) -> int:
    """Delete for good."""
    with _writing(arguments, terminal) as memory:
        gone = {
            key: memory.sessions.delete_session_memory(key, who=arguments.who or "") for key in arguments.keys
        }
    return answered(gone, arguments, terminal, [f"{key}: {count:,} deleted" for key, count in gone.items()])


def import_document(arguments: Namespace, terminal: Terminal) -> int:
    """Take in papers; what cannot be read is named, the rest is taken."""
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
    answered(
        {"done": done, "refused": as_json(refused)},
        arguments,
        terminal,
        [f"{one['id']}: {one['pages']:,} page{'' if one['pages'] == 1 else 's'}" for one in done],
    )
    return named(refused, terminal)


def import_transcripts(arguments: Namespace, terminal: Terminal) -> int:
    """Take in recorded sessions; again, only what is new."""
    with _writing(arguments, terminal) as memory:
        report = terminal.watch(
            lambda progress: memory.transcripts.import_sessions(
                arguments.paths, progress=progress, who=arguments.who or ""
            )
        )
        left = memory.transcripts.without_vector()
    sessions = f"{len(report.sessions):,} session{'' if len(report.sessions) == 1 else 's'}"
    terminal.say(
        f"{sessions}: {report.messages:,} new messages, {report.changed:,} changed, "
        f"{report.events:,} new events, {report.present:,} were there"
    )
    if left:
        terminal.say(
            f"{left:,} chunks are not embedded yet: words find them, meaning does not; "
            "importing again goes on with them"
        )
    if getattr(arguments, "json", False):
        terminal.answer_json({**asdict(report), "refused": as_json(report.refused)})
    return named(report.refused, terminal)


def doctor(arguments: Namespace, terminal: Terminal) -> int:
    """Say what is wrong, and mend it if asked; status 0 when all is well."""
    from store.memory import doctor as checking

    with _writing(arguments, terminal) as memory:
        memory.wait_for_chroma(_PATIENCE)
        found = checking.repair(memory) if arguments.repair else checking.check(memory)
    for finding in found:
        terminal.say(f"{finding.kind}: {finding.what} ({finding.remedy})")
    answered({"well": not found, "findings": [asdict(one) for one in found]}, arguments, terminal, [])
    if not found:
        terminal.say("all is well")
    return 1 if found else 0


@contextmanager
def _writing(arguments: Namespace, terminal: Terminal) -> Iterator["Memory"]:
    """On leaving, Chroma has caught up or is said to be behind."""
    from store.memory import Memory

    with Memory.open(root_of(arguments)) as memory:
        yield memory
        if not memory.wait_for_chroma(_PATIENCE):
            found = memory.status()
            terminal.say(f"Chroma is {found.chroma_behind:,} entries behind {found.chroma_fault}".rstrip())
