"""The five kinds as the page names them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from components.shell import format
from store import Memory
from store.memory.values import TRANSCRIPTS, Row, pages_of


@dataclass(frozen=True, slots=True)
class KindLabels:
    """The name of a kind, and of its entries."""

    name: str  # the collection
    label: str
    icon: str
    one: str  # an entry
    scope: str  # what its entries belong to
    placeholder: str  # what a question to it looks like

    @property
    def many(self) -> str:
        """Several entries."""
        return f"{self.one[:-1]}ies" if self.one.endswith("y") else f"{self.one}s"


KINDS = {
    name: KindLabels(name, label, f":material/{icon}:", *words)
    for name, label, icon, *words in (
        ("world_lore", "Lore", "public", "lore entry", "world", "Who lights the lamps?"),
        ("session_memory", "Sessions", "forum", "conversation turn", "session",
         "How much is in the treasury?"),
        ("memories", "Memories", "psychology", "memory", "", "Which tickers do we prefer?"),
        ("documents", "Papers", "description", "paper passage", "protocol", "When is a loan liquidated?"),
        ("transcript_vectors", "Transcripts", "terminal", "transcript chunk", "session",
         "Why is the memory empty after a restart?"),
    )
}  # fmt: skip
TYPES = {
    "user_query": "user",
    "assistant_response": "answer",
    "assistant_thinking": "thinking",
    "tool_output": "tool result",
    "tool_call": "tool call",
}


def text_of(kind: str, row: Row) -> str:
    """The embedded text of an entry."""
    column = {"world_lore": "text", "session_memory": "text", "transcript_vectors": "source_text"}
    return str(row[column.get(kind, "content")])


def place_of(kind: str, row: Row) -> str:
    """A short description of an entry's place; untrusted, so it must be escaped."""
    if kind == "documents":
        section = f" · {row['section']}" if row["section"] else ""
        return (
            f"{row['protocol']} · {pages_of(row)}{section} · {row['source']}"  # a narrow place cuts its end
        )
    if kind == "world_lore":
        return f"{row['world_id']} · {row['lore_id']}"
    if kind == "session_memory":
        return str(row["session_id"])
    if kind == "transcript_vectors":
        part = f" · {row['chunk_index'] + 1} of {row['total_chunks']}" if row["total_chunks"] > 1 else ""
        return f"{row['session_id']} · {TYPES.get(row['content_type'], row['content_type'])}{part}"
    tags = json.loads(row["tags"])
    return " · ".join([row["timestamp"][:10], *tags[:3]])


def counted(kind: str, number: int) -> str:
    """ "1 memory", "12 passages"."""
    return format.counted(number, KINDS[kind].one, KINDS[kind].many)


def around(
    memory: Memory, kind: str, row: Row, *, reach: int = 1, is_entry: bool = True
) -> tuple[Sequence[str], Sequence[str]]:
    """The texts before and after an entry, or a message that has none, in its source."""
    texts: tuple[Sequence[str], Sequence[str]] = ((), ())
    if is_entry:
        before, after = memory.around(row["id"], kind=kind, reach=reach)
        texts = [text_of(kind, one) for one in before], [text_of(kind, one) for one in after]
    if kind == TRANSCRIPTS and not any(texts):
        return memory.transcripts.around(row["parent_id"])
    return texts
