"""Verbs of what the text memory holds of worlds, sessions, papers and recorded transcripts."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import uuid4

from typer import Argument, Option

from store.cli.call import Call, as_json
from store.cli.memory import AsOf, Mmr, Query, Since, Until, verb
from store.cli.verbs import Paths, typed_path
from store.disk.files import read_regular
from store.errors import BadSource
from store.memory.memory import Memory
from store.memory.values import (
    BY_WORDS,
    LARGEST,
    MOST_CHARS,
    EventFilter,
    ImportedDocument,
    UnknownEntry,
    checked_count,
    checked_moment,
    pages_of,
)
from store.outcome import Refusal
from store.progress import Progress, batches

Protocols = Annotated[list[str] | None, Option("--protocol", metavar="NAME", help="may be repeated")]


# -- worlds and sessions ----------------------------------------------------------------------------------


@verb("lore")
def lore(
    call: Call,
    world: Annotated[str, Argument(metavar="WORLD")],
    query: Query,
    n: Annotated[int, Option("-n", metavar="N", help="how many chunks (3)")] = 3,
    max_chars: Annotated[int, Option(metavar="N", help="warn above (1000)")] = 1000,
    as_of: AsOf = "",
) -> int:
    """What is known of a world."""
    return _asked("world_lore", world, query, n, max_chars, as_of, call)


@verb("recall")
def recall(
    call: Call,
    key: Annotated[str, Argument(metavar="CHARACTER_SESSION")],
    query: Query,
    n: Annotated[int, Option("-n", metavar="N", help="how many exchanges (3)")] = 3,
    max_chars: Annotated[int, Option(metavar="N", help="warn above (1500)")] = 1500,
    as_of: AsOf = "",
) -> int:
    """What a character remembers of a session."""
    return _asked("session_memory", key, query, n, max_chars, as_of, call)


def _asked(kind: str, scope: str, query: str, n: int, most: int, as_of: str, call: Call) -> int:
    with call.reading_memory(kind, as_of) as memory:
        part = memory.lore if kind == "world_lore" else memory.session_memory
        part.check_known(scope)
        _say_if_not_read(memory, kind, query, call)
        most = checked_count(most, what="--max-chars", most=MOST_CHARS)
        found = part.search(scope, query, n=n)
    characters = sum(len(hit.row["text"]) for hit in found)
    if characters > most:
        call.say(f"context_warning: {characters:,} characters, more than {most:,}; nothing was left out")
    if any(hit.cosine is None for hit in found):
        call.say(BY_WORDS)
    rows = [f"{hit.score:.3f} {_parts(hit.parts())}  {hit.row['id']}  {hit.row['text']}" for hit in found]
    return call.answered([{**hit.row, "score": hit.score, **hit.parts()} for hit in found], rows)


def _say_if_not_read(memory: Memory, kind: str, query: str, call: Call) -> None:
    if note := memory.entries(kind).not_read(query):
        call.say(note)


def _parts(parts: dict[str, Any]) -> str:
    """What meaning and words gave to a hit, such as "(meaning 0.412, words 0.50)"."""
    meaning = "-" if parts["meaning"] is None else f"{parts['meaning']:.3f}"
    late = f", late interaction {parts['late_interaction']:.3f}" if "late_interaction" in parts else ""
    return f"(meaning {meaning}, words {parts['words']:.2f}{late})"


@verb("worlds")
def worlds(
    call: Call, folder: Annotated[Path | None, Argument(metavar="DIR", parser=typed_path)] = None
) -> int:
    """The worlds; with a folder, import its YAML files."""
    refused = []
    if folder:
        if not folder.is_dir():
            raise BadSource(f"there is no folder {folder}")
        files = sorted(folder.glob("*.y*ml"))
        if not files:
            raise BadSource(f"there is no world in {folder}: a world is a file NAME.yaml")
        with call.writing_memory() as memory:
            for path in files:
                try:
                    content = read_regular(path, limit=LARGEST)
                except OSError as error:
                    refused.append(Refusal(path.name, f"it cannot be read: {error.strerror}"))
                else:
                    memory.lore.put_file(path.name, content)
            report = memory.lore.load_worlds(actor=call.actor)
        refused += report.refused
        call.say(f"imported {len(report.done):,} worlds, refused {len(refused):,}")
    with call.reading_memory() as memory:
        found = [{"id": world.id, "name": world.name, "file": world.file} for world in memory.lore.worlds()]
        listed = {world["id"] for world in found}
        found += [{"id": id, "name": id, "file": ""} for id in memory.worlds() if id not in listed]
    call.answered(found, [f"{world['id']}  {world['name']}" for world in found])
    return call.named(refused)


# -- papers -----------------------------------------------------------------------------------------------


@verb("import-document")
def import_document(
    call: Call,
    paths: Annotated[list[Path], Argument(metavar="PATH", parser=typed_path)],
    protocol: Annotated[str, Option(metavar="NAME")],
    replace: Annotated[
        bool,
        Option(
            "--replace",
            help="in the place of the papers of these names, also if they are other ones or unchanged",
        ),
    ] = False,
) -> int:
    """Import papers of a protocol, or folders of them: PDF, HTML, Word, text."""
    done, refused, decision = list[ImportedDocument](), list[Refusal](), uuid4().hex
    with call.writing_memory() as memory:
        paths = [file for path in paths for file in memory.documents.files_at(path)]

        def work(progress: Progress) -> None:
            progress.total = len(paths)
            for (path,) in batches(paths, 1, progress):
                try:
                    one = memory.documents.import_document(
                        path, protocol=protocol, replaces=replace, progress=progress, actor=call.actor,
                        decision=decision,
                    )  # fmt: skip
                    done.append(one)
                except BadSource as error:
                    refused.append(Refusal(path.name, str(error)))

        call.watch(work)
        for one in done:
            if one.note:
                call.say(one.note)
            if note := memory.documents.not_read(one.source):
                call.say(f"{one.source.id}: {note}")
    shown = [{**asdict(one.source), "state": one.state, "note": one.note} for one in done]
    call.answered(
        {"done": shown, "refused": as_json(refused)},
        [f"{one['id']}: {one['pages']:,} page{'' if one['pages'] == 1 else 's'}" for one in shown],
    )
    counts = Counter(one.state for one in done)
    call.say(f"{counts['new']:,} new, {counts['changed']:,} changed, {counts['present']:,} were there")
    return call.named(refused)


@verb("documents")
def documents(
    call: Call,
    query: Query,
    protocols: Protocols = None,
    section: Annotated[
        str | None,
        Option(metavar="HEADING", help="only of this section; its number or its title alone will do"),
    ] = None,
    n: Annotated[int, Option("-n", metavar="N", help="how many (5)")] = 5,
    compare: Annotated[bool, Option("--compare", help="as many for each protocol, side by side")] = False,
    as_of: AsOf = "",
) -> int:
    """The passages of papers nearest to a question."""
    with call.reading_memory("documents", as_of) as memory:
        found: Any
        memory.documents.check_known(protocols or (), section)
        _say_if_not_read(memory, "documents", query, call)
        if compare:
            names = protocols or [*memory.protocols()]
            found = memory.documents.compare(query, names, n, section=section)
            hits = [hit for some in found.values() for hit in some]
        else:
            found = hits = memory.documents.search_named(query, n, protocols=protocols, section=section)
    if hits and all("near_miss" in hit for hit in hits):
        call.say("no passage answers this; closest:")
    rows = []
    for hit in hits:
        metadata, miss = hit["metadata"], "(near miss) " if "near_miss" in hit else ""
        in_section = f" ({metadata['section']})" if metadata.get("section") else ""
        rows.append(
            f"{hit['score']:.3f} {miss}{_parts(hit)}  {metadata['protocol']}  {metadata['source']}, "
            f"{pages_of(metadata)}{in_section}  {hit['content']}"
        )
    if not rows:
        call.say("no paper of these protocols is there; import one with import-document")
    return call.answered(found, rows)


@verb("find-sections")
def find_sections(call: Call) -> int:
    """Find the headings of papers imported by an earlier version."""
    done, refused = {}, []
    with call.writing_memory() as memory:
        for source in memory.documents.sources():
            if source.knows_sections:
                continue
            try:
                done[source.id] = memory.documents.find_sections(source, actor=call.actor)
            except BadSource as error:
                refused.append(Refusal(source.id, str(error)))
    rows = [f"{id}: {count:,} passages are in a section" for id, count in done.items()]
    if not done and not refused:
        call.say("the sections of every document are known")
    call.answered({"done": done, "refused": as_json(refused)}, rows)
    return call.named(refused)


# -- recorded sessions ------------------------------------------------------------------------------------


@verb("import-transcripts")
def import_transcripts(call: Call, paths: Paths) -> int:
    """Import recorded sessions."""
    with call.writing_memory() as memory:
        report = call.watch(
            lambda progress: memory.transcripts.import_sessions(paths, progress=progress, actor=call.actor)
        )
        chunks = memory.entries("transcript_vectors")
        left, model = chunks.without_vector(), chunks.model
    call.say(report.summary)
    for note in report.notes:
        call.say(note)
    if left:
        call.say(
            f"{left:,} chunks are not embedded yet: words find them, meaning does not; "
            f"`memory model {model} --kind transcript_vectors` embeds them"
        )
    if call.json:
        call.answer_json({**asdict(report), "refused": as_json(report.refused)})
    return call.named(report.refused)


@verb("transcripts")
def transcripts(
    call: Call,
    query: Query,
    mode: Annotated[Literal["hybrid", "semantic", "full_text"], Option()] = "hybrid",
    types: Annotated[list[Any] | None, Option("--type", metavar="T", help="content type")] = None,
    user: Annotated[str | None, Option(metavar="U")] = None,
    session: Annotated[str | None, Option(metavar="ID")] = None,
    project: Annotated[str | None, Option(metavar="P")] = None,
    model: Annotated[str | None, Option(metavar="M", help="of the sessions in which it answered")] = None,
    min_score: Annotated[float | None, Option(metavar="PERCENT", help="least cosine")] = None,
    n: Annotated[int, Option("-n", metavar="N", help="how many (10)")] = 10,
    since: Since = None,
    until: Until = None,
    mmr: Mmr = None,
    as_of: AsOf = "",
) -> int:
    """Messages of recorded sessions."""
    first = checked_moment(since) if since else None
    last = checked_moment(until, is_end=True) if until else None
    with call.reading_memory("transcripts", as_of) as memory:
        memory.transcripts.check_known(session_id=session, project_slug=project, model=model)
        _say_if_not_read(memory, "transcript_vectors", query, call)
        hits = memory.transcripts.search(
            query, mode=mode, content_types=types or [], n=n, user_id=user, session_id=session,
            project_slug=project, model=model, since=first, until=last, min_score=min_score, mmr=mmr,
        )  # fmt: skip
    if hits.by_words_alone:
        call.say(BY_WORDS)
    rows = [
        f"{hit.score:.3f}  {hit.message['session_id']} {hit.message['sequence']}  "
        f"{(hit.chunk or {}).get('source_text') or hit.message['text_content'] or ''}"
        for hit in hits
    ]
    if not hits:
        call.say("no message was found")
    return call.answered([asdict(hit) for hit in hits], rows)


def _structure(meaning: str) -> Any:
    return Option(metavar="X", help=meaning)


@verb("events")
def events(
    call: Call,
    event: Annotated[str | None, _structure("type")] = None,
    tool: Annotated[str | None, _structure("name of the tool")] = None,
    level: Annotated[str | None, _structure("such as ERROR")] = None,
    error_type: Annotated[str | None, _structure("such as Timeout")] = None,
    model: Annotated[str | None, _structure("name of the model")] = None,
    session: Annotated[str | None, _structure("id of the session")] = None,
    project: Annotated[str | None, _structure("of the session")] = None,
    since: Annotated[str | None, _structure("date or time")] = None,
    until: Annotated[str | None, _structure("date or time, included")] = None,
    n: Annotated[int, Option("-n", metavar="N", help="how many (100)")] = 100,
    offset: Annotated[int, Option(metavar="N", help="after how many newer ones (0)")] = 0,
) -> int:
    """Events of recorded sessions, by their structure."""
    filter = EventFilter(
        event=event, tool_name=tool, lvl=level, session_id=session, error_type=error_type,
        model_used=model, project_slug=project, since=since, until=until,
    )  # fmt: skip
    with call.reading_memory("transcripts") as memory:
        total = memory.transcripts.count_events(filter)
        found = memory.transcripts.find_events(filter, offset=offset, limit=n)
        try:
            memory.transcripts.check_known_events(filter)
        except UnknownEntry as error:
            call.say(str(error))
    rows = [
        f"{row['ts']}  {row['lvl'] or '-'}  {row['event']}  {row['tool_name'] or ''}  {row['session_id']}"
        for row in found
    ]
    call.say(f"{len(found):,} of {total:,} events")
    return call.answered(found, rows)
