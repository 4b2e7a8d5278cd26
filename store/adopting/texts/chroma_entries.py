"""Entries of another program's Chroma as rows of the text memory (references 2 and 4, and documents)."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from store.adopting.texts.adoption import Entry
from store.adopting.texts.document_entries import document_entry
from store.memory.engine.foreign_values import moment
from store.memory.engine.inputs import as_json, checked_text

Metadata = Mapping[str, Any]
Make = Callable[[str, str, Metadata, str], Entry]  # id, text, metadata, when it was added

TITLES = {
    "memories": "memories",
    "world_lore": "chunks of lore",
    "session_memory": "exchanges of sessions",
    "documents": "passages of documents",
}


def kind_of(name: str, keys: set[str]) -> str:
    """The kind of memory that a collection with these metadata belongs to; "" if none is known."""
    if "world_id" in keys:
        return "world_lore"
    if "session_id" in keys:
        return "session_memory"
    if "protocol" in keys or {"source", "page"} <= keys:
        return "documents"
    return "memories" if keys & {"timestamp", "tags"} or name == "memories" else ""


def memory_entry(id: str, text: str, metadata: Metadata, added: str) -> Entry:
    """Reference 2's entry. Raises ValueError if it has no text."""
    rest = {name: value for name, value in metadata.items() if name not in ("timestamp", "tags")}
    row = {
        "id": checked_text(id, what="the id"),
        "content": checked_text(text, what="the text"),
        "tags": json.dumps(tags_of(metadata.get("tags"))),
        "timestamp": _timestamp(metadata.get("timestamp")) or _second_of(id) or _timestamp(added) or "",
    }
    return Entry(row, metadata=rest, may_be_renamed=True)


def lore_entry(id: str, text: str, metadata: Metadata, added: str) -> Entry:
    """Reference 4's chunk of a world. Raises ValueError if it names no world."""
    world = checked_text(_text(metadata.get("world_id")), what="its world_id")
    rest = {name: value for name, value in metadata.items() if name != "world_id"}
    return Entry(
        {
            "id": checked_text(id, what="the id"),
            "world_id": world,
            "lore_id": id.removeprefix(f"{world}_"),
            "text": checked_text(text, what="the text"),
            "metadata": as_json(rest),
        }
    )


def session_entry(id: str, text: str, metadata: Metadata, added: str) -> Entry:
    """Reference 4's exchange of a session. Raises ValueError if it names no session."""
    key = checked_text(_text(metadata.get("session_id")), what="its session_id")
    rest = {name: value for name, value in metadata.items() if name != "session_id"}
    at = moment(metadata.get("timestamp")) or moment(added)
    row = {
        "id": checked_text(id, what="the id"),
        "session_id": key,
        "memory_id": id.removeprefix(f"{key}_"),
        "text": checked_text(text, what="the text"),
        "at": datetime.fromisoformat(at).timestamp() if at else 0.0,
    }
    return Entry(row, metadata=rest)


def passage_entry(id: str, text: str, metadata: Metadata, added: str) -> Entry:
    """Reference 3's passage, kept in a Chroma."""
    return document_entry(id, text, metadata)


ENTRIES: Mapping[str, Make] = {
    "memories": memory_entry,
    "world_lore": lore_entry,
    "session_memory": session_entry,
    "documents": passage_entry,
}


def tags_of(value: Any) -> list[str]:
    """The tags of a list, of a JSON list or of one text with commas (or semicolons) between them."""
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            with suppress(ValueError, RecursionError):  # else it is a text with commas that begins so
                return tags_of(json.loads(value))
        value = value.split("," if "," in value else ";")
    if not isinstance(value, list):
        return []
    return list(dict.fromkeys(tag.strip() for tag in value if isinstance(tag, str) and tag.strip()))


def _timestamp(value: Any) -> str | None:
    """A time as it was written if it is one; seconds since 1970 as ISO 8601."""
    found = moment(value)
    if found is None or isinstance(value, str):
        return value if found else None
    return f"{datetime.fromisoformat(found):%Y-%m-%dT%H:%M:%SZ}"


def _second_of(id: str) -> str | None:
    """The time in an id such as mem_1706745600."""
    number = id.rpartition("_")[2]
    if not (id.startswith("mem_") and number.isdecimal() and len(number) <= 11):
        return None
    return f"{datetime.fromtimestamp(int(number), UTC):%Y-%m-%dT%H:%M:%SZ}"


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
