"""Agents' memories (reference 2): texts with tags, found by meaning."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from store.memory.engine.errors import InvalidInput
from store.memory.engine.inputs import LONGEST, LONGEST_QUESTION, checked_count, checked_text
from store.memory.engine.kind import MemoryKind
from store.memory.engine.passages import Passages

MOST_TAGS = 10
LONGEST_TAG = 50  # characters
MOST_RESULTS = 20
RELEVANT = 30.0  # percent; what is below is left out


def _joined_tags(row: Any) -> dict[str, str]:
    """Tags as one string, because Chroma's metadata has no lists; nothing splits it again."""
    return {"tags": ",".join(json.loads(row["tags"]))}


KIND = MemoryKind(
    name="memories",
    file="memories",
    tables=("memories",),
    text="content",
    filters=("timestamp",),
    order="number DESC",
    written="unixepoch(timestamp)",
    metadata=_joined_tags,
    schema="""
CREATE TABLE memories (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,            -- mem_{second}
    content TEXT NOT NULL,
    tags TEXT NOT NULL,                 -- a JSON list, as it was given
    timestamp TEXT NOT NULL,            -- 2026-01-31T10:00:00Z
    vector BLOB,
    embedding_model TEXT
) STRICT;
""",
)


class Memories:
    """`store_memory` and `search_memory`, on the engine of embedded text."""

    def __init__(self, passages: Passages) -> None:
        self.passages = passages

    def store_memory(
        self, content: str, tags: Sequence[str] | None = None, *, actor: str = ""
    ) -> dict[str, Any]:
        """Store a text; the same text again is another memory.

        Raises InvalidInput (a ValueError) for an empty text or one of more than 100,000 characters, more than
        10 tags, or a tag of more than 50 characters.
        """
        content = checked_text(content, what="the content", most=LONGEST)
        tags = checked_tags(tags)
        second = int(self.passages.clock())
        vector = self.passages.embed([content])[0]
        model, dimensions = self.passages.model, len(vector) // 4
        row = {
            "content": content,
            "tags": json.dumps(tags),
            "timestamp": f"{datetime.fromtimestamp(second, UTC):%Y-%m-%dT%H:%M:%SZ}",
            "vector": vector,
            "embedding_model": model,
        }
        with self.passages.change("store", actor=actor) as change:
            number = second  # two memories in one second both survive, the second under the next free number
            while change.row("memories", f"mem_{number}"):
                number += 1
            change.upsert({"id": f"mem_{number}", **row})
        return {
            "memory_id": f"mem_{number}",
            "success": True,
            "timestamp": row["timestamp"],
            "embedding_dimensions": dimensions,
        }

    def search_memory(self, query: str, limit: int = 5) -> dict[str, Any]:
        """The most relevant memories, each at least 30 %.

        Raises InvalidInput (a ValueError) for an empty query, and for a limit outside 1–20.
        """
        query = checked_text(query, what="the query", most=LONGEST_QUESTION)
        limit = checked_count(limit, what="the limit", most=MOST_RESULTS)
        found = [
            (row, cosine)
            for row, cosine in self.passages.search(query, n=limit)
            if relevance(cosine) >= RELEVANT
        ]
        self.passages.log_retrieval(query, found, scope="")
        results = [
            {
                "memory_id": row["id"],
                "content": row["content"],
                "timestamp": row["timestamp"],
                "relevance_score": relevance(cosine),
                "tags": json.loads(row["tags"]),
            }
            for row, cosine in found
        ]
        self.passages.questions.record("memories")
        return {"results": results, "total_results": len(results), "query_embedding_generated": True}

    def edit(
        self, id: str, *, content: str | None = None, tags: Sequence[str] | None = None, actor: str = ""
    ) -> None:
        """Change a memory's text (embedded again) or its tags; id and timestamp stay."""
        columns: dict[str, Any] = {}
        if content is not None:
            columns["content"] = checked_text(content, what="the content", most=LONGEST)
        if tags is not None:
            columns["tags"] = json.dumps(checked_tags(tags))
        self.passages.edit(id, actor=actor, **columns)


def relevance(cosine: float) -> float:
    """Reference 2: (1 − distance) × 100, where the distance is one minus the cosine."""
    return min(cosine, 1.0) * 100  # float32 goes a little beyond


def checked_tags(tags: Sequence[str] | None) -> list[str]:
    """The tags as given, commas included. Raises InvalidInput beyond the limits of reference 2."""
    if isinstance(tags, str) or not all(isinstance(tag, str) for tag in tags or ()):
        raise InvalidInput("tags have to be a list of texts")
    given = list(tags or ())
    if len(given) > MOST_TAGS:
        raise InvalidInput(f"{len(given)} tags are too many; at most {MOST_TAGS}")
    for tag in given:
        if len(tag) > LONGEST_TAG:
            raise InvalidInput(f"the tag {tag[:20]!r}… has {len(tag)} characters; at most {LONGEST_TAG}")
    return given
