"""The text memory, with its verbs under one name everywhere.

    with Memory.open(Path("res")) as memory:
        memory.store("Ann prefers short tickers", tags=["ann"])
        memory.search("Which tickers does Ann prefer?")

The command line has each as `memory VERB`, agents as the tool `VERB_memory`, the page as a label (`VERBS`).
Page, command line, agents and scripts import this class, and the values that it takes and returns
(`values.py`), and nothing else of the memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from store.embedding import open_embedder
from store.memory import context, demo, doctor
from store.memory import exporting as exports
from store.memory.documents.headings import sections_named
from store.memory.engine import reembedding
from store.memory.engine.database import Places
from store.memory.engine.entries import Entries
from store.memory.engine.fusion import best, diverse_order, log_retrieval
from store.memory.engine.inputs import (
    LONGEST_QUESTION,
    InvalidInput,
    UnknownEntry,
    check_known,
    checked_count,
    checked_percentage,
    checked_text,
)
from store.memory.engine.kind import Row
from store.memory.inspect import health, neighbours, probe
from store.memory.inspect.health import MemoryFigures
from store.memory.kinds import LORE, MEMORIES, NAMES, SESSIONS
from store.memory.memories import relevance
from store.memory.opened import OpenedMemory
from store.memory.trust import replay, review
from store.outcome import Outcome, Refusal
from store.progress import Progress

# Every verb with the label under which the page has it.
VERBS = {
    "store": "Store",
    "list": "Browse",
    "show": "Open",
    "edit": "Save and embed again",
    "remove": "Remove",
    "search": "Question",
    "forget": "Delete session permanently",
    "undo": "Undo",
    "redo": "Redo",
    "export": "Export",
    "assemble": "What a model is told",
    "ask": "Answer",
}
_MOST = 1_000  # entries of one page, or that are found
_POOL = 4  # times as many entries are compared for diversity


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Which entries may answer; what a kind does not have is refused by name."""

    scope: str = ""  # a world, session key or protocol; of transcripts a session
    user: str = ""  # of transcripts
    project: str = ""  # of transcripts
    section: str = ""  # of documents: a heading, or its number or title alone
    tags: Sequence[str] = ()  # of memories: all of them
    since: float | None = None  # UNIX seconds; when it was written or last edited
    until: float | None = None
    min_score: float | None = None  # percent: the lowest cosine
    mmr: float | None = None  # λ of marginal relevance: 1 for relevance alone
    near_misses: int = 0  # so many below `min_score`, after the others

    def where(self, entries: Entries) -> dict[str, Any]:
        """The filters for the engine. Raises InvalidInput for one that this kind does not have."""
        kind, found = entries.kind, dict[str, Any]()
        columns = {
            kind.scope: self.scope, "user_id": self.user, "project_slug": self.project,
            "section": self.section,
        }  # fmt: skip
        for column, wanted in columns.items():
            if wanted and column not in (*kind.filters, *kind.more_filters):
                names = {"user_id": "user", "project_slug": "project", "section": "section"}
                what = names.get(column, "world, session or protocol")
                raise InvalidInput(f"{kind.name} belong to no {what}")
            if wanted and column == "section":
                found[column] = sections_named(wanted, entries.counts(column))
            elif wanted:
                known = entries.scopes() if column == kind.scope else entries.counts(column)
                check_known(wanted, known, what=column.removesuffix("_id"))
                found[column] = wanted
        found |= {"tags": list(self.tags)} if self.tags else {}
        return found | {name: at for name in ("since", "until") if (at := getattr(self, name)) is not None}


_EVERYTHING = SearchFilters()


def has_memory(root: Path) -> bool:
    """Whether there is a text memory below this root."""
    return Places(root).folder.is_dir()


