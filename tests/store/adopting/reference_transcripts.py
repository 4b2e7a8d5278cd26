"""Transcript databases, written from their documents alone: each version, in SQLite and DuckDB."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

MODEL = "text-embedding-3-large"
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "How do hooks run in Uniswap?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "The whitepaper names before and after."},
            {"type": "text", "text": "Before and after a swap."},
            {"type": "tool_call", "name": "grep"},
        ],
    },
    {"role": "tool", "content": "grep: 3 lines"},
]
TEXTS = {
    (0, "user_query"): "How do hooks run in Uniswap?",
    (1, "assistant_thinking"): "The whitepaper names before and after.",
    (1, "assistant_response"): "Before and after a swap.",
    (2, "tool_output"): "grep: 3 lines",
}
KINDS = ("user_query", "assistant_response", "assistant_thinking", "tool_output")
DIMENSIONS = 16
VECTORS = {
    place: vector / np.linalg.norm(vector)
    for place, vector in zip(
        TEXTS, np.random.default_rng(5).normal(size=(4, DIMENSIONS)).astype(np.float32), strict=True
    )
}
_EVENTS = """CREATE TABLE events (id TEXT PRIMARY KEY, user_id TEXT, host_id TEXT, project_slug TEXT,
 session_id TEXT, sequence INTEGER, ts TEXT, lvl TEXT, event TEXT, turn INTEGER, data TEXT,
 data_truncated INTEGER DEFAULT 0, data_size_bytes INTEGER, synced_at TEXT)"""
_SESSIONS = """CREATE TABLE sessions (user_id TEXT, session_id TEXT PRIMARY KEY, host_id TEXT,
 project_slug TEXT, bundle TEXT, created TEXT, updated TEXT, turn_count INTEGER,
 metadata TEXT, synced_at TEXT)"""
_META = "CREATE TABLE schema_meta (key TEXT PRIMARY KEY, value TEXT)"
_VECTORS = """CREATE TABLE transcript_vectors (id VARCHAR NOT NULL PRIMARY KEY, parent_id VARCHAR NOT NULL,
 user_id VARCHAR NOT NULL, session_id VARCHAR NOT NULL, project_slug VARCHAR, content_type VARCHAR NOT NULL,
 chunk_index INTEGER NOT NULL DEFAULT 0, total_chunks INTEGER NOT NULL DEFAULT 1,
 span_start INTEGER NOT NULL DEFAULT 0, span_end INTEGER NOT NULL, token_count INTEGER NOT NULL,
 source_text TEXT NOT NULL, {vector}, embedding_model VARCHAR, created_at TIMESTAMP)"""
_BASE = "id TEXT PRIMARY KEY, user_id TEXT NOT NULL, {host}project_slug TEXT, session_id TEXT NOT NULL, \
sequence INTEGER NOT NULL, role TEXT, {content}, turn INTEGER, ts TEXT"


def message_id(number: int) -> str:
    return f"s1_msg_{number}"


def text(vector: Any) -> str:
    return json.dumps([float(one) for one in vector])


def write(path: Path, version: str, *, model: str = MODEL) -> Path:
    """A database of this version: "0", "1", "2", "3", or "document" (the reference's layout, with blobs)."""
    db = sqlite3.connect(path)
    _make(db.execute, version, model=model, duck=False)
    db.commit()
    db.close()
    return path


def write_duck(path: Path) -> Path:
    """The same as DuckDB keeps it, version 3."""
    import duckdb

    with duckdb.connect(str(path)) as db:
        _make(db.execute, "3", model=MODEL, duck=True)
    return path


def _make(run: Any, version: str, *, model: str, duck: bool) -> None:
    host = "" if version == "document" else "host_id TEXT, "
    content = "content TEXT" if version == "0" else "content JSON" if duck else "content_json TEXT"
    if version == "document":
        content = "content JSON NOT NULL"
    inline = {
        "0": ", embedding_json TEXT, embedding_model TEXT",
        "1": ", "
        + ", ".join(f"{kind}_vector_json TEXT" for kind in KINDS)
        + ", embedding_model TEXT, vector_metadata TEXT",
        "3": ", has_vectors INTEGER DEFAULT 0",
    }.get(version, "")
    run(f"CREATE TABLE transcripts ({_BASE.format(host=host, content=content)}{inline})")
    if version != "document":
        run(_SESSIONS)
        run(
            "INSERT INTO sessions VALUES ('ada', 's1', 'laptop', 'hooks', 'foundation', "
            "'2026-02-01T10:00:00Z', NULL, 1, '{\"name\": \"Hooks\"}', NULL)"
        )
    run(_EVENTS)
    run(
        "INSERT INTO events (id, user_id, session_id, sequence, ts, lvl, event, data) VALUES "
        "('s1_evt_0', 'ada', 's1', 0, '2026-02-01T10:00:01Z', 'INFO', 'tool:pre', "
        '\'{"tool_name": "grep"}\')'
    )
    has_table = version in ("2", "3", "document")
    if has_table:
        kept = f"vector FLOAT[{DIMENSIONS}]" if duck else "vector_json TEXT"
        run(_VECTORS.format(vector="vector BLOB" if version == "document" else kept))
        run(_META)
        run(f"INSERT INTO schema_meta VALUES ('version', '{'3' if version == '3' else '2'}')")
    for number, message in enumerate(MESSAGES):
        content = message["content"]
        row = {
            "id": message_id(number), "user_id": "ada", "project_slug": "hooks", "session_id": "s1",
            "sequence": number, "role": message["role"], "turn": 1, "ts": f"2026-02-01T10:00:0{number}Z",
        }  # fmt: skip
        if version == "0":
            row["content"] = (
                content
                if isinstance(content, str)
                else " ".join(block.get("text", "") for block in content).strip()
            )
            kind = [kind for at, kind in TEXTS if at == number][-1]
            row |= {"embedding_json": text(VECTORS[number, kind]), "embedding_model": model}
        else:
            row["content" if duck or version == "document" else "content_json"] = json.dumps(content)
        if version == "1":
            row |= {f"{kind}_vector_json": text(VECTORS[number, kind]) for at, kind in TEXTS if at == number}
            row["embedding_model"] = model
        marks = ", ".join("?" * len(row))
        run(f"INSERT INTO transcripts ({', '.join(row)}) VALUES ({marks})", [*row.values()])
    for (number, kind), message in TEXTS.items() if has_table else ():
        vector = VECTORS[number, kind]
        kept = vector.tobytes() if version == "document" else vector.tolist() if duck else text(vector)
        run(
            "INSERT INTO transcript_vectors "
            "VALUES (?, ?, 'ada', 's1', 'hooks', ?, 0, 1, 0, ?, 7, ?, ?, ?, NULL)",
            [f"{message_id(number)}_{kind}_0", message_id(number), kind, len(message), message, kept, model],
        )


def read(path: Path) -> tuple[dict[str, tuple[str, Any]], dict[str, tuple[str, list[float]]]]:
    """What a program of the reference finds: messages (role, content) and vectors (text, numbers) by id."""
    db = sqlite3.connect(path)
    messages = {
        id: (role, json.loads(content))
        for id, role, content in db.execute("SELECT id, role, content FROM transcripts")
    }
    vectors = {
        id: (message, np.frombuffer(vector, "<f4").tolist())
        for id, message, vector in db.execute("SELECT id, source_text, vector FROM transcript_vectors")
    }
    db.close()
    return messages, vectors
