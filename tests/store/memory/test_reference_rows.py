"""Every row of the tables in the documents of other memories; all tests share one memory.

Edge cases of agents' memories: test_memories.py. Columns and fields of passages: documents/test_documents.py.
Content types of transcripts: text/test_extraction.py.
"""

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store.chroma.follower import ChromaFollower
from store.memory.exporting import export
from store.memory.memory import Memory
from store.memory.story.sessions import exchange
from store.memory.text.tokens import count_tokens
from tests.store.memory.bags import Bags

THOUGHT = " ".join(f"Thought {number} follows the last one." for number in range(1_900))  # 16,000 tokens


TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "why does the bridge fail", "turn": 1, "ts": "2025-02-06T10:00:00Z"},
    {"role": "assistant", "content": [{"type": "text", "text": "the relayer stopped"}]},
    {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "restart the relayer"}],
    },
    {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": "done at last"}],
    },
    {"role": "tool", "content": "relayer: connection refused"},
]


LARGE = {"tool_name": "bash", "output": "x" * 500_000, "error": {"type": "Timeout"}, "model": "gpt-x"}


HAPPENED: list[dict[str, Any]] = [
    {"event": "tool:error", "ts": "2025-02-06T10:00:01Z", "lvl": "ERROR", "turn": 1, "data": LARGE},
    {"event": "llm:response", "ts": "2025-02-07T10:00:00Z", "lvl": "INFO"},
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("rows")
    session = folder / "s1"
    session.mkdir()
    (session / "metadata.json").write_text(json.dumps({"user_id": "ann", "project_slug": "bridges"}))
    (session / "transcript.jsonl").write_text("\n".join(map(json.dumps, TALK)))
    (session / "events.jsonl").write_text("\n".join(map(json.dumps, HAPPENED)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChromaFollower, "wake", lambda self: None)
        with Memory.open(folder / "res", embedder=Bags()) as opened:
            opened.transcripts.import_sessions([session])
            export(opened, _exported(opened), kinds=["transcript_vectors"])
            yield opened


def _exported(memory: Memory) -> Path:
    """The database that other programs read: the store keeps its vectors apart from its chunks."""
    return memory.places.root.parent / "exported.sqlite3"


def rows(memory: Memory, query: str, *values: object) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(_exported(memory))) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute(query, values)]


# -- transcripts, the tables of columns: type, NOT NULL, default, and the stored value -----------------------


COLUMNS = {
    "transcripts": """
        id VARCHAR PRIMARY KEY
        user_id VARCHAR NOT NULL
        session_id VARCHAR NOT NULL
        project_slug VARCHAR
        sequence INTEGER NOT NULL
        role VARCHAR NOT NULL
        content JSON NOT NULL
        turn INTEGER
        ts TIMESTAMP
        text_content TEXT
        synced_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP""",
    "transcript_vectors": """
        id VARCHAR NOT NULL PRIMARY KEY
        parent_id VARCHAR NOT NULL
        user_id VARCHAR NOT NULL
        session_id VARCHAR NOT NULL
        project_slug VARCHAR
        content_type VARCHAR NOT NULL
        chunk_index INTEGER NOT NULL DEFAULT 0
        total_chunks INTEGER NOT NULL DEFAULT 1
        span_start INTEGER NOT NULL DEFAULT 0
        span_end INTEGER NOT NULL
        token_count INTEGER NOT NULL
        source_text TEXT NOT NULL
        vector BLOB
        embedding_model VARCHAR
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP""",
    "events": """
        id VARCHAR PRIMARY KEY
        user_id VARCHAR NOT NULL
        session_id VARCHAR NOT NULL
        sequence INTEGER NOT NULL
        event VARCHAR NOT NULL
        ts TIMESTAMP NOT NULL
        lvl VARCHAR
        turn INTEGER
        data JSON
        tool_name VARCHAR
        error_type VARCHAR
        model_used VARCHAR
        data_truncated BOOLEAN
        data_size_bytes INTEGER
        synced_at TIMESTAMP""",
    "schema_meta": """
        key VARCHAR PRIMARY KEY
        value VARCHAR""",
}


STORED = {  # the values in the first row of each table, as far as they are fixed
    "transcripts": {
        "user_id": "ann", "session_id": "s1", "project_slug": "bridges", "sequence": 0, "role": "user",
        "content": '"why does the bridge fail"', "turn": 1, "ts": "2025-02-06T10:00:00.000+00:00",
        "text_content": "why does the bridge fail",
    },
    "transcript_vectors": {
        "user_id": "ann", "session_id": "s1", "project_slug": "bridges", "content_type": "user_query",
        "chunk_index": 0, "total_chunks": 1, "span_start": 0, "span_end": 24, "token_count": 5,
        "source_text": "why does the bridge fail", "embedding_model": "bags",
    },
    "events": {
        "user_id": "ann", "session_id": "s1", "sequence": 0, "event": "tool:error",
        "ts": "2025-02-06T10:00:01.000+00:00", "lvl": "ERROR", "turn": 1, "tool_name": "bash",
        "error_type": "Timeout", "model_used": "gpt-x", "data_truncated": 1,
        "data_size_bytes": len(json.dumps(LARGE, separators=(",", ":"))),
    },
    "schema_meta": {"key": "version", "value": "2"},
}  # fmt: skip


ROWS = [
    (table, line.strip()) for table, lines in COLUMNS.items() for line in lines.split("\n") if line.strip()
]


