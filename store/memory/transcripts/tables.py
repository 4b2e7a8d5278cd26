"""The tables of transcripts, with every column of the databases that are taken over."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

from store.memory.engine import database
from store.memory.engine.kind import MemoryKind
from store.memory.transcripts import migration

TABLES = (Path(database.__file__).parent / "schema" / "07_transcripts.sql").read_text("utf-8")


def _check(db: sqlite3.Connection) -> None:
    migration.check(db, schema=TABLES)


def _upgrade(db: sqlite3.Connection, step: Callable[[str], None]) -> None:
    migration.upgrade(db, step, schema=TABLES)


KIND = MemoryKind(
    name="transcript_vectors",
    file="transcripts",
    tables=("transcript_vectors", "transcripts", "events"),
    text="source_text",
    scope="session_id",
    keeps_models=True,
    written="unixepoch(coalesce((SELECT t.ts FROM transcripts t WHERE t.id = parent_id), created_at))",
    stored={
        "transcript_vectors": "unixepoch(created_at)",
        "transcripts": "unixepoch(synced_at)",
        "events": "unixepoch(synced_at)",
    },
    siblings=("parent_id", "content_type"),
    sequence=("chunk_index",),
    filters=("parent_id", "user_id", "session_id", "project_slug", "content_type", "chunk_index"),
    takes_over=("transcripts",),
    check=_check,
    upgrade=_upgrade,
)
