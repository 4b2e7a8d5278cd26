"""The text memory's verbs for agents, under the names that page, Python and command line have."""

import asyncio
import json
import threading
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from store.mcp import answers
from store.mcp.access import Access
from store.mcp.limits import MOST, Characters, Content, Diversity, Moment, Name, Percent, Question, Tags
from store.memory.memory import Memory
from store.memory.values import KINDS, Answer, Omission, Row, SearchFilters, checked_moment, configured_model
from store.outcome import Outcome

Kind = Literal["memories", "world_lore", "session_memory", "documents", "transcript_vectors"]
Kinds = Annotated[list[Kind], Field(min_length=1, max_length=len(KINDS))]
Limit = Annotated[int, Field(ge=1, le=MOST, description=f"1 to {MOST}")]
Offset = Annotated[int, Field(ge=0, le=10_000_000)]
Few = Annotated[int, Field(ge=1, le=20, description="1 to 20")]
Near = Annotated[int, Field(ge=0, le=20, description="0 to 20")]
Ids = Annotated[list[Name], Field(min_length=1, max_length=MOST)]
_EXPORTED = 200_000  # characters of one answer


class MemoryTools:
    """Each method is a tool; its docstring is the description that an agent reads."""

    def __init__(self, access: Access) -> None:
        self._access = access

    @property
    def _verbs(self) -> Memory:
        return self._access.memory

    def list_memory(
        self, kind: Kind = "memories", scope: Name | None = None, words: Question | None = None,
        offset: Offset = 0, limit: Limit = 20,
    ) -> answers.Page:  # fmt: skip
        """The entries of one kind, newest first; scope is a world, session key or protocol."""
        total, rows = self._verbs.list(
            kind=kind, scope=scope or "", words=words or "", offset=offset, limit=limit
        )
        return {"total": total, "entries": [_entry(row) for row in rows]}

    def search_entries(
        self, query: Question, kind: Kind = "memories", scope: Name | None = None, user: Name | None = None,
        project: Name | None = None, section: Name | None = None, tags: Tags | None = None,
        since: Moment = None, until: Moment = None,
        min_score: Percent | None = None, mmr: Diversity = None, near_misses: Near = 0, limit: Few = 5,
        as_of: Moment = None,
    ) -> answers.FoundEntries:  # fmt: skip
        """The entries of any kind that fit a question best, with every filter that the kind has.

        scope is a world, session or protocol; user and project are those of transcripts, section is a
        heading of documents, tags are those of memories. near_misses asks for so many below min_score,
        marked near_miss.
        """
        filters = SearchFilters(
            scope=scope or "", user=user or "", project=project or "", section=section or "", tags=tags or (),
            since=seconds(since), until=seconds(until, is_end=True), min_score=min_score, mmr=mmr,
            near_misses=near_misses,
        )  # fmt: skip
        with self._access.memory_at(as_of) as memory:
            entries = [*memory.search(query, kind=kind, limit=limit, filters=filters)]
            note = memory.entries(kind).caveat(query)
        return {"entries": entries, "note": note} if note else {"entries": entries}

    def show_memory(self, id: Name, kind: Kind = "memories") -> answers.EntryAnswer:
        """One entry by its id; an id that does not exist is answered with the nearest."""
        return _entry(self._verbs.show(id, kind=kind))

    def edit_memory(
        self, id: Name, kind: Kind = "memories", text: Content | None = None, tags: Tags | None = None
    ) -> answers.EntryAnswer:
        """Change an entry's text, or a memory's tags (all of them). undo_memory brings the old one back.

        With pending, the entry is as before until a person has reviewed the change.
        """
        verbs = self._verbs
        entry = _entry(verbs.edit(id, kind=kind, text=text, tags=tags))
        if verbs.actor.is_reviewed:
            entry["pending"] = True
        return entry

    def remove_memory(self, ids: Ids, kind: Kind = "memories") -> answers.Done:
        """Remove entries as one decision. undo_memory brings them back.

        With pending, they stay until a person has reviewed it.
        """
        verbs = self._verbs
        done = _done(verbs.remove(ids, kind=kind))
        if done["done"] and verbs.actor.is_reviewed:
            done["pending"] = True
        return done

    def forget_memory(self, session: Name) -> dict[str, int]:
        """Delete what was said in a session for good, by its key or, without a character, for all of them.

        This cannot be undone. Returns how many exchanges were deleted, by key.
        """
        return self._verbs.forget(session)

    def undo_memory(self) -> answers.Done:
        """Undo your own last decision about the text memory; never past something deleted for good."""
        return _done(self._verbs.undo())

    def redo_memory(self) -> answers.Done:
        """Redo what you undid last."""
        return _done(self._verbs.redo())

    def export_memory(
        self, kind: Kind = "memories", scope: Name | None = None, offset: Offset = 0, limit: Limit = MOST
    ) -> answers.ExportAnswer:
        """Entries of one kind as JSON Lines, as many as fit in 200,000 characters; next_offset goes on."""
        total, rows = self._verbs.list(kind=kind, scope=scope or "", offset=offset, limit=limit)
        lines, size = list[str](), 0
        for row in rows:
            line = json.dumps(row, ensure_ascii=False)
            size += len(line) + 1
            if lines and size > _EXPORTED:
                break
            lines.append(line)
        reached = offset + len(lines)
        return {
            "kind": kind,
            "total": total,
            "jsonl": "".join(f"{line}\n" for line in lines),
            "next_offset": reached if lines and reached < total else None,
        }

    def assemble_memory(
        self, prompt: Question, world: Name | None = None, session: Name | None = None,
        kinds: Kinds | None = None, max_chars: Characters = 2_500,
    ) -> answers.Context:  # fmt: skip
        """The context for a prompt from every kind (or kinds), as a model would get it.

        Lore needs its world, session memory its session; what agents stored, papers and recorded sessions
        need neither. left_out says what is not in it, and why. context_warning says that the entries have
        more than max_chars characters together.
        """
        found = self._verbs.assemble(prompt, world=world or "", session=session or "", kinds=kinds or KINDS)
        return {
            "text": found.text,
            "characters": found.characters,
            "tokens": found.tokens,
            "context_warning": found.characters > max_chars,
            "entries": [
                {
                    "number": number,
                    "kind": one.kind,
                    "id": one.row["id"],
                    "text": one.text,
                    "score": one.score,
                }
                for number, one in enumerate(found.chunks, start=1)
            ],
            "left_out": _left_out(found.left_out),
        }

    async def ask_memory(
        self, question: Question, world: Name | None = None, session: Name | None = None,
        chunks: Annotated[int, Field(ge=1, le=20, description="entries of each kind, 1 to 20")] = 3,
    ) -> answers.ModelAnswer:  # fmt: skip
        """Have the configured language model answer from the text memory; it cites entries by number.

        A cancelled call leaves the model as well.
        """
        is_over = threading.Event()

        def ask() -> Answer:
            pieces = self._verbs.ask(
                question, model=configured_model(), world=world or "", session=session or "", chunks=chunks,
                is_stopping=is_over.is_set,
            )  # fmt: skip
            (answer,) = (piece for piece in pieces if isinstance(piece, Answer))
            return answer

        try:
            answer = await asyncio.to_thread(ask)
        finally:
            is_over.set()
        return {
            "text": answer.text,
            "citations": [
                {"number": one.number, "kind": one.kind, "id": one.id, "text": one.text, "score": one.score}
                for one in answer.citations
            ],
            "unknown": answer.unknown,
            "model": answer.model,
            "left_out": _left_out(answer.left_out),
        }

    def list_worlds(self) -> answers.NamesAnswer:
        """Every world of the lore, with its number of entries."""
        return {"names": self._verbs.worlds()}

    def list_sessions(self) -> answers.NamesAnswer:
        """Every key of session memory, with its number of exchanges."""
        return {"names": self._verbs.sessions()}

    def list_protocols(self) -> answers.NamesAnswer:
        """Every protocol of the documents, with its number of passages."""
        return {"names": self._verbs.protocols()}

    def list_tags(self) -> answers.NamesAnswer:
        """Every tag of memories, with the number of memories."""
        return {"names": self._verbs.tags()}


def seconds(moment: str | None, *, is_end: bool = False) -> float | None:
    """A moment in UNIX seconds, a date as `checked_moment` has it. Raises InvalidInput."""
    return checked_moment(moment, is_end=is_end) if moment else None


def _entry(row: Row) -> answers.EntryAnswer:
    return row  # type: ignore[return-value]  # a row of any kind has an id, and columns of its own


def _left_out(found: Sequence[Omission]) -> list[answers.OmissionAnswer]:
    return [{"kind": one.kind, "count": one.count, "reason": one.reason} for one in found]


def _done(outcome: Outcome) -> answers.Done:
    refused = [{"item": one.item, "reason": one.reason} for one in outcome.refused]
    return {"done": outcome.done, "refused": refused}
