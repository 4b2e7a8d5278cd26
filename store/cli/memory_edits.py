"""Commands that change the text memory: `python -m store memory COMMAND …`."""

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from store.cli import stored_vectors
from store.cli.memory_queries import answered, check_there_is_one, reading
from store.cli.open_library import followed, has_followed, root_of
from store.cli.output import as_json, named
from store.cli.terminal import Terminal
from store.errors import BadSource
from store.permissions import Operator
from store.progress import Progress

if TYPE_CHECKING:
    from store.memory.memory import Memory

_SHOWN = 50  # ids that undo lists
KINDS = ("memories", "documents", "world_lore", "session_memory", "transcript_vectors")


def demo(arguments: Namespace, terminal: Terminal) -> int:
    """Import the demo; existing entries stay."""
    from store.memory import demo as made_up

    with writing(arguments, terminal) as memory:
        counts = terminal.watch(lambda progress: made_up.load(memory, progress=progress))
    return answered(counts, arguments, terminal, [f"{name}: {count:,}" for name, count in counts.items()])


def threshold(arguments: Namespace, terminal: Terminal) -> int:
    """Set this root's threshold, if one is given, and print it."""
    if arguments.percent is not None:
        with writing(arguments, terminal) as memory:
            memory.memories.set_threshold(arguments.percent)
    with reading(arguments) as memory:
        found = memory.memories.threshold
    return answered({"threshold": found}, arguments, terminal, [f"{found:g} %"])


def undo(arguments: Namespace, terminal: Terminal) -> int:
    """Undo one's own last decision of any kind; entries changed since are named."""
    with writing(arguments, terminal) as memory:
        outcome = memory.undo(actor=arguments.actor or "")
    terminal.say(f"undone: {len(outcome.done):,} entr{'y' if len(outcome.done) == 1 else 'ies'}")
    shown = outcome.done[:_SHOWN]
    if more := len(outcome.done) - len(shown):
        shown.append(f"… and {more:,} more")
    answered({"done": outcome.done, "refused": as_json(outcome.refused)}, arguments, terminal, shown)
    return named(outcome.refused, terminal)


def model(arguments: Namespace, terminal: Terminal) -> int:
    """Embed one kind, or all, with another model; the old vectors stay until the new ones are complete."""
    if arguments.name:
        from store.embedding import open_embedder
        from store.memory.engine.reembedding import reembed

        embedder = open_embedder(arguments.name)
        kinds = [arguments.kind] if arguments.kind else KINDS

        def embed(progress: Progress) -> None:
            for kind in kinds:
                reembed(memory.passages[kind], embedder, progress=progress)

        with writing(arguments, terminal) as memory:
            terminal.watch(embed)
    with reading(arguments) as memory:
        models = {kind: memory.passages[kind].model for kind in KINDS}
    return answered(models, arguments, terminal, [f"{kind}: {name}" for kind, name in models.items()])


def delete_vectors(arguments: Namespace, terminal: Terminal) -> int:
    """List the models that have vectors; with one and --yes, delete every vector of it."""
    kinds = [arguments.kind] if arguments.kind else KINDS
    with reading(arguments) as memory:
        found = {kind: memory.passages[kind].vectors_by_model() for kind in kinds}
    if not (chosen := stored_vectors.choose(found, arguments, terminal)):
        return 0 if arguments.model is None else stored_vectors.REFUSED
    with writing(arguments, terminal) as memory:
        for kind in chosen:
            memory.passages[kind].delete_vectors(arguments.model, actor=arguments.actor or "")
    return stored_vectors.deleted(chosen, arguments, terminal)


def worlds(arguments: Namespace, terminal: Terminal) -> int:
    """List the worlds; with a folder, copy its files to the folder of worlds and load them.

    Raises BadSource if there is no such folder, or no world in it.
    """
    refused = []
    if arguments.folder:
        from store.disk.files import read_regular
        from store.memory.story.worlds import LARGEST
        from store.outcome import Refusal

        if not arguments.folder.is_dir():
            raise BadSource(f"there is no folder {arguments.folder}")
        files = sorted(arguments.folder.glob("*.y*ml"))
        if not files:
            raise BadSource(f"there is no world in {arguments.folder}: a world is a file NAME.yaml")
        with writing(arguments, terminal) as memory:
            for path in files:
                try:
                    content = read_regular(path, limit=LARGEST)
                except OSError as error:
                    refused.append(Refusal(path.name, f"it cannot be read: {error.strerror}"))
                else:
                    memory.lore.put_file(memory.places.worlds, path.name, content)
            report = memory.lore.load_worlds(memory.places.worlds, actor=arguments.actor or "")
        refused += report.refused
        terminal.say(f"imported {len(report.done):,} worlds, refused {len(refused):,}")
    with reading(arguments) as memory:
        found = [{"id": world.id, "name": world.name, "file": world.file} for world in memory.lore.worlds()]
        listed = {world["id"] for world in found}
        found += [{"id": id, "name": id, "file": ""} for id in memory.lore.names() if id not in listed]
    answered(found, arguments, terminal, [f"{world['id']}  {world['name']}" for world in found])
    return named(refused, terminal)


