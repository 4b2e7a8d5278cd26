"""Messages, vectors and events of a transcript database as rows of the text memory."""

import json
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from store.adopting.texts.adoption import Entry
from store.adopting.texts.transcript_tables import Row, TranscriptTables
from store.memory.engine.foreign_values import TIMES, moment, time_of, whole_number
from store.memory.engine.foreign_vectors import as_vector, model_name
from store.memory.engine.inputs import as_json
from store.memory.text.extraction import CONTENT_TYPES, extract_all_embeddable_content, readable
from store.memory.text.token_chunks import chunk_text
from store.memory.text.tokens import count_tokens
from store.memory.transcripts import events
from store.memory.transcripts.files import text_of

_OF_ROLE = {"user": "user_query", "assistant": "assistant_response", "tool": "tool_output"}
_EVENT_KEYS = ("tool_name", "error_type", "model_used")


def message_entry(row: Row, *, project: str | None) -> Entry:
    """A message. Raises ValueError without an id, a user, a session or a place in it."""
    content = _content(row)
    message = {"role": text_of(row.get("role")) or "unknown", "content": content}
    turn, unread, ts = row.get("turn"), list[str](), None
    if turn not in (None, "") and whole_number(turn) is None:
        unread.append(f"its turn {str(turn)[:40]!r} is no number")
    try:
        ts = _written(row)
    except ValueError as error:
        unread.append(str(error))
    return Entry(
        {
            "id": _needed(row, "id"),
            "user_id": _needed(row, "user_id"),
            "session_id": _needed(row, "session_id"),
            "project_slug": text_of(row.get("project_slug")) or project,
            "sequence": _place(row),
            "role": message["role"],
            "content": as_json(content),
            "turn": whole_number(row.get("turn")),
            "ts": ts,
            "text_content": text_of(row.get("text_content")) or readable(message),
        },
        unread=tuple(unread),
    )


def inline_entries(row: Row, message: Entry, tables: TranscriptTables) -> Iterator[Entry]:
    """The vectors in a message's own row, of versions 0 and 1. Raises ValueError for a broken one."""
    columns = dict(tables.inline)
    if not columns and tables.single:
        columns = {_OF_ROLE.get(message.row["role"], "user_query"): tables.single}
    texts = _texts(message)
    for kind, column in columns.items():
        if (vector := as_vector(row.get(column))) is None:
            continue
        text = texts.get(kind) or message.row["text_content"] or ""
        if text:
            entry = _chunk(message, kind, text, 0, 1, 0, len(text))
            entry.vector, entry.model = vector, model_name(row.get("embedding_model"))
            yield entry


def vector_entry(row: Row, message: Entry, tables: TranscriptTables) -> Entry:
    """A row of the table of vectors. Raises ValueError for a broken one."""
    text = row.get("source_text")
    if not isinstance(text, str) or not text:
        raise ValueError("it has no source_text")
    kind = row.get("content_type")
    if kind not in CONTENT_TYPES:
        raise ValueError(f"its content_type is {kind!r}")
    start = whole_number(row.get("span_start")) or 0
    entry = Entry(
        {
            "id": _needed(row, "id"),
            **_scope(message),
            "content_type": kind,
            "chunk_index": whole_number(row.get("chunk_index")) or 0,
            "total_chunks": whole_number(row.get("total_chunks")) or 1,
            "span_start": start,
            "span_end": whole_number(row.get("span_end")) or start + len(text),
            "token_count": whole_number(row.get("token_count")) or count_tokens(text),
            "source_text": text,
        },
        is_listed=False,
        keeps_model=True,
    )
    entry.vector = as_vector(row.get(tables.vector))
    entry.model = model_name(row.get("embedding_model"))
    return entry


def bare_entries(message: Entry, *, besides: set[str]) -> Iterator[Entry]:
    """Chunks without a vector for the texts of a message that have none."""
    for kind, text in _texts(message).items():
        chunks = chunk_text(text, kind) if text and kind not in besides else []
        for index, chunk in enumerate(chunks):
            yield _chunk(message, kind, text, index, len(chunks), chunk.start, chunk.end, chunk.tokens)


def event_entry(row: Row) -> Entry:
    """An event. Raises ValueError without a type or a time."""
    data = row.get("data")
    parsed = _parsed(data) if isinstance(data, str) else data
    given = {"event": row.get("event"), "ts": _written(row), "lvl": row.get("lvl"), "data": parsed}
    user, session = _needed(row, "user_id"), _needed(row, "session_id")
    sequence = _place(row)
    made = events.row_of(given, user=user, session=session, sequence=sequence, synced_at="")
    fields = dict(zip(events.COLUMNS, made, strict=True))
    fields |= {"id": _needed(row, "id"), "turn": whole_number(row.get("turn"))}
    fields["data"] = None if parsed is None else as_json(parsed)
    fields["data_truncated"] = bool(row.get("data_truncated"))
    fields["data_size_bytes"] = whole_number(row.get("data_size_bytes")) or fields["data_size_bytes"]
    fields["synced_at"] = moment(_time(row.get("synced_at")))
    fields |= {key: value for key in _EVENT_KEYS if (value := text_of(row.get(key)))}
    return Entry(fields, is_listed=False)


def session_metadata(row: Row) -> dict[str, Any]:
    """What is known of a session and has no place among its messages."""
    found = {name: _time(value) for name, value in row.items() if value is not None}
    if isinstance(found.get("metadata"), str):
        found["metadata"] = _parsed(found["metadata"])
    return found


def _chunk(
    message: Entry,
    kind: str,
    text: str,
    index: int,
    total: int,
    start: int,
    end: int,
    tokens: int | None = None,
) -> Entry:
    return Entry(
        {
            "id": f"{message.row['id']}_{kind}_{index}",
            **_scope(message),
            "content_type": kind,
            "chunk_index": index,
            "total_chunks": total,
            "span_start": start,
            "span_end": end,
            "token_count": count_tokens(text[start:end]) if tokens is None else tokens,
            "source_text": text[start:end],
        },
        is_listed=False,
        keeps_model=True,
    )


def _scope(message: Entry) -> dict[str, Any]:
    row = message.row
    return {
        "parent_id": row["id"],
        "user_id": row["user_id"],
        "session_id": row["session_id"],
        "project_slug": row["project_slug"],
    }


def _texts(message: Entry) -> Mapping[Any, Any]:
    content = json.loads(message.row["content"])
    return extract_all_embeddable_content({"role": message.row["role"], "content": content})


def _content(row: Row) -> Any:
    """The content as JSON; what is not, as earlier versions stored texts, is a text."""
    value = row["content_json"] if "content_json" in row else row.get("content")
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    is_text = "embedding_json" in row or "embedding" in row
    if isinstance(value, str) and (not is_text or value.lstrip()[:2] == "[{"):
        return _parsed(value)
    return value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _time(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _written(row: Row) -> str | None:
    """When it was written, in any column that says so. Raises ValueError if that cannot be read."""
    return time_of({name: _time(row[name]) for name in TIMES if name in row})


def _place(row: Row) -> int:
    """The place in its session. Raises ValueError for one that is no number, as no other can be guessed."""
    given, found = row.get("sequence"), whole_number(row.get("sequence"))
    if given is not None and found is None:
        raise ValueError(f"its sequence {str(given)[:40]!r} is no number")
    return found or 0


def _needed(row: Row, name: str) -> str:
    if not (value := text_of(row.get(name))):
        raise ValueError(f"it has no {name}")
    return value
