"""The conversations in databases of programs: which tables they have, and how these become conversations.

To add a program, add an entry to `DATABASES`: a query that answers a conversation in each row, as JSON of the
form that its source in `sources.py` describes. Only `llm`, whose tables differ by version, has code.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from store.disk.files import open_regular
from store.disk.sqlite_identity import opened_foreign
from store.outcome import Refusal

_HEAD = b"SQLite format 3\0"
_RESPONSES = """
SELECT r.*, coalesce(r.conversation_id, r.id) AS conversation FROM responses r
ORDER BY min(r.datetime_utc) OVER (PARTITION BY coalesce(r.conversation_id, r.id)), conversation,
    r.datetime_utc, r.rowid
"""
_BELOW = {  # what later versions keep apart, in the order in which it was said
    "system_fragments": (
        "SELECT f.content FROM system_fragments s JOIN fragments f ON f.id = s.fragment_id "
        'WHERE s.response_id = ? ORDER BY s."order"'
    ),
    "prompt_fragments": (
        "SELECT f.content FROM prompt_fragments p JOIN fragments f ON f.id = p.fragment_id "
        'WHERE p.response_id = ? ORDER BY p."order"'
    ),
    "prompt_attachments": (
        "SELECT coalesce(a.path, a.url, a.type) FROM prompt_attachments p "
        'JOIN attachments a ON a.id = p.attachment_id WHERE p.response_id = ? ORDER BY p."order"'
    ),
    "tool_results": "SELECT name, output FROM tool_results WHERE response_id = ? ORDER BY id",
    "tool_calls": "SELECT name, arguments FROM tool_calls WHERE response_id = ? ORDER BY id",
}
_CURSOR = """
SELECT json_set(c.text, '$.bubbles', json((
    SELECT json_group_array(json(CAST(b.value AS TEXT)))
    FROM json_each(c.text, '$.fullConversationHeadersOnly') h CROSS JOIN cursorDiskKV b
    WHERE b.key = 'bubbleId:' || (c.text ->> 'composerId') || ':' || (h.value ->> 'bubbleId')
        AND json_valid(CAST(b.value AS TEXT))
))) FROM (
    SELECT CAST(value AS TEXT) AS text FROM cursorDiskKV
    WHERE key >= 'composerData:' AND key < 'composerData;'
) c WHERE json_valid(c.text) ORDER BY c.text ->> 'createdAt'
"""
_CURSOR_TABS = """
SELECT tab.value FROM ItemTable, json_each(CAST(ItemTable.value AS TEXT), '$.tabs') tab
WHERE ItemTable.key = 'workbench.panel.aichat.view.aichat.chatdata'
"""
_OPENCODE = """
SELECT json_object(
    'info', json_object('id', s.id, 'title', s.title, 'directory', s.directory, 'parentID', s.parent_id),
    'messages', json((SELECT json_group_array(json_object('info', json(m.data), 'parts', json((
        SELECT json_group_array(json(p.data))
        FROM (SELECT data FROM part WHERE message_id = m.id AND json_valid(data) ORDER BY id) p
    )))) FROM (
        SELECT id, data FROM message WHERE session_id = s.id AND json_valid(data) ORDER BY time_created, id
    ) m))
) FROM session s ORDER BY s.time_created, s.id
"""
_GOOSE = """
SELECT json_object(
    'id', s.id, 'title', s.description, 'folder', s.working_dir,
    'messages', json((SELECT json_group_array(json_object(
        'role', m.role, 'content', json(m.content_json), 'timestamp', m.created_timestamp
    )) FROM (
        SELECT * FROM messages WHERE session_id = s.id AND json_valid(content_json) ORDER BY id
    ) m))
) FROM sessions s ORDER BY s.created_at, s.id
"""
_CRUSH = """
SELECT json_object(
    'id', s.id, 'title', s.title, 'messages', json((SELECT json_group_array(json_object(
        'role', m.role, 'parts', json(m.parts), 'timestamp', m.created_at, 'model', nullif(m.model, '')
    )) FROM (
        SELECT * FROM messages WHERE session_id = s.id AND json_valid(parts) ORDER BY created_at, rowid
    ) m))
) FROM sessions s ORDER BY s.created_at, s.id
"""
_HERMES = """
SELECT json_object(
    'id', s.id, 'title', s.title, 'system', s.system_prompt,
    'messages', json((SELECT json_group_array(json_object(
        'role', m.role, 'content', m.content, 'timestamp', m.timestamp, 'reasoning_content', m.reasoning,
        'tool_calls', iif(json_valid(m.tool_calls), json(m.tool_calls), NULL)
    )) FROM (SELECT * FROM messages WHERE session_id = s.id ORDER BY id) m))
) FROM sessions s ORDER BY s.started_at, s.id
"""


@dataclass(frozen=True, slots=True)
class Database:
    """How a program's database is recognised, and its conversations read."""

    title: str
    columns: Mapping[str, str]  # some of each table's, between spaces
    query: str = ""  # a conversation in each row, as JSON
    read: Callable[[sqlite3.Connection], Iterator[dict[str, Any]]] | None = None  # what a query cannot say

    def is_at(self, db: sqlite3.Connection) -> bool:
        """Whether the database has these tables with these columns."""
        return all({*wanted.split()} <= _columns(db, table) for table, wanted in self.columns.items())


