"""Verbs of the text memory, `memory VERB …`: entries of every kind, and what models are given of them."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from store.cli.call import REFUSED, Call, as_json
from store.cli.maintenance import Vectors, Whose, choose_vectors, print_deleted
from store.cli.verbs import Model, Repair, Yes, group, typed_path
from store.cli.verbs import verb as declare
from store.disk.files import absolute
from store.memory.memory import Memory
from store.memory.values import (
    LORE,
    MEMORIES,
    SESSIONS,
    Answer,
    FoundMemory,
    InvalidInput,
    SearchFilters,
    UnknownEntry,
    checked_moment,
    configured_model,
    offered,
    salvage_damaged,
)
from store.outcome import Outcome, Refusal
from store.progress import Progress

memory_verbs = group(name="memory")
verb = partial(declare, of=memory_verbs)


class KindName(StrEnum):
    """What the text memory keeps apart."""

    MEMORIES = "memories"
    DOCUMENTS = "documents"
    LORE = "world_lore"
    SESSIONS = "session_memory"
    TRANSCRIPTS = "transcript_vectors"


_SHOWN = 50  # ids that undo and redo list

Kind = Annotated[KindName, Option(help="of text memory (memories)")]
Id = Annotated[str, Argument(metavar="ID")]
Ids = Annotated[list[str], Argument(metavar="ID")]
Scope = Annotated[str, Option("--in", metavar="NAME", help="world, session key or protocol")]
Query = Annotated[str, Argument(metavar="TEXT")]
Since = Annotated[str | None, Option(metavar="WHEN", help="written at or after this date or time")]
Until = Annotated[str | None, Option(metavar="WHEN", help="written at or before this date or time")]
Mmr = Annotated[float | None, Option(metavar="λ", help="0 to 1: marginal relevance (1: relevance)")]
AsOf = Annotated[str, Option(metavar="WHEN", help="as it was at this date or time")]
New = Annotated[bool, Option("--new", help="begin a world that does not exist yet")]
World = Annotated[str, Option(metavar="WORLD")]
Session = Annotated[str, Option(metavar="KEY", help="CHARACTER_SESSION")]


def decided(outcome: Outcome, call: Call, shown: Sequence[str] | None = None) -> int:
    """Print what was done, or these lines instead, and what was refused; returns the exit status."""
    result = {"done": outcome.done, "refused": as_json(outcome.refused)}
    call.answered(result, outcome.done if shown is None else shown)
    return call.named(outcome.refused)


# -- the whole --------------------------------------------------------------------------------------------


@verb("demo")
def demo(call: Call) -> int:
    """Import a few made-up worlds, sessions, memories, papers and transcripts."""
    with call.writing_memory() as memory:
        counts = call.watch(lambda progress: memory.load_demo(progress=progress))
    return call.answered(counts, [f"{name}: {count:,}" for name, count in counts.items()])


@verb("status")
def status(call: Call) -> int:
    """How much there is of each kind, and by which model."""
    with call.reading_memory() as memory:
        found = asdict(memory.status())
    for one in found["moved_aside"]:  # a kind that cannot be used is named on every opening
        call.say(one)
    return call.answered(found, [f"{name}: {count:,}" for name, count in found["counts"].items()])


@verb("doctor")
def doctor(call: Call, repair: Repair = False) -> int:
    """Check files, full text, vectors and Chroma."""
    call.check_there_is_a_memory()
    for sentence in salvage_damaged(call.root) if repair else ():
        call.say(sentence)
    with call.writing_memory() as memory:
        call.has_followed(memory)
        found = memory.repair() if repair else memory.check()
    for finding in found:
        call.say(f"{finding.kind}: {finding.what} ({finding.remedy})")
    well = not any(finding.is_fault for finding in found)
    call.answered({"well": well, "findings": [asdict(one) for one in found]})
    if well:
        call.say("all is well")
    return 0 if well else REFUSED


@verb("model")
def model(
    call: Call,
    name: Annotated[str | None, Argument(metavar="NAME")] = None,
    kind: Annotated[KindName | None, Option(help="one kind of memory alone")] = None,
) -> int:
    """The models in use; with a name, embed everything again with that one."""
    if name:
        with call.writing_memory() as memory:
            kinds = [kind] if kind else [*KindName]
            call.watch(lambda progress: memory.reembed(kinds, name, progress=progress))
    with call.reading_memory(kind) as memory:
        models = {one: memory.entries(one).model for one in KindName}
    return call.answered(models, [f"{one}: {used}" for one, used in models.items()])


@verb("delete-vectors")
def delete_vectors(
    call: Call,
    model: Whose = None,
    kind: Annotated[KindName | None, Option(help="of one kind of memory alone")] = None,
    yes: Yes = False,
) -> int:
    """Delete the vectors of a model not in use."""
    with call.reading_memory(kind) as memory:
        kinds = [kind] if kind else KindName
        found: Vectors = {kind: memory.entries(kind).vectors_by_model() for kind in kinds}
    if not (chosen := choose_vectors(found, model, yes, call)):
        return 0 if model is None else REFUSED
    with call.writing_memory() as memory:
        for kind_name in chosen:
            memory.entries(kind_name).delete_vectors(model or "", actor=call.actor)
    return print_deleted(chosen, model or "", call)


@verb("export")
def export(
    call: Call,
    path: Annotated[Path, Argument(metavar="PATH", parser=typed_path, help="a new folder or file")],
    kinds: Annotated[
        list[KindName],
        Option("--kind", help="memories, lore and sessions go into one Chroma, and may be named together"),
    ],
    vectors: Annotated[str, Option(metavar="MODEL", help="whose vectors (the kind's model)")] = "",
    form: Annotated[
        Literal["notes"] | None, Option("--format", help="memories as a folder of Markdown notes")
    ] = None,
) -> int:
    """Write entries in the layout of their reference."""
    with call.reading_memory() as memory:
        whole_path = absolute(path)
        outcome = memory.export(whole_path, kinds=kinds, model=vectors, form=form or "")
    done = {"path": str(whole_path), "done": outcome.done, "refused": as_json(outcome.refused)}
    call.say(f"exported {len(outcome.done):,} entries to {whole_path}")
    call.answered(done)
    return call.named(outcome.refused)


# -- entries ----------------------------------------------------------------------------------------------


@verb("store")
def store(
    call: Call,
    content: Query,
    tags: Annotated[list[str] | None, Option("--tag", metavar="T", help="at most 10")] = None,
    kind: Annotated[
        Literal["memories", "world_lore", "session_memory"], Option(help="of text memory (memories)")
    ] = "memories",
    scope: Scope = "",
    name: Annotated[str, Option(metavar="NAME", help="the entry's own, in its world or session")] = "",
    new: New = False,
) -> int:
    """Store a memory, a text of lore or an exchange."""
    with call.writing_memory() as memory:
        if kind == MEMORIES and not (scope or name):
            done = memory.memories.store_memory(content, tags or [], actor=call.actor)
            return call.answered(done, [done["memory_id"]])
        if kind == LORE and not scope:
            raise InvalidInput(f"--in has to name its world{offered('', memory.worlds())}")
        if kind == LORE and not name:
            raise InvalidInput("--name has to give it a name in its world")
        if kind == SESSIONS and not scope:
            raise InvalidInput("--in has to name its session")
        id = memory.store(
            content, kind=kind, tags=tags or [], scope=scope, name=name, is_new=new, actor=call.actor
        )
    return call.answered({"id": id}, [id])


@verb("list")
def list_(
    call: Call,
    words: Annotated[str, Option(metavar="W", help="that are in the text")] = "",
    n: Annotated[int, Option("-n", metavar="N", help="how many, at most 1000 (100)")] = 100,
    offset: Annotated[int, Option(metavar="N", help="after how many others (0)")] = 0,
    scope: Scope = "",
    kind: Kind = KindName.MEMORIES,
) -> int:
    """The entries of one kind."""
    with call.reading_memory(kind) as memory:
        total, rows = memory.list(kind=kind, scope=scope, words=words, offset=offset, limit=n)
        text = memory.entries(kind).kind.text
    call.say(f"{len(rows):,} of {total:,} entries")
    lines = [f"{row['id']}  {' '.join(str(row[text]).split())[:120]}" for row in rows]
    return call.answered({"total": total, "entries": rows}, lines)


@verb("show")
def show(call: Call, id: Id, kind: Kind = KindName.MEMORIES) -> int:
    """One entry."""
    with call.reading_memory(kind) as memory:
        row = memory.show(id, kind=kind)
    return call.answered(row, [f"{name}: {value}" for name, value in row.items()])


@verb("edit")
def edit(
    call: Call,
    id: Id,
    text: Annotated[str | None, Option(metavar="TEXT", help="embedded again")] = None,
    tags: Annotated[list[str] | None, Option("--tag", metavar="T", help="all tags; may be repeated")] = None,
    kind: Kind = KindName.MEMORIES,
) -> int:
    """Change an entry's text, or a memory's tags."""
    with call.writing_memory() as memory:
        row = memory.edit(id, kind=kind, text=text, tags=tags, actor=call.actor)
    return call.answered(row, [row["id"]])


@verb("remove")
def remove(call: Call, ids: Ids, kind: Kind = KindName.MEMORIES) -> int:
    """Remove entries; undo brings them back."""
    with call.writing_memory() as memory:
        outcome = memory.remove(ids, kind=kind, actor=call.actor)
    return decided(outcome, call)


@verb("forget")
def forget(
    call: Call,
    keys: Annotated[
        list[str], Argument(metavar="SESSION", help="CHARACTER_SESSION, or SESSION for all its characters")
    ],
) -> int:
    """Delete a session's memory for good, from every file."""
    gone, refused = dict[str, int](), list[Refusal]()
    with call.writing_memory() as memory:
        for session in keys:
            try:
                gone |= memory.forget(session, actor=call.actor)
            except UnknownEntry as error:
                refused.append(Refusal(session, str(error)))
    call.answered(gone, [f"{key}: {count:,} deleted" for key, count in gone.items()])
    return call.named(refused)


