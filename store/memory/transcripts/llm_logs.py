"""The conversations in the database `logs.db` of the command `llm`."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
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


def is_of_llm(path: Path) -> bool:
    """Whether this is a database of `llm`."""
    try:
        with open_regular(path) as file:
            if file.read(len(_HEAD)) != _HEAD:
                return False
        with opened_foreign(path) as db:
            return {"conversations", "responses"} <= _tables(db) and "conversation_id" in _columns(db)
    except (OSError, sqlite3.Error):
        return False


def conversations(path: Path) -> Iterator[dict[str, Any] | Refusal]:
    """Each conversation with `id` and `messages`, the earliest first; a refusal for a damaged database."""
    try:
        with opened_foreign(path) as db:
            db.text_factory = lambda text: text.decode("utf-8", "replace")
            db.row_factory = sqlite3.Row
            tables = _tables(db)
            titles = dict(db.execute("SELECT id, name FROM conversations").fetchall())
            for id, rows in groupby(db.execute(_RESPONSES), key=lambda row: row["conversation"]):
                system, messages = "", list[Mapping[str, Any]]()
                for row in rows:
                    below = {
                        name: db.execute(query, [row["id"]]).fetchall() if name in tables else []
                        for name, query in _BELOW.items()
                    }
                    asked = _joined(row["system"], below["system_fragments"])
                    messages += _exchange(row, below, system="" if asked == system else asked)
                    system = asked
                yield {"id": id, "title": titles.get(id), "messages": messages}
    except sqlite3.Error as error:
        yield Refusal(str(path), f"cannot be read: {error}")


def _exchange(
    row: sqlite3.Row, below: Mapping[str, list[sqlite3.Row]], *, system: str
) -> Iterator[dict[str, Any]]:
    """What was sent, and what was answered."""
    at = {"timestamp": row["datetime_utc"]}
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


def _tables(db: sqlite3.Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def _columns(db: sqlite3.Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT name FROM pragma_table_info('responses')")}
