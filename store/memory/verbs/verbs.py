"""The verbs of the text memory, under one name everywhere.

    verbs = MemoryVerbs(Memory.open(Path("res")))
    verbs.store("Ann prefers short tickers", tags=["ann"])
    verbs.search("Which tickers does Ann prefer?")

The command line has each as `memory VERB`, agents as the tool `VERB_memory`, the page as a label (`VERBS`).
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from store.memory.context import AssembledContext, log_handed_out
from store.memory.engine.entries import Row
from store.memory.engine.errors import InvalidInput, UnknownEntry
from store.memory.engine.inputs import checked_count
from store.memory.engine.names import check_known
from store.memory.engine.passages import Passages
from store.memory.exporting.export import export as write_export
from store.memory.memory import Memory
from store.memory.verbs.asking import Answer, AskedModel, ask
from store.memory.verbs.searching import SearchFilters, search
from store.outcome import Outcome, Refusal

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
    "search": "Test retrieval",
    "forget": "Delete session permanently",
    "undo": "Undo",
    "redo": "Redo",
    "export": "Export",
    "assemble": "Prompt preview",
    "ask": "Ask",
}
_MOST = 1_000  # entries of one page
_EVERYTHING = SearchFilters()


class MemoryVerbs:
    """The verbs of one memory, as one actor."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    # -- entries ------------------------------------------------------------------------------------------

    def store(
        self, text: str, *, kind: str = MEMORIES, tags: Sequence[str] | None = None, scope: str = "",
        name: str = "", is_new: bool = False, actor: str = "",
    ) -> str:  # fmt: skip
        """Store a memory, a text of lore (`scope`: world) or of a session (`scope`: its key); returns its id.

        `name` is the entry's own, below its world or session. Raises UnknownEntry for a world that does not
        exist, unless it is new; InvalidInput for papers and transcripts, which are imported.
        """
        if kind == MEMORIES:
            if scope or name:
                raise InvalidInput("a memory has no world and no name of its own")
            return str(self.memory.memories.store_memory(text, tags, actor=actor)["memory_id"])
        if tags:
            raise InvalidInput("only memories have tags")
        if kind == LORE:
            if not is_new:
                self.memory.lore.check_known(scope)
            self.memory.lore.add_lore(scope, name, text, actor=actor)
        elif kind == SESSIONS:
            name = name or str(uuid4())
            self.memory.sessions.add_memory(scope, name, text, actor=actor)
        else:
            raise InvalidInput(f"{self._kind(kind).kind.name} are imported, not stored one by one")
        return f"{scope}_{name}"

    def list(
        self, *, kind: str = MEMORIES, scope: str = "", words: str = "", offset: int = 0, limit: int = 100
    ) -> tuple[int, list[Row]]:
        """How many entries pass, and a page of them. Raises UnknownEntry for an unknown scope."""
        passages = self._kind(kind)
        where = self._where(passages, scope)
        limit = checked_count(limit, what="the limit", most=_MOST)
        if offset < 0:
            raise InvalidInput(f"the offset has to be 0 or more, not {offset}")
        rows = passages.find(words=words, where=where, offset=offset, limit=limit)
        return passages.count(words=words, where=where), rows

    def show(self, id: str, *, kind: str = MEMORIES) -> Row:
        """One entry. Raises UnknownEntry, with the nearest ids."""
        return self._kind(kind).get(id)

    def edit(
        self, id: str, *, kind: str = MEMORIES, text: str | None = None, tags: Sequence[str] | None = None,
        actor: str = "",
    ) -> Row:  # fmt: skip
        """Change an entry's text, embedded again, or a memory's tags; returns the entry.

        Raises InvalidInput if nothing is to be changed, or tags of another kind than memories.
        """
        self.show(id, kind=kind)
        if text is None and tags is None:
            raise InvalidInput("say what to change: the text, or the tags of a memory")
        if kind == MEMORIES:
            self.memory.memories.edit(id, content=text, tags=tags, actor=actor)
        elif tags is not None:
            raise InvalidInput("only memories have tags")
        else:
            passages = self._kind(kind)
            passages.edit(id, actor=actor, **{passages.kind.text: text})
        return self.show(id, kind=kind)

    def remove(self, ids: Sequence[str], *, kind: str = MEMORIES, actor: str = "") -> Outcome:
        """Remove entries as one decision, which undo reverses; unknown ones are named with the nearest."""
        outcome = Outcome()
        for id in dict.fromkeys(ids):
            try:
                self.show(id, kind=kind)
            except UnknownEntry as error:
                outcome.refused.append(Refusal(id, str(error)))
            else:
                outcome.done.append(id)
        self._kind(kind).remove(outcome.done, actor=actor)
        return outcome

    def search(
        self, query: str, *, kind: str = MEMORIES, scope: str = "", limit: int = 5,
        filters: SearchFilters = _EVERYTHING,
    ) -> Sequence[Row]:  # fmt: skip
        """The entries that fit best, with `score`, `meaning` and `words`; memories as `search_memory`.

        Near misses, if `filters` ask for them, come last, with `"near_miss": True`.
        """
        passages = self._kind(kind)
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

    def forget(self, session: str, *, actor: str = "") -> dict[str, int]:
        """Delete a session for good, for all its characters; how many entries there were, by key.

        Cannot be undone. Raises UnknownEntry, with the nearest keys, if nothing is stored under it.
        """
        return self.memory.sessions.delete_session(session, actor=actor)

    def undo(self, *, actor: str = "") -> Outcome:
        """Undo the actor's own last decision. Raises NothingToUndo."""
        return self.memory.undo(actor=actor)

    def redo(self, *, actor: str = "") -> Outcome:
        """Redo the actor's own last undo. Raises NothingToUndo."""
        return self.memory.redo(actor=actor)

    def export(self, path: Path, *, kinds: Sequence[str], model: str = "") -> Outcome:
        """Write these kinds in the layout of their reference to a new place.

        Raises InvalidInput for kinds that do not go together, BadSource if there is something at the path.
        """
        return write_export(self.memory, path, kinds=kinds, model=model)

    # -- for a model --------------------------------------------------------------------------------------

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
            "lore": self._where(self._kind(LORE), world) or {"world_id": ""},
            "memory": self._where(self._kind(SESSIONS), session) or {"session_id": ""},
        }
        found = self.memory.assemble(prompt, template=template, kinds=kinds, numbers=numbers, where=where)
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
            "lore": self._where(self._kind(LORE), world),
            "memory": self._where(self._kind(SESSIONS), session),
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

    def _kind(self, kind: str) -> Passages:
        check_known(kind, KINDS, what="kind of text memory")
        return self.memory.passages[kind]

    def _where(self, passages: Passages, scope: str) -> dict[str, str]:
        if not scope:
            return {}
        column = passages.kind.scope
        if not column:
            raise InvalidInput(f"{passages.kind.name} belong to no world, session or protocol")
        check_known(scope, passages.scopes(), what=column.removesuffix("_id"))
        return {column: scope}
