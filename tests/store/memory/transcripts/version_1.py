"""Transcript databases of version 1, with four vectors in each row."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

_KINDS = ("user_query", "assistant_response", "assistant_thinking", "tool_output")
INLINE = ", ".join(f"{kind}_vector FLOAT[3072]" for kind in _KINDS)


def version_1(path: Path, *, count: int, as_json: bool = False) -> None:
    """A database as the reference's version 0.2.0 wrote it, with `count` messages."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "CREATE TABLE transcripts (id VARCHAR PRIMARY KEY, user_id VARCHAR NOT NULL, session_id VARCHAR "
            "NOT NULL, project_slug VARCHAR, sequence INTEGER NOT NULL, role VARCHAR NOT NULL, content JSON "
            "NOT NULL, turn INTEGER, ts TIMESTAMP, text_content TEXT, synced_at TIMESTAMP, "
            f"{INLINE}, embedding_model VARCHAR)"
        )
        db.execute("CREATE INDEX idx_transcripts_session ON transcripts (session_id)")
        db.execute("CREATE TABLE schema_meta (key VARCHAR PRIMARY KEY, value VARCHAR)")
        db.execute("INSERT INTO schema_meta VALUES ('version', '1')")
        for number in range(count):
            numbers = vector(number)
            value = json.dumps(numbers.tolist()) if as_json else numbers.tobytes()
            blocks = [
                {"type": "thinking", "thinking": f"hm {number}"},
                {"type": "text", "text": f"so {number}"},
            ]
            role, content, vectors = [
                ("user", f"question {number}", (value, None, None, None)),
                ("assistant", blocks, (None, value, value, None)),
                ("tool", f"output {number}", (None, None, None, value)),
                ("tool", "not embedded yet", (None, None, None, None)),
            ][number % 4]
            db.execute(
                f"INSERT INTO transcripts VALUES ({', '.join('?' * 16)})",
                [
                    f"m{number}", "ann", f"s{number % 7}", "bridges", number, role, json.dumps(content), 1,
                    "2026-01-31T10:00:00Z", None, "2026-01-31 10:00:00", *vectors, "text-embedding-3-large",
                ],
            )  # fmt: skip
        db.commit()


def vector(number: int) -> np.ndarray:
    return np.random.default_rng(number).standard_normal(8).astype(np.float32)


def found(path: Path) -> dict[str, list[tuple]]:
    with closing(sqlite3.connect(path)) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables = [name for name in ("transcripts", "transcript_vectors", "schema_meta") if name in names]
        return {name: db.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in tables}