def conversations(path: Path) -> Iterator[tuple[str, dict[str, Any]] | Refusal]:
    """Each conversation of a known program with the program's name; a refusal for a damaged database."""
    try:
        with opened_foreign(path) as db:
            db.text_factory = lambda text: text.decode("utf-8", "replace")
            db.row_factory = sqlite3.Row
            for one in DATABASES:
                if one.is_at(db):
                    rows = one.read(db) if one.read else (json.loads(row[0]) for row in db.execute(one.query))
                    yield from ((one.title, row) for row in rows)
    except (sqlite3.Error, ValueError) as error:
        yield Refusal(str(path), f"cannot be read: {error}")


def is_known(path: Path) -> bool:
    """Whether this is a database of a program in the table."""
    try:
        with open_regular(path) as file:
            if file.read(len(_HEAD)) != _HEAD:
                return False
        with opened_foreign(path) as db:
            return any(one.is_at(db) for one in DATABASES)
    except (OSError, sqlite3.Error):
        return False


def _llm(db: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """The conversations of `llm`, the earliest first."""
    titles = dict(db.execute("SELECT id, name FROM conversations").fetchall())
    there = {name for name in _BELOW if _columns(db, name)}
    for id, rows in groupby(db.execute(_RESPONSES), key=lambda row: row["conversation"]):
        system, messages = "", list[Mapping[str, Any]]()
        for row in rows:
            below = {
                name: db.execute(query, [row["id"]]).fetchall() if name in there else []
                for name, query in _BELOW.items()
            }
            asked = _joined(row["system"], below["system_fragments"])
            messages += _exchange(row, below, system="" if asked == system else asked)
            system = asked
        yield {"id": id, "title": titles.get(id), "messages": messages}


def _exchange(
    row: sqlite3.Row, below: Mapping[str, list[sqlite3.Row]], *, system: str
) -> Iterator[dict[str, Any]]:
    """What was sent, and what was answered."""
    at = {"timestamp": row["datetime_utc"], "model": dict(row).get("model")}
    if system:
        yield {"role": "system", "content": system, **at}
    for result in below["tool_results"]:
        yield {"role": "tool", "content": result["output"], **at}
    prompt = _joined(row["prompt"], below["prompt_fragments"])
    attached = [{"type": "attachment", "name": one[0]} for one in below["prompt_attachments"]]
    if prompt or attached:
        said = [{"type": "text", "text": prompt}] if prompt else []
        yield {"role": "user", "content": [*said, *attached] if attached else prompt, **at}
    calls = [
        {"type": "tool_call", "name": one["name"], "arguments": _parsed(one["arguments"])}
        for one in below["tool_calls"]
    ]
    if calls:
        said = [{"type": "text", "text": row["response"]}] if row["response"] else []
        yield {"role": "assistant", "content": [*said, *calls], **at}
    elif row["response"]:
        yield {"role": "assistant", "content": row["response"], **at}


def _joined(text: str | None, fragments: list[sqlite3.Row]) -> str:
    return "\n\n".join(filter(None, (*(one[0] for one in fragments), text)))


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def _columns(db: sqlite3.Connection, table: str) -> set[str]:
    return {row[0] for row in db.execute("SELECT name FROM pragma_table_info(?)", [table])}


DATABASES = (
    Database(
        "llm", {"conversations": "id name", "responses": "id conversation_id prompt response"}, read=_llm
    ),
    Database("Cursor", {"cursorDiskKV": "key value"}, _CURSOR),
    Database("Cursor, earlier", {"ItemTable": "key value"}, _CURSOR_TABS),
    Database(
        "OpenCode", {"session": "id directory", "message": "session_id data", "part": "data"}, _OPENCODE
    ),
    Database("Goose", {"sessions": "id working_dir", "messages": "session_id content_json"}, _GOOSE),
    Database("Crush", {"sessions": "id parent_session_id", "messages": "session_id parts"}, _CRUSH),
    Database("Hermes", {"sessions": "id system_prompt", "messages": "session_id tool_calls"}, _HERMES),
)
