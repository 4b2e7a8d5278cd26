"""The door to the text memory: its verbs, under one name everywhere.

    verbs = MemoryVerbs(Memory.open(Path("res")))
    verbs.store("Ann prefers short tickers", tags=["ann"])
    verbs.search("Which tickers does Ann prefer?")

The command line has each as `memory VERB`, agents as the tool `VERB_memory`, the page as a label (`VERBS`).
Page, command line, agents and scripts import this class, and the values that it takes and returns
(`values.py`), and nothing else of the memory.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from store.embedding import open_embedder
from store.memory import context, demo, doctor
from store.memory.asking import Answer, AskedModel, ask
from store.memory.context import AssembledContext, log_handed_out
from store.memory.decisions import Decisions
from store.memory.engine import recall, reembedding
from store.memory.engine.entries import Row
from store.memory.engine.errors import InvalidInput, UnknownEntry
from store.memory.engine.inputs import checked_count
from store.memory.engine.names import check_known
from store.memory.engine.passages import Passages
from store.memory.engine.places import Places
from store.memory.engine.recall import Recall
from store.memory.engine.resident import Where
from store.memory.engine.retrievals import KeptContext
from store.memory.exporting.export import export as write_export
from store.memory.inspect import connections, health, near_duplicates, neighbours, probe
from store.memory.inspect.connections import Mention
from store.memory.inspect.health import Concern, MemoryFigures
from store.memory.inspect.near_duplicates import DuplicatePair
from store.memory.inspect.probe import ProbeMessage, ProbeResult
from store.memory.memory import Memory as Memory
from store.memory.searching import SearchFilters, search
from store.memory.status import MemoryStatus
from store.memory.story.lore import WorldReport
from store.memory.transcripts.search import FoundMessages, Mode
from store.memory.trust import difference, merge, replay, review
from store.memory.trust.difference import EntryDifference
from store.memory.trust.merge import MergePreview
from store.memory.trust.replay import ContextEntry, ReplayedEntry, WhatIf
from store.memory.trust.review import ReviewItem
from store.outcome import Outcome, Refusal
from store.progress import Progress
from store.records import Record

MEMORIES, LORE, SESSIONS, DOCUMENTS, TRANSCRIPTS = (
    "memories", "world_lore", "session_memory", "documents", "transcript_vectors",
)  # fmt: skip
KINDS = (MEMORIES, LORE, SESSIONS, DOCUMENTS, TRANSCRIPTS)

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
_MOST = 1_000  # entries of one page
_EVERYTHING = SearchFilters()


def has_memory(root: Path) -> bool:
    """Whether there is a text memory below this root."""
    return Places(root).folder.is_dir()


class MemoryVerbs:
    """The verbs of one memory, as one actor.

    What one kind alone has is a verb of its part: `lore`, `session_memory`, `documents`, `transcripts`.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.memories = memory.memories
        self.lore = memory.lore
        self.session_memory = memory.sessions
        self.documents = memory.documents
        self.transcripts = memory.transcripts

    # -- the whole ----------------------------------------------------------------------------------------

    @property
    def can_write(self) -> bool:
        """Whether this memory is open for writing, and this actor may change it."""
        return self.memory.can_write

    @property
    def generation(self) -> tuple[int, ...]:
        """Changes with every change of an entry or a model, and with every counted question."""
        return self.memory.generation

    def status(self) -> MemoryStatus:
        """How much there is of each kind, by which model, and what is wrong."""
        return self.memory.status()

    @contextmanager
    def as_of(self, moment: float) -> Iterator["MemoryVerbs"]:
        """The memory as it was at a moment (UNIX seconds), for questions. Raises InvalidInput."""
        with self.memory.as_of(moment) as past:
            yield MemoryVerbs(past)

    def entries(self, kind: str) -> Passages:
        """The entries of one kind, to count, find and read. Raises UnknownEntry for an unknown kind."""
        check_known(kind, KINDS, what="kind of text memory")
        return self.memory.passages[kind]

    def reembed(
        self, kinds: Sequence[str] = KINDS, model: str = "", *, progress: Progress | None = None
    ) -> bool:
        """Embed what has no vector of its kind's model, or all by another model; False if cancelled.

        Old vectors are used until the new ones are complete. Raises ModelUnavailable or NotWritten.
        """
        embedder = open_embedder(model) if model else None
        return all(reembedding.reembed(self.entries(kind), embedder, progress=progress) for kind in kinds)

    @property
    def worlds_folder(self) -> Path:
        """Where the files of worlds are."""
        return self.memory.places.worlds

    def put_world(self, name: str, content: bytes) -> None:
        """Put the file of a world in its folder; `load_worlds` loads it."""
        self.lore.put_file(self.worlds_folder, name, content)

    def load_worlds(self, *, actor: str = "") -> WorldReport:
        """Load the files of worlds that are new or changed; what is no world is refused."""
        return self.lore.load_worlds(self.worlds_folder, actor=actor)

    def load_demo(self, *, progress: Progress | None = None) -> dict[str, int]:
        """Add what is missing of the demo; how many entries each kind has then."""
        return demo.load(self.memory, progress=progress)

    # -- entries ------------------------------------------------------------------------------------------

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
            memories = self.memory.memories
            return str(memories.store_memory(text, tags, actor=actor, decision=decision)["memory_id"])
        if tags:
            raise InvalidInput("only memories have tags")
        if kind == LORE:
            if not is_new:
                self.memory.lore.check_known(scope)
            self.memory.lore.add_lore(scope, name, text, actor=actor, decision=decision)
        elif kind == SESSIONS:
            name = name or decision or str(uuid4())
            self.memory.sessions.add_memory(scope, name, text, actor=actor, decision=decision)
        else:
            raise InvalidInput(f"{self.entries(kind).kind.name} are imported, not stored one by one")
        return f"{scope}_{name}"

    def list(
        self, *, kind: str = MEMORIES, scope: str = "", words: str = "", offset: int = 0, limit: int = 100
    ) -> tuple[int, list[Row]]:
        """How many entries pass, and a page of them. Raises UnknownEntry for an unknown scope."""
        passages = self.entries(kind)
        where = self._where(passages, scope)
        limit = checked_count(limit, what="the limit", most=_MOST)
        if offset < 0:
            raise InvalidInput(f"the offset has to be 0 or more, not {offset}")
        rows = passages.find(words=words, where=where, offset=offset, limit=limit)
        return passages.count(words=words, where=where), rows

    def show(self, id: str, *, kind: str = MEMORIES) -> Row:
        """One entry. Raises UnknownEntry, with the nearest ids."""
        return self.entries(kind).get(id)

    def edit(
        self, id: str, *, kind: str = MEMORIES, text: str | None = None, tags: Sequence[str] | None = None,
        actor: str = "", decision: str | None = None,
    ) -> Row:  # fmt: skip
        """Change an entry's text, embedded again, or a memory's tags; returns the entry.

        Raises InvalidInput if nothing is to be changed, or tags of another kind than memories.
        """
        self.show(id, kind=kind)
        if text is None and tags is None:
            raise InvalidInput("say what to change: the text, or the tags of a memory")
        if kind == MEMORIES:
            self.memory.memories.edit(id, content=text, tags=tags, actor=actor, decision=decision)
        elif tags is not None:
            raise InvalidInput("only memories have tags")
        else:
            passages = self.entries(kind)
            passages.edit(id, actor=actor, decision=decision, **{passages.kind.text: text})
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

    def search(
        self, query: str, *, kind: str = MEMORIES, scope: str = "", limit: int = 5,
        filters: SearchFilters = _EVERYTHING,
    ) -> Sequence[Row]:  # fmt: skip
        """The entries that fit best, with `score`, `meaning` and `words`; memories as `search_memory`.

        Near misses, if `filters` ask for them, come last, with `"near_miss": True`.
        """
        passages = self.entries(kind)
        filters = replace(filters, scope=scope or filters.scope)
        if kind != MEMORIES:
            return search(passages, query, limit=limit, most=_MOST, filters=filters)
        found = self.memory.memories.search_memory(
            query, limit, threshold=filters.min_score, near_misses=filters.near_misses, mmr=filters.mmr,
            where=filters.where(passages),
        )  # fmt: skip
        near = [{**row, "near_miss": True} for row in found.get("near_misses", [])]
        return [*map(dict, found["results"]), *near]

    # -- decisions ----------------------------------------------------------------------------------------

    def forget(self, session: str, *, actor: str = "", decision: str | None = None) -> dict[str, int]:
        """Delete a session for good, for all its characters; how many entries there were, by key.

        Cannot be undone. Raises UnknownEntry, with the nearest keys, if nothing is stored under it.
        """
        return self.memory.sessions.delete_session(session, actor=actor, decision=decision)

    @property
    def past(self) -> Decisions:
        """All decisions about texts: listed, counted, and undone by their ids."""
        return self.memory

    def undo(self, *, actor: str = "", decision: str | None = None) -> Outcome:
        """Undo the actor's own last decision. Raises NothingToUndo."""
        return self.memory.undo(actor=actor, decision=decision)

    def redo(self, *, actor: str = "", decision: str | None = None) -> Outcome:
        """Redo the actor's own last undo. Raises NothingToUndo."""
        return self.memory.redo(actor=actor, decision=decision)

    def export(self, path: Path, *, kinds: Sequence[str], model: str = "") -> Outcome:
        """Write these kinds in the layout of their reference to a new place.

        Raises InvalidInput for kinds that do not go together, BadSource if there is something at the path.
        """
        return write_export(self.memory, path, kinds=kinds, model=model)

    # -- what agents wrote --------------------------------------------------------------------------------

    def waiting(self, *, most: int | None = None) -> Sequence[ReviewItem]:
        """What agents wrote and no person has decided about, oldest first, with what speaks against it."""
        return review.waiting(self.memory, most=most)

    def pending_count(self) -> int:
        """How many changes wait."""
        return review.count(self.memory)

    def accept(self, ids: Sequence[str], *, actor: str = "", decision: str | None = None) -> Outcome:
        """Accept what waits under these ids as one decision; what cannot be is refused by name."""
        return review.accept(self.memory, ids, actor=actor, decision=decision)

    def reject(self, ids: Sequence[str], *, actor: str = "", decision: str | None = None) -> Outcome:
        """Reject what waits under these ids as one decision; what cannot be is refused by name."""
        return review.reject(self.memory, ids, actor=actor, decision=decision)

    # -- one entry and those near it ----------------------------------------------------------------------

    def around(self, id: str, *, kind: str = MEMORIES, reach: int = 1) -> tuple[Sequence[Row], Sequence[Row]]:
        """The entries before and after one in their source, in reading order."""
        return neighbours.around(self.entries(kind), id, reach=reach)

    def nearest(self, id: str, *, kind: str = MEMORIES) -> Sequence[tuple[Row, float]]:
        """The entries of its kind that are nearest to one in meaning, best first, with their cosines."""
        return neighbours.nearest_to(self.entries(kind), id)

    def mentions(self, record: Record) -> Sequence[Mention]:
        """The entries of every kind that name a coin, then those nearest to its caption."""
        return connections.mentions(self.memory, record)

    def recall_of(self, id: str, *, kind: str = MEMORIES) -> Recall:
        """Whether an entry is pinned, never recalled, or "": recalled when it fits."""
        return recall.of(self.entries(kind), id)

    def set_recall(
        self, ids: Sequence[str], state: Recall, *, kind: str = MEMORIES, actor: str = "",
        decision: str | None = None,
    ) -> None:  # fmt: skip
        """Pin entries, never recall them, or treat them as all others; one decision. Raises UnknownEntry."""
        recall.set_recall(self.entries(kind), ids, state, actor=actor, decision=decision)

    def near_duplicates(
        self, kind: str = MEMORIES, *, progress: Progress | None = None
    ) -> Sequence[DuplicatePair]:
        """Pairs of entries that say nearly the same, the most alike first."""
        return near_duplicates.near_duplicates(self.entries(kind), progress=progress)

    def preview_merge(self, keep: str, others: Sequence[str], *, kind: str = MEMORIES) -> MergePreview:
        """What `merge` would store. Raises UnknownEntry or InvalidInput."""
        return merge.preview(self.entries(kind), keep, others)

    def merge(
        self, keep: str, others: Sequence[str], *, kind: str = MEMORIES, text: str = "",
        shown: MergePreview | None = None, actor: str = "", decision: str | None = None,
    ) -> MergePreview:  # fmt: skip
        """Merge entries into the first, with another text if one is given; one decision.

        Raises UnknownEntry or InvalidInput if one of them is not as `shown` any more.
        """
        return merge.merge(
            self.entries(kind), keep, others, text=text, shown=shown, actor=actor, decision=decision
        )

    def difference(self, since: float, until: float | None = None) -> Sequence[EntryDifference]:
        """What was added, removed or changed between two moments (UNIX seconds; None: now)."""
        return difference.difference(self.memory, since, until)

    # -- health -------------------------------------------------------------------------------------------

    def figures(self) -> Sequence[MemoryFigures]:
        """The figures of each kind; 0.8 s for 100,000 entries."""
        return [health.figures(passages) for passages in self.memory.passages.values()]

    def concerns(self) -> Sequence[Concern]:
        """What needs a person's attention, with the remedy."""
        return health.concerns(self.memory)

    def unread_worlds(self) -> Concern | None:
        """Files of worlds that were edited since they were loaded."""
        return health.unread_worlds(self.memory)

    def check(self) -> Sequence[doctor.MemoryFinding]:
        """What does not agree among files, full text, vectors and Chroma; changes nothing."""
        return doctor.check(self.memory)

    def repair(self) -> Sequence[doctor.MemoryFinding]:
        """Repair what can be without discarding anything; what is left."""
        return doctor.repair(self.memory)

    # -- for a model --------------------------------------------------------------------------------------

    @property
    def template(self) -> str:
        """The template of contexts that was saved for everybody, else the default."""
        return self.memory.template

    def save_template(self, template: str) -> None:
        """Save a template for everybody, agents included. Raises InvalidInput or ReadOnly."""
        self.memory.save_template(template)

    def preview(
        self, prompt: str, *, template: str = "", kinds: Collection[str] = KINDS,
        numbers: Mapping[str, int] | None = None, where: Mapping[str, Where] | None = None,
        floors: Mapping[str, float] | None = None,
    ) -> AssembledContext:  # fmt: skip
        """A context as `assemble` makes it, by filters of the engine; it counts as no question."""
        self.memory.actor.check_login()
        return context.assemble(
            self.memory.passages, prompt, template=template or self.template, kinds=kinds, numbers=numbers,
            where=where, floors=floors,
        )  # fmt: skip

    def probe(
        self, question: str, *, kind: str = MEMORIES, n: int, where: Where | None = None,
        floor: float | None = None, budget: int | None = None, mmr: float | None = None, near: int = 10,
    ) -> ProbeResult:  # fmt: skip
        """What one kind answers, the nearest of what it leaves out, and why; counts as no question."""
        return probe.probe(
            self.entries(kind), question, n=n, where=where, floor=floor, budget=budget, mmr=mmr, near=near
        )

    def probe_messages(
        self, question: str, *, mode: Mode, n: int, where: Where | None = None, floor: float | None = None,
        budget: int | None = None, mmr: float | None = None, near: int = 10,
    ) -> FoundMessages[ProbeMessage]:  # fmt: skip
        """As `probe`, of messages of recorded sessions."""
        return probe.probe_messages(
            self.entries(TRANSCRIPTS), question, mode=mode, n=n, where=where, floor=floor, budget=budget,
            mmr=mmr, near=near,
        )  # fmt: skip

    def contexts(self) -> Sequence[KeptContext]:
        """The contexts that were handed out and kept, newest first."""
        return replay.contexts(self.memory)

    def context(self, id: str) -> KeptContext:
        """One kept context, by the beginning of its id. Raises UnknownEntry."""
        return replay.context(self.memory, id)

    def keep_context(self, prompt: str, shown: AssembledContext) -> None:
        """Keep what a person was shown for a prompt, once, if the settings say so."""
        replay.keep(self.memory, prompt, shown)

    def context_entries(self, kept: KeptContext) -> Sequence[ContextEntry]:
        """What was in a kept context, each entry in the version that was handed out."""
        return replay.entries(self.memory, kept)

    def replay(self, kept: KeptContext, what_if: WhatIf) -> Sequence[ReplayedEntry]:
        """What a kept context would have been otherwise, compared with what it was."""
        return replay.replay(self.memory, kept, what_if)

    def try_chunks(self, paper: str, *, size: int, overlap: int, question: str = "") -> Sequence[Row]:
        """A paper's passages with other sizes in characters; with a question those that fit it best.

        Nothing is stored. Raises UnknownEntry for a paper that is not there.
        """
        papers = {one.id: one for one in self.documents.sources()}
        check_known(paper, papers, what="paper")
        return replay.try_chunks(self.memory, papers[paper], size=size, overlap=overlap, question=question)

    def assemble(
        self, prompt: str, *, world: str = "", session: str = "", template: str = "",
        kinds: Collection[str] = KINDS, numbers: Mapping[str, int] | None = None,
    ) -> AssembledContext:  # fmt: skip
        """The context that a model would get for this prompt, from these kinds, and what is left out and why.

        Lore needs its world, session memory its session. By the template that was saved for everybody, unless
        another is given. Raises UnknownEntry for a name nothing has.
        """
        for kind in kinds:
            check_known(kind, KINDS, what="kind of text memory")
        where = {
            "lore": self._where(self.entries(LORE), world) or {"world_id": ""},
            "memory": self._where(self.entries(SESSIONS), session) or {"session_id": ""},
        }
        found = self.preview(prompt, template=template, kinds=kinds, numbers=numbers, where=where)
        log_handed_out(self.memory.passages, prompt, found)
        return found

    def ask(
        self, question: str, *, model: AskedModel, world: str = "", session: str = "", chunks: int = 3,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> Iterator[str | Answer]:  # fmt: skip
        """The model's answer piece by piece, then the whole with the entries that it cites.

        It is given up to `chunks` entries of each kind. Stopped, the answer is what came until then. Raises
        InvalidInput for a question or number out of bounds, UnknownEntry for a name nothing has, and
        CaptioningFailed if the model gives no answer.
        """
        checked_count(chunks, what="the number of chunks", most=20)
        where = {
            "lore": self._where(self.entries(LORE), world),
            "memory": self._where(self.entries(SESSIONS), session),
        }
        return ask(self.memory, question, model=model, where=where, chunks=chunks, is_stopping=is_stopping)

    # -- names --------------------------------------------------------------------------------------------

    def worlds(self) -> dict[str, int]:
        """Every world with its number of entries."""
        counts = self.memory.lore.passages.counts()
        return {name: counts.get(name, 0) for name in self.memory.lore.names()}

    def sessions(self) -> dict[str, int]:
        """Every session key with its number of exchanges."""
        return self.memory.sessions.passages.counts()

    def protocols(self) -> dict[str, int]:
        """Every protocol with its number of passages."""
        return self.memory.documents.protocols()

    def tags(self) -> dict[str, int]:
        """Every tag of a memory with the number of memories that have it."""
        with self.memory.memories.passages.database.reading() as db:
            rows = db.execute(
                "SELECT value, count(*) FROM memories, json_each(memories.tags) GROUP BY value ORDER BY value"
            )
            return {str(row[0]): int(row[1]) for row in rows}

    def _where(self, passages: Passages, scope: str) -> dict[str, str]:
        if not scope:
            return {}
        column = passages.kind.scope
        if not column:
            raise InvalidInput(f"{passages.kind.name} belong to no world, session or protocol")
        check_known(scope, passages.scopes(), what=column.removesuffix("_id"))
        return {column: scope}