@verb("undo")
def undo(call: Call) -> int:
    """Undo your last decision about the text memory."""
    with call.writing_memory() as memory:
        outcome = memory.undo(actor=call.actor)
    return _reversed("undone", outcome, call)


@verb("redo")
def redo(call: Call) -> int:
    """Redo what you undid last."""
    with call.writing_memory() as memory:
        outcome = memory.redo(actor=call.actor)
    return _reversed("redone", outcome, call)


def _reversed(done: str, outcome: Outcome, call: Call) -> int:
    call.say(f"{done}: {len(outcome.done):,} entr{'y' if len(outcome.done) == 1 else 'ies'}")
    shown = outcome.done[:_SHOWN]
    if more := len(outcome.done) - len(shown):
        shown.append(f"… and {more:,} more")
    return decided(outcome, call, shown)


@verb("sessions")
def sessions(call: Call) -> int:
    """The keys of session memory, with the number of exchanges."""
    with call.reading_memory() as memory:
        return _counted(memory.sessions(), call)


@verb("protocols")
def protocols(call: Call) -> int:
    """The protocols of documents, with the number of passages."""
    with call.reading_memory() as memory:
        return _counted(memory.protocols(), call)


@verb("tags")
def tags(call: Call) -> int:
    """The tags of memories, with the number of memories."""
    with call.reading_memory() as memory:
        return _counted(memory.tags(), call)


