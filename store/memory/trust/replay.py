"""The past: contexts that were handed out, what they would have been otherwise, and what changed since."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from store.embedding import open_embedder
from store.embedding.protocol import Embedder
from store.errors import InvalidRecord
from store.memory.context import AssembledContext
from store.memory.engine import point_in_time
from store.memory.engine.fusion import EntryHit, best, for_context, keep_context
from store.memory.engine.inputs import InvalidInput, UnknownEntry, check_known, checked_percentage
from store.memory.engine.point_in_time import Changed
from store.memory.engine.retrievals import KeptContext, kept_contexts
from store.memory.memories import relevance
from store.memory.opened import OpenedMemory
from store.memory.transcripts.search import search as search_transcripts
from store.memory.transcripts.tables import KIND as TRANSCRIPTS


@dataclass(frozen=True, slots=True)
class ContextEntry:
    """One entry of a context with the text of its version."""

    id: str
    text: str
    score: float  # cosine


@dataclass(frozen=True, slots=True)
class ReplayedEntry(ContextEntry):
    """One entry of either context."""

    what: Literal["same", "added", "removed"]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The settings that differ."""

    threshold: float | None = None  # percent
    without: Collection[str] = field(default_factory=tuple)  # ids
    chunk: tuple[int, int] | None = None  # of documents: size and overlap in characters
    model: str = ""  # of all entries


def contexts(memory: OpenedMemory) -> list[KeptContext]:
    """The contexts that were kept, newest first."""
    memory.actor.check_login()
    return kept_contexts(memory.places.retrievals)


def context(memory: OpenedMemory, id: str) -> KeptContext:
    """One kept context, by the beginning of its id. Raises UnknownEntry."""
    found = [one for one in contexts(memory) if id and one.id.startswith(id)]
    if len(found) != 1:
        have = f"{len(found)} kept contexts have" if found else "no kept context has"
        raise UnknownEntry(f"{have} an id that begins with {id!r}")
    return found[0]


def entries(memory: OpenedMemory, kept: KeptContext) -> list[ContextEntry]:
    """What was in this context, each entry in the version that was handed out."""
    entries = memory.kinds[kept.kind]
    found = []
    for hit in kept.hits:
        row = next((one.row for one in entries.versions(hit.id) if one.version == hit.version), None)
        found.append(ContextEntry(hit.id, str(row[entries.kind.text]) if row else "", hit.score))
    return found


def replay(memory: OpenedMemory, kept: KeptContext, what_if: WhatIf) -> list[ReplayedEntry]:
    """This context as it would have been, compared with what it was, from the entries of that moment.

    The entries of the new context come first, in their order. Raises InvalidInput for a chunk size elsewhere
    than in documents, BadSource if a document's file is no longer there.
    """
    if what_if.chunk and kept.kind != "documents":
        raise InvalidInput(f"this cannot be tried with {kept.kind}")
    changed = _changed(memory, what_if)
    embedder: Embedder | None = open_embedder(what_if.model) if what_if.model else None
    before = entries(memory, kept)
    with memory.as_of(kept.created_at, changed={kept.kind: changed}, embedder=embedder) as past:
        text = past.kinds[kept.kind].kind.text
        hits = _ask(past, kept, what_if.threshold)
        after = [ContextEntry(hit.row["id"], str(hit.row[text]), hit.cosine or 0.0) for hit in hits]
    known, now = {_key(one) for one in before}, {_key(one) for one in after}
    found = [_replayed(one, "same" if _key(one) in known else "added") for one in after]
    return found + [_replayed(one, "removed") for one in before if _key(one) not in now]


