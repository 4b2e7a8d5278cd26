"""Entries of another program's Chroma as rows of the text memory (references 2 and 4, and documents)."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from store.adopting.texts.adoption import Entry
from store.memory.engine.foreign_values import TIMES, moment, time_of
from store.memory.engine.inputs import as_json, checked_text
from store.memory.story.lore import TIMES_OF_LORE

Metadata = Mapping[str, Any]
Make = Callable[[str, str, Metadata, str], Entry]  # id, text, metadata, when it was added

_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?")

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
    at, unread = _time(metadata)
    if at is None and not unread:
        at = _second_of(id) or _timestamp(added)
    row = {
        "id": checked_text(id, what="the id"),
        "content": checked_text(text, what="the text"),
        "tags": json.dumps(tags_of(metadata.get("tags"))),
        "timestamp": at or "",
    }
    if unread:
        rest = dict(metadata)
    return Entry(row, metadata=rest, may_be_renamed=True, unread=unread)


def lore_entry(id: str, text: str, metadata: Metadata, added: str) -> Entry:
    """Reference 4's chunk of a world. Raises ValueError if it names no world."""
    world = checked_text(_text(metadata.get("world_id")), what="its world_id")
    rest = {name: value for name, value in metadata.items() if name != "world_id"}
    row = {
        "id": checked_text(id, what="the id"),
        "world_id": world,
        "lore_id": id.removeprefix(f"{world}_"),
        "text": checked_text(text, what="the text"),
        "metadata": as_json(rest),
    }
    return Entry(row, unread=_time({name: metadata.get(name) for name in TIMES_OF_LORE})[1])


def session_entry(id: str, text: str, metadata: Metadata, added: str) -> Entry:
    """Reference 4's exchange of a session. Raises ValueError if it names no session."""
    key = checked_text(_text(metadata.get("session_id")), what="its session_id")
    rest = {name: value for name, value in metadata.items() if name != "session_id"}
    given, unread = _time(metadata)
    at = moment(given) if given or unread else moment(added)
    row = {
        "id": checked_text(id, what="the id"),
        "session_id": key,
        "memory_id": id.removeprefix(f"{key}_"),
        "text": checked_text(text, what="the text"),
        "at": datetime.fromisoformat(at).timestamp() if at else 0.0,
    }
    return Entry(row, metadata=rest, unread=unread)


ENTRIES: Mapping[str, Make] = {
    "memories": memory_entry,
    "world_lore": lore_entry,
    "session_memory": session_entry,
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


def _time(metadata: Metadata) -> tuple[str | None, tuple[str, ...]]:
    """The time of an entry, as it was written if it is in ISO 8601; what cannot be read, as a sentence."""
    try:
        found = time_of(metadata)
    except ValueError as error:
        return None, (str(error),)
    given = next((value for name in TIMES if (value := metadata.get(name)) and moment(value) == found), None)
    return (_timestamp(given) if found else None), ()


def _timestamp(value: Any) -> str | None:
    """A time as it was written if SQLite reads it too; any other in the form of reference 2."""
    found = moment(value)
    if found is None or (isinstance(value, str) and _ISO.fullmatch(value)):
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