class Memory(OpenedMemory):
    """The verbs of one memory, as one actor.

    What one kind alone has is a verb of its part: `memories`, `lore`, `session_memory`, `documents`,
    `transcripts`. A verb with a module of its own is a function there, whose first argument is the memory.
    """

    mentions = neighbours.mentions
    around = neighbours.around
    nearest = neighbours.nearest
    near_duplicates = neighbours.near_duplicates
    junk = health.junk
    ask_nightly = probe.ask_nightly
    last_recall_test = probe.last_recall_test
    recall_test = probe.recall_test
    concerns = health.concerns
    unread_worlds = health.unread_worlds
    check = doctor.check
    repair = doctor.repair
    load_demo = demo.load
    export = exports.export

    waiting = review.waiting
    pending_count = review.count
    accept = review.accept
    reject = review.reject
    recall_of = review.of
    set_recall = review.set_recall
    preview_merge = review.preview
    merge = review.merge
    difference = replay.difference

    probe_messages = probe.probe_messages
    probe = probe.probe
    template = property(context.saved_template)
    save_template = context.save_template
    preview = context.preview
    assemble = context.assemble
    retrieve = context.retrieve
    ask = context.ask
    contexts = replay.contexts
    context = replay.context
    keep_context = replay.keep
    context_entries = replay.entries
    try_chunks = replay.try_chunks
    replay = replay.replay

    def entries(self, kind: str) -> Entries:
        """The entries of one kind, to count, find and read. Raises UnknownEntry for an unknown kind."""
        return self.kinds[kind]

    def reembed(
        self, kinds: Sequence[str] = NAMES, model: str = "", *, progress: Progress | None = None
    ) -> bool:
        """Embed what has no vector of its kind's model, or all by another; False if cancelled."""
        embedder = open_embedder(model) if model else None
        return all(reembedding.reembed(self.entries(kind), embedder, progress=progress) for kind in kinds)

    def store(
        self, text: str, *, kind: str = MEMORIES, tags: Sequence[str] | None = None, scope: str = "",
        name: str = "", is_new: bool = False, actor: str = "", decision: str | None = None,
    ) -> str:  # fmt: skip
        """Store a memory, a text of lore (`scope`: world) or of a session (`scope`: its key); returns its id.

        `name` is the entry's own, below its world or session. Raises UnknownEntry for a world that does not
        exist, unless it is new; InvalidInput for papers and transcripts, which are imported.
        """
        if kind == MEMORIES:
            if scope or name:
                raise InvalidInput("a memory has no world and no name of its own")
            stored = self.memories.store_memory(text, tags, actor=actor, decision=decision)
            return stored["memory_id"]
        if tags:
            raise InvalidInput("only memories have tags")
        if kind == LORE:
            if not is_new:
                self.lore.check_known(scope)
            self.lore.add_lore(scope, name, text, actor=actor, decision=decision)
        elif kind == SESSIONS:
            name = name or decision or str(uuid4())
            self.session_memory.add_memory(scope, name, text, actor=actor, decision=decision)
        else:
            raise InvalidInput(f"{self.entries(kind).kind.name} are imported, not stored one by one")
        return f"{scope}_{name}"

    def search(
        self, query: str, *, kind: str = MEMORIES, scope: str = "", limit: int = 5,
        filters: SearchFilters = _EVERYTHING,
    ) -> list[Row]:  # fmt: skip
        """The entries that fit best, with `score`, `meaning` and `words`; near misses, if wanted, last."""
        entries, filters = self.entries(kind), replace(filters, scope=scope or filters.scope)
        if kind == MEMORIES:
            answer = self.memories.search_memory(
                query, limit, threshold=filters.min_score, near_misses=filters.near_misses, mmr=filters.mmr,
                where=filters.where(entries),
            )  # fmt: skip
            misses = [{**row, "near_miss": True} for row in answer.get("near_misses", [])]
            return [*map(dict, answer["results"]), *misses]
        query = checked_text(query, what="the query", most=LONGEST_QUESTION)
        limit = checked_count(limit, what="the limit", most=_MOST)
        least = None if filters.min_score is None else checked_percentage(filters.min_score, what="min_score")
        if filters.near_misses:
            checked_count(filters.near_misses, what="the number of near misses", most=_MOST)
        where = filters.where(entries)
        pool = max(limit * _POOL, limit + filters.near_misses)
        hits = best(entries, query, n=pool, where=where)
        found = [
            hit for hit in hits if hit.answers and (least is None or relevance(hit.cosine or 0.0) >= least)
        ]
        near = [hit for hit in hits if hit not in found][: filters.near_misses]
        if filters.mmr is not None:
            ids, scores = [hit.row["id"] for hit in found], [hit.score for hit in found]
            order = diverse_order(entries, ids, scores, n=limit, trade_off=filters.mmr)
            found = [found[place] for place in order]
        found = found[:limit]
        log_retrieval(entries, query, found, scope=filters.scope, n=limit, where=where, threshold=least)
        if filters.scope and found:
            entries.count_question(filters.scope)
        rows = [{**hit.row, "score": hit.score, **hit.parts()} for hit in found]
        return rows + [{**hit.row, "score": hit.score, **hit.parts(), "near_miss": True} for hit in near]

    def list(
        self, *, kind: str = MEMORIES, scope: str = "", words: str = "", offset: int = 0, limit: int = 100
    ) -> tuple[int, list[Row]]:
        """How many entries pass, and a page of them. Raises UnknownEntry for an unknown scope."""
        entries = self.entries(kind)
        where = entries.within(scope)
        limit = checked_count(limit, what="the limit", most=_MOST)
        if offset < 0:
            raise InvalidInput(f"the offset has to be 0 or more, not {offset}")
        rows = entries.find(words=words, where=where, offset=offset, limit=limit)
        return entries.count(words=words, where=where), rows

    def show(self, id: str, *, kind: str = MEMORIES) -> Row:
        """One entry. Raises UnknownEntry, with the nearest ids."""
        return self.entries(kind).get(id)

    def edit(
        self, id: str, *, kind: str = MEMORIES, text: str | None = None, tags: Sequence[str] | None = None,
        actor: str = "", decision: str | None = None,
    ) -> Row:  # fmt: skip
        """Change an entry's text, embedded again, or a memory's tags; returns it. Raises InvalidInput."""
        self.show(id, kind=kind)
        if text is None and tags is None:
            raise InvalidInput("say what to change: the text, or the tags of a memory")
        if kind == MEMORIES:
            self.memories.edit(id, content=text, tags=tags, actor=actor, decision=decision)
        elif tags is not None:
            raise InvalidInput("only memories have tags")
        else:
            entries = self.entries(kind)
            entries.edit(id, actor=actor, decision=decision, **{entries.kind.text: text})
        return self.show(id, kind=kind)

    def remove(
        self, ids: Sequence[str], *, kind: str = MEMORIES, actor: str = "", decision: str | None = None
    ) -> Outcome:
        """Remove entries as one decision, which undo reverses; unknown ones are named with the nearest."""
        removed = self.entries(kind).decided(decision) or ()
        outcome = Outcome([id for id in dict.fromkeys(ids) if id in removed])
        for id in dict.fromkeys(ids):
            if id in removed:
                continue
            try:
                self.show(id, kind=kind)
            except UnknownEntry as error:
                outcome.refused.append(Refusal(id, str(error)))
            else:
                outcome.done.append(id)
        self.entries(kind).remove(outcome.done, actor=actor, decision=decision)
        return outcome

    def forget(self, session: str, *, actor: str = "", decision: str | None = None) -> dict[str, int]:
        """Delete a session for good, for all its characters: entries by key. Raises UnknownEntry."""
        return self.session_memory.delete_session(session, actor=actor, decision=decision)

    def figures(self) -> Sequence[MemoryFigures]:
        """The figures of each kind; 0.8 s for 100,000 entries."""
        return [health.figures(entries) for entries in self.kinds.values()]

    def worlds(self) -> dict[str, int]:
        """Every world with its number of entries."""
        counts = self.lore.entries.counts()
        return {name: counts.get(name, 0) for name in self.lore.entries.scopes()}

    def sessions(self) -> dict[str, int]:
        """Every session key with its number of exchanges."""
        return self.session_memory.entries.counts()

    def protocols(self) -> dict[str, int]:
        """Every protocol with its number of passages."""
        return self.documents.protocols()

    def tags(self) -> dict[str, int]:
        """Every tag of a memory with the number of memories that have it."""
        rows = self.memories.entries.database.rows(
            "SELECT value, count(*) FROM memories, json_each(memories.tags) GROUP BY value ORDER BY value"
        )
        return {str(row[0]): int(row[1]) for row in rows}