def try_chunks(
    memory: OpenedMemory, paper: str, *, size: int, overlap: int, question: str = "", n: int = 5
) -> list[dict[str, Any]]:
    """A paper's passages with other sizes in characters; with a question the n that fit it best."""
    papers = {one.id: one for one in memory.documents.sources()}
    check_known(paper, papers, what="paper")
    source = papers[paper]
    cut = memory.documents.rechunk(source, longest=size, overlap=overlap)
    if not question:
        return cut

    def changed(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return cut

    with memory.as_of(None, changed={"documents": changed}) as past:
        return past.documents.search(question, n, protocol=source.protocol)


def keep(memory: OpenedMemory, prompt: str, shown: AssembledContext) -> None:
    """Keep what the inspector shows, once for each prompt and content."""
    memory.actor.check_login()
    for section in shown.sections:
        if not section.chunks:
            continue
        entries = memory.kinds[section.chunks[0].kind]
        if not entries._retrievals.days:
            return
        ids = [chunk.row["id"] for chunk in section.chunks]
        asked = section.where.get(entries.kind.scope, "") if entries.kind.scope else ""
        scope = asked if isinstance(asked, str) else ""  # not of several protocols
        last = next((one for one in contexts(memory) if one.kind == entries.kind.name), None)
        is_kept = last and (last.question, [hit.id for hit in last.hits], last.scope) == (prompt, ids, scope)
        if not is_kept:
            found = [(chunk.row["id"], chunk.score) for chunk in section.chunks]
            keep_context(entries, prompt, found, scope=scope, n=len(ids), where=section.where)


def _ask(past: OpenedMemory, kept: KeptContext, threshold: float | None) -> list[EntryHit]:
    least = kept.threshold if threshold is None else checked_percentage(threshold)
    entries = past.kinds[kept.kind]
    n = kept.n or max(1, len(kept.hits))  # earlier contexts of transcripts do not say it
    if kept.kind == "memories" and kept.threshold is not None:
        answer = past.memories.search_memory(kept.question, n, threshold=least)
        scores = {hit["memory_id"]: hit["relevance_score"] / 100 for hit in answer["results"]}
        rows = entries.rows([*scores])
        return [EntryHit(row, scores[row["id"]], scores[row["id"]], 0.0, (), 0) for row in rows]
    if kept.kind == "memories":  # of an assembled context
        least = max(past.memories.threshold, least or 0.0)
        return past.memories.for_context(kept.question, n=n, threshold=least, where=kept.where)
    if kept.kind == TRANSCRIPTS.name and "mode" in kept.where:  # else: of a prompt's preview
        return _transcripts(past, kept, n=n, least=least)
    does = best if kept.kind == "documents" else for_context
    hits = does(entries, kept.question, n=n, where=kept.where)
    return [hit for hit in hits if least is None or relevance(hit.cosine or 0.0) >= least]


def _transcripts(past: OpenedMemory, kept: KeptContext, *, n: int, least: float | None) -> list[EntryHit]:
    """The best chunk of each message that would have been found."""
    where = dict(kept.where)
    mode, mmr = where.pop("mode"), where.pop("mmr", None)
    floor = None if least is None else least / 100
    hits = search_transcripts(
        past.kinds[kept.kind], kept.question, mode=mode, where=where, n=n, mmr=mmr, floor=floor
    )
    return [EntryHit(hit.chunk, hit.score, hit.cosine, 0.0, (), 0) for hit in hits if hit.chunk]


def _changed(memory: OpenedMemory, what_if: WhatIf) -> Changed:
    def changed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if what_if.chunk:
            size, overlap = what_if.chunk
            names = {(row["protocol"], row["source"]) for row in rows}
            sources = [one for one in memory.documents.sources() if (one.protocol, one.source) in names]
            cut = [
                row for one in sources for row in memory.documents.rechunk(one, longest=size, overlap=overlap)
            ]
            kept = {(one.protocol, one.source) for one in sources}
            rows = [row for row in rows if (row["protocol"], row["source"]) not in kept] + cut
        return [row for row in rows if row["id"] not in what_if.without]

    return changed


def _key(entry: ContextEntry) -> tuple[str, str]:
    return entry.id, entry.text


def _replayed(entry: ContextEntry, what: Literal["same", "added", "removed"]) -> ReplayedEntry:
    return ReplayedEntry(entry.id, entry.text, entry.score, what)


@dataclass(frozen=True, slots=True)
class EntryDifference:
    """One entry whose text differs between the two moments."""

    kind: str
    id: str
    what: Literal["added", "removed", "changed"]
    before: str  # "" if there was none
    after: str  # "" if there is none


def difference(memory: OpenedMemory, since: float, until: float | None = None) -> list[EntryDifference]:
    """The entries that changed between two moments (UNIX seconds; None: now), by kind and id."""
    if until is not None and until < since:
        raise InvalidRecord("the second moment has to come after the first")
    found = []
    for entries in memory.usable:
        name = entries.kind.name
        before = point_in_time.texts_at(entries, since)
        after = point_in_time.texts_at(entries, until)
        for id in sorted(before.keys() | after.keys()):
            old, new = before.get(id), after.get(id)
            if old != new:
                what: Literal["added", "removed", "changed"] = (
                    "added" if old is None else "removed" if new is None else "changed"
                )
                found.append(EntryDifference(name, id, what, old or "", new or ""))
    return found