@pytest.mark.parametrize(("table", "row"), ROWS, ids=[f"{table}.{row.split()[0]}" for table, row in ROWS])
def test_column(table: str, row: str, memory: Memory) -> None:
    name, kind, *rest = row.split()
    (column,) = rows(memory, "SELECT * FROM pragma_table_info(?) WHERE name = ?", table, name)
    assert column["type"] == kind
    assert bool(column["notnull"]) == ("NOT NULL" in row)
    assert bool(column["pk"]) == ("PRIMARY KEY" in row)
    assert column["dflt_value"] == (rest[-1] if "DEFAULT" in row else None)
    (first,) = rows(memory, f"SELECT * FROM {table} ORDER BY rowid LIMIT 1")
    if name in STORED[table]:
        assert first[name] == STORED[table][name]
    else:
        assert first[name] is not None


@pytest.mark.parametrize("table", list(COLUMNS))
def test_tables_have_no_other_columns(table: str, memory: Memory) -> None:
    names = [column["name"] for column in rows(memory, "SELECT name FROM pragma_table_info(?)", table)]
    assert names == [name.split()[0] for of, name in ROWS if of == table]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("idx_vectors_parent", ["parent_id"]),
        ("idx_vectors_session", ["user_id", "session_id"]),
        ("idx_vectors_user", ["user_id"]),
        ("idx_event_type", ["user_id", "event", "ts"]),
        ("idx_tool_name", ["user_id", "tool_name", "ts"]),
        ("idx_level", ["user_id", "lvl", "ts"]),
    ],
)
def test_index(name: str, columns: list[str], memory: Memory) -> None:
    assert [row["name"] for row in rows(memory, "SELECT name FROM pragma_index_info(?)", name)] == columns


# -- transcripts, the tables of sizes per message and per vector ---------------------------------------------


@pytest.mark.parametrize(
    ("sequence", "expected"),
    [
        pytest.param(0, {"user_query": 1}, id="User"),
        pytest.param(1, {"assistant_response": 1}, id="Assistant (simple)"),
        pytest.param(2, {"assistant_response": 1, "assistant_thinking": 1}, id="Assistant (with thinking)"),
        pytest.param(4, {"tool_output": 1}, id="Tool"),
    ],
)
def test_per_message(sequence: int, expected: dict[str, int], memory: Memory) -> None:
    (message,) = memory.transcripts.messages("s1", offset=sequence, limit=1)
    assert vectors_of(memory, message["id"]) == expected


def test_per_message_assistant_long_thinking_16k_tokens(memory: Memory) -> None:
    """The reference estimates two chunks; by its own figures (1,024 tokens, 128 twice) there are more."""
    (message,) = memory.transcripts.messages("s1", offset=3, limit=1)
    found = vectors_of(memory, message["id"])
    assert found["assistant_response"] == 1
    assert 15_000 < count_tokens(THOUGHT) < 18_500
    assert found["assistant_thinking"] == pytest.approx(count_tokens(THOUGHT) / (1024 - 128), rel=0.15)


def vectors_of(memory: Memory, parent: str) -> dict[str, int]:
    query = (
        "SELECT content_type, count(*) AS n FROM transcript_vectors WHERE parent_id = ? GROUP BY 1 ORDER BY 1"
    )
    return {row["content_type"]: row["n"] for row in rows(memory, query, parent)}


def test_per_vector_record_vector(memory: Memory) -> None:
    """Float32: 3,072 numbers have 12 KB, the 384 of the local model 1.5."""
    (row,) = rows(memory, "SELECT vector FROM transcript_vectors LIMIT 1")
    assert len(row["vector"]) == 4 * 384
    assert np.linalg.norm(np.frombuffer(row["vector"], np.float32)) == pytest.approx(1, abs=1e-5)


def test_per_vector_record_source_text(memory: Memory) -> None:
    """A chunk's own text, not the message's: up to about 4 KB."""
    found = rows(
        memory, "SELECT source_text FROM transcript_vectors WHERE content_type = 'assistant_thinking'"
    )
    assert all(row["source_text"] in (THOUGHT, "hm") or row["source_text"] in THOUGHT for row in found)
    assert max(len(row["source_text"]) for row in found) < 8_000


def test_per_vector_record_metadata_fields(memory: Memory) -> None:
    (row,) = rows(memory, "SELECT * FROM transcript_vectors LIMIT 1")
    fields = {name: value for name, value in row.items() if name not in ("vector", "source_text")}
    assert sum(len(str(value)) for value in fields.values()) < 300


# -- transcripts, how events are searched --------------------------------------------------------------------


# -- the figures of the references, each under the reference's name for it -----------------------------------


def test_retrieval_is_logged_line_by_line_as_in_production(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    memory.lore.add_lore("peaks", "forge", "Dwarves forged the peaks.")
    memory.session_memory.add_memory("mira_s1", "0", exchange("Who forged?", "Dwarves."))
    with caplog.at_level(logging.INFO, "store.memory"):
        found = memory.retrieve("Who forged the peaks?", world="peaks", character="mira", session="s1")
    assert found.block == "--- RECENT MEMORY ---\nUser: Who forged?\nAI: Dwarves."
    assert [record.getMessage() for record in caplog.records] == [
        "\n=== RETRIEVED LORE (1 chunks) ===",
        "[LORE 1]\nDwarves forged the peaks.\n",
        "=== END LORE ===\n",
        "\n=== RETRIEVED MEMORY (1 chunks) ===",
        "[MEMORY 1]\nUser: Who forged?\nAI: Dwarves.\n",
        "=== END MEMORY ===\n",
    ]