def _counted(found: dict[str, int], call: Call) -> int:
    return call.answered(found, [f"{name}: {count:,}" for name, count in found.items()])


# -- search -----------------------------------------------------------------------------------------------


@verb("search")
def search(
    call: Call,
    query: Query,
    kind: Kind = KindName.MEMORIES,
    scope: Scope = "",
    limit: Annotated[int, Option(metavar="N", help="1 to 20 (5)")] = 5,
    user: Annotated[str, Option(metavar="U", help="of transcripts")] = "",
    project: Annotated[str, Option(metavar="P", help="of transcripts")] = "",
    section: Annotated[str, Option(metavar="HEADING", help="of documents")] = "",
    tags: Annotated[
        list[str] | None, Option("--tag", metavar="T", help="of memories; may be repeated")
    ] = None,
    min_score: Annotated[
        float | None,
        Option(metavar="PERCENT", help="minimum score (memories: this root's threshold, 30 by default)"),
    ] = None,
    near_misses: Annotated[int, Option(metavar="N", help="also show so many below the threshold")] = 0,
    since: Since = None,
    until: Until = None,
    mmr: Mmr = None,
    as_of: AsOf = "",
) -> int:
    """The most relevant memories, or entries of another kind."""
    filters = SearchFilters(
        section=section, scope=scope, user=user, project=project, tags=tags or [],
        since=checked_moment(since) if since else None,
        until=checked_moment(until, is_end=True) if until else None,
        min_score=min_score, mmr=mmr, near_misses=near_misses,
    )  # fmt: skip
    with call.reading_memory(kind, as_of) as memory:
        if kind == MEMORIES:
            return _search_memories(memory, query, limit, filters, call)
        hits = memory.search(query, kind=kind, limit=limit, filters=filters)
        if note := memory.entries(kind).not_read(query):
            call.say(note)
        text = memory.entries(kind).kind.text
    rows = [
        f"{hit['score']:.3f}  {'(near miss)  ' if 'near_miss' in hit else ''}{hit['id']}  {hit[text]}"
        for hit in hits
    ]
    if not hits:
        call.say("nothing was found")
    return call.answered(json.loads(json.dumps(hits, default=str)), rows)