def forget(arguments: Namespace, terminal: Terminal) -> int:
    """Delete what is remembered of sessions for good; unknown ones are named with the nearest names."""
    from store.memory.engine.errors import UnknownEntry
    from store.outcome import Refusal

    gone: dict[str, int] = {}
    refused = []
    with writing(arguments, terminal) as memory:
        for session in arguments.keys:
            try:
                gone |= memory.sessions.delete_session(session, actor=arguments.actor or "")
            except UnknownEntry as error:
                refused.append(Refusal(session, str(error)))
    answered(gone, arguments, terminal, [f"{key}: {count:,} deleted" for key, count in gone.items()])
    return named(refused, terminal)


def import_document(arguments: Namespace, terminal: Terminal) -> int:
    """Import papers; unreadable ones are named, the rest is imported."""
    from store.memory.documents.documents import ImportedDocument
    from store.outcome import Refusal

    done, refused = list[ImportedDocument](), list[Refusal]()
    with writing(arguments, terminal) as memory:
        for path in arguments.paths:
            try:
                one = memory.documents.import_document(
                    path, protocol=arguments.protocol, replaces=arguments.replace, actor=arguments.actor or ""
                )
                done.append(one)
                if one.note:
                    terminal.say(one.note)
                if note := memory.documents.not_read(one.source):
                    terminal.say(f"{one.source.id}: {note}")
            except BadSource as error:
                refused.append(Refusal(path.name, str(error)))
    shown = [{**asdict(one.source), "state": one.state, "note": one.note} for one in done]
    answered(
        {"done": shown, "refused": as_json(refused)},
        arguments,
        terminal,
        [f"{one['id']}: {one['pages']:,} page{'' if one['pages'] == 1 else 's'}" for one in shown],
    )
    counts = Counter(one.state for one in done)
    terminal.say(f"{counts['new']:,} new, {counts['changed']:,} changed, {counts['present']:,} were there")
    return named(refused, terminal)


def find_sections(arguments: Namespace, terminal: Terminal) -> int:
    """Find the sections of documents that were imported by an earlier version."""
    from store.outcome import Refusal

    done, refused = {}, []
    with writing(arguments, terminal) as memory:
        for source in memory.documents.sources():
            if source.knows_sections:
                continue
            try:
                done[source.id] = memory.documents.find_sections(source, actor=arguments.actor or "")
            except BadSource as error:
                refused.append(Refusal(source.id, str(error)))
    rows = [f"{id}: {count:,} passages are in a section" for id, count in done.items()]
    if not done and not refused:
        terminal.say("the sections of every document are known")
    answered({"done": done, "refused": as_json(refused)}, arguments, terminal, rows)
    return named(refused, terminal)


def import_transcripts(arguments: Namespace, terminal: Terminal) -> int:
    """Import recorded sessions; a repeated import adds only what is new."""
    with writing(arguments, terminal) as memory:
        report = terminal.watch(
            lambda progress: memory.transcripts.import_sessions(
                arguments.paths, progress=progress, actor=arguments.actor or ""
            )
        )
        left = memory.transcripts.without_vector()
    terminal.say(report.summary)
    for note in report.notes:
        terminal.say(note)
    if left:
        terminal.say(
            f"{left:,} chunks are not embedded yet: words find them, meaning does not; "
            "importing again goes on with them"
        )
    if getattr(arguments, "json", False):
        terminal.answer_json({**asdict(report), "refused": as_json(report.refused)})
    return named(report.refused, terminal)


def doctor(arguments: Namespace, terminal: Terminal) -> int:
    """Print problems, and repair them if asked; status 0 if there are none.

    Raises UnknownEntry if the root holds no text memory.
    """
    from store.memory import doctor as checking

    check_there_is_one(root_of(arguments))
    for told in checking.salvage_damaged(root_of(arguments)) if arguments.repair else ():
        terminal.say(told)
    with writing(arguments, terminal) as memory:
        has_followed(memory, terminal)
        found = checking.repair(memory) if arguments.repair else checking.check(memory)
    for finding in found:
        terminal.say(f"{finding.kind}: {finding.what} ({finding.remedy})")
    well = not any(finding.is_fault for finding in found)
    answered({"well": well, "findings": [asdict(one) for one in found]}, arguments, terminal, [])
    if well:
        terminal.say("all is well")
    return 0 if well else 1


@contextmanager
def writing(arguments: Namespace, terminal: Terminal) -> Iterator["Memory"]:
    """The memory, open for writing; when the block ends, Chroma has caught up or is reported behind."""
    from store.memory.memory import Memory

    with followed(Memory.open(root_of(arguments)), terminal) as memory:
        yield memory.for_actor(Operator(via="command line"))