def _search_memories(memory: Memory, query: str, limit: int, filters: SearchFilters, call: Call) -> int:
    found = memory.memories.search_memory(
        query, limit, threshold=filters.min_score, near_misses=filters.near_misses, mmr=filters.mmr,
        where=filters.where(memory.entries(MEMORIES)),
    )  # fmt: skip
    least = memory.memories.threshold if filters.min_score is None else filters.min_score
    rows = [_memory_line(hit) for hit in found["results"]]
    if not found["query_embedding_generated"]:
        call.say("the model is away: words alone were compared")
    if "note" in found:
        call.say(found["note"])
    if not rows:
        call.say(f"no memory is relevant to at least {least:g} %")
    if misses := found.get("near_misses", []):
        rows += [f"below {least:g} %:", *map(_memory_line, misses)]
    return call.answered(found, rows)


def _memory_line(hit: FoundMemory) -> str:
    by = "  (by words)" if hit.get("found_by") else ""
    return f"{hit['relevance_score']:5.1f} %{by}  {hit['memory_id']}  {hit['content']}"


@verb("threshold")
def threshold(call: Call, percent: Annotated[float | None, Argument(metavar="PERCENT")] = None) -> int:
    """The minimum score of memories; with a number, set it."""
    if percent is not None:
        with call.writing_memory() as memory:
            memory.memories.set_threshold(percent)
    with call.reading_memory() as memory:
        found = memory.memories.threshold
    return call.answered({"threshold": found}, [f"{found:g} %"])


# -- for models -------------------------------------------------------------------------------------------


@verb("assemble")
def assemble(
    call: Call,
    prompt: Annotated[str, Argument(metavar="PROMPT")],
    kinds: Annotated[
        list[KindName] | None,
        Option("--kind", help="only of this kind of text memory; may be repeated (all)"),
    ] = None,
    world: World = "",
    session: Session = "",
) -> int:
    """The context that a model gets for a prompt."""
    with call.reading_memory() as memory:
        found = memory.assemble(prompt, world=world, session=session, kinds=kinds or list(KindName))
    if not found.chunks:
        call.say("nothing was found for it; the lore of a world needs --world, a session's memory --session")
    for section in found.sections:
        if section.context_warning:
            call.say(
                f"context_warning: {section.name} has {section.characters:,} characters, more than "
                f"{section.budget:,}; nothing was left out for that"
            )
    for one in found.left_out:
        call.say(f"not in it: {one}")
    value = {
        "text": found.text,
        "characters": found.characters,
        "tokens": found.tokens,
        "entries": [{"kind": one.kind, "id": one.row["id"], "score": one.score} for one in found.chunks],
        "left_out": [asdict(one) for one in found.left_out],
    }
    return call.answered(value, found.text.splitlines())


@verb("ask")
def ask(
    call: Call,
    question: Query,
    model: Model = "",
    n: Annotated[int, Option("-n", metavar="N", help="entries of each kind, at most (3)")] = 3,
    world: World = "",
    session: Session = "",
) -> int:
    """Ask a language model; it cites the entries it answers from."""
    asked = configured_model(model)

    def ask_model(progress: Progress) -> Answer:
        progress.what = f"asking {asked.name}"
        pieces = memory.ask(
            question, model=asked, world=world, session=session, chunks=n,
            is_stopping=lambda: progress.cancelled,
        )  # fmt: skip
        return [piece for piece in pieces if isinstance(piece, Answer)][-1]

    with call.reading_memory() as memory:
        answer = call.watch(ask_model)
    cited = [
        f"[{one.number}] {one.kind} {one.id}: {' '.join(one.text.split())[:120]}" for one in answer.citations
    ]
    if not answer.is_whole:
        call.say("stopped: the answer is not complete")
    if answer.unknown:
        call.say(f"the answer cites entries that it was not given: {answer.unknown}")
    return call.answered(asdict(answer), [*answer.text.splitlines(), "", *cited])
