"""The tables of transcripts, with every column of the databases that are taken over.

Those of version 1 have four vectors in each row; they are brought to version 2, a table of vectors.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from store.disk.sqlite import marks, statements
from store.errors import CatalogTooNew, ForeignFile
from store.memory.engine import database
from store.memory.engine.foreign import as_vector, model_name
from store.memory.engine.kind import MemoryKind
from store.memory.text.extraction import CONTENT_TYPES, extract_all_embeddable_content, readable
from store.memory.text.tokens import count_tokens

TABLES = (Path(database.__file__).parent / "schema" / "07_transcripts.sql").read_text("utf-8")
VERSION = 2
_OLD = "transcripts_of_version_1"
_MESSAGES = "transcripts"
_NEEDED = ("id", "user_id", "session_id", "sequence", "role", "content")
_VECTORS_NEED = ("id", "parent_id", "user_id", "session_id", "content_type", "source_text")
_INLINE = tuple(f"{kind}_vector" for kind in CONTENT_TYPES)

Step = Callable[[str], None]


def check(db: sqlite3.Connection) -> None:
    """Raises CatalogTooNew or ForeignFile for what cannot be upgraded, before anything is written."""
    if db.execute("PRAGMA user_version").fetchone()[0] == 0 and (fault := _fault(db)):
        raise ForeignFile(
            f"the transcripts are in a database of another program ({fault}); it was not touched: move it "
            "away, then `python -m store adopt FILE` takes it over"
        )
    found = _version(db)
    if found is not None and (not found.isdecimal() or int(found) > VERSION):
        raise CatalogTooNew(
            f"the transcripts were written by something newer (schema version {found}, this one knows "
            f"{VERSION}); they were not touched: update the program"
        )


def _fault(db: sqlite3.Connection) -> str:
    """Why another program's file cannot become ours as it is; "" if it can. Reads every vector once."""
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(TABLES)
        tables = empty.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        ours = {name: _columns(empty, name) for (name,) in tables}
    if any(name in _INLINE for name in _columns(db, _MESSAGES)):
        ours[_MESSAGES] = [*_NEEDED]  # it becomes `_OLD`, and ours is a new table
    for table, wanted in {**ours, _OLD: [*_NEEDED]}.items():
        columns = _columns(db, table)
        if columns and (missing := [name for name in wanted if name not in columns]):
            return f"{table} has no column {missing[0]}"
    return _incomplete(db)


def _incomplete(db: sqlite3.Connection) -> str:
    for table, needed in ((_MESSAGES, _NEEDED), (_OLD, _NEEDED), ("transcript_vectors", _VECTORS_NEED)):
        columns = _columns(db, table)
        if columns:
            empty = " OR ".join(f"{name} IS NULL" for name in needed)
            if count := db.execute(f"SELECT count(*) FROM {table} WHERE {empty}").fetchone()[0]:
                return f"{count:,} rows of {table} are incomplete"
        for name in (name for name in columns if name in (*_INLINE, "vector")):
            for id, value in db.execute(f"SELECT id, {name} FROM {table} WHERE {name} IS NOT NULL"):
                try:
                    as_vector(value)
                except ValueError as error:
                    return f"{id}: {error}"
    return ""


def upgrade(db: sqlite3.Connection, step: Step) -> None:
    """Upgrade an older file, or complete a partial migration, inside the caller's transaction."""
    if not _columns(db, "transcripts"):
        return
    step("check version")
    if any(name in _columns(db, "transcripts") for name in _INLINE):
        step("rename transcripts")
        indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'transcripts' "
        for (index,) in db.execute(f"{indexes} AND sql IS NOT NULL").fetchall():
            db.execute(f'DROP INDEX "{index}"')  # else the new table's could not have their names
        db.execute(f"ALTER TABLE transcripts RENAME TO {_OLD}")
    for statement in statements(TABLES):
        step("make tables")
        db.execute(statement)
    step("vectors as bytes")
    _convert_vectors(db)
    old = _columns(db, _OLD)
    if old:
        step("copy transcripts")
        _copy(db, old, step)
        step("drop the old table")
        db.execute(f"DROP TABLE {_OLD}")
    step("set version")
    db.execute("INSERT OR REPLACE INTO schema_meta VALUES ('version', ?)", [str(VERSION)])


def _copy(db: sqlite3.Connection, old: list[str], step: Step) -> None:
    shared = [name for name in _columns(db, "transcripts") if name in old]
    kinds = CONTENT_TYPES if any(name in old for name in _INLINE) else ()
    for number, row in enumerate(db.execute(f"SELECT * FROM {_OLD} ORDER BY rowid")):
        if number % 1_000 == 0:
            step(f"rows from {number}")
        values = {name: row[name] for name in shared}
        message = {"role": row["role"], "content": _parsed(row["content"])}
        if not values.get("text_content"):
            values["text_content"] = readable(message)
        db.execute(
            f"INSERT OR IGNORE INTO transcripts ({', '.join(values)}) VALUES ({marks(values)})",
            [*values.values()],
        )
        texts = extract_all_embeddable_content(message)
        for kind in kinds:
            vector = as_vector(row[f"{kind}_vector"]) if f"{kind}_vector" in old else None
            text = texts[kind] or (values["text_content"] or "" if vector else "")
            if vector is not None or texts[kind]:
                model = row["embedding_model"] if vector and "embedding_model" in old else None
                db.execute(
                    "INSERT INTO transcript_vectors (id, parent_id, user_id, session_id, "
                    "project_slug, content_type, chunk_index, total_chunks, span_start, span_end, "
                    "token_count, source_text, vector, embedding_model) "
                    "SELECT ?, ?, ?, ?, ?, ?, 0, 1, 0, ?, ?, ?, ?, ? WHERE NOT EXISTS "
                    "(SELECT 1 FROM transcript_vectors WHERE parent_id = ? AND content_type = ?)",
                    [
                        f"{row['id']}_{kind}_0", row["id"], row["user_id"], row["session_id"],
                        values.get("project_slug"), kind, len(text), count_tokens(text), text, vector,
                        model_name(model) if vector else None, row["id"], kind,
                    ],
                )  # fmt: skip


def _convert_vectors(db: sqlite3.Connection) -> None:
    """Vectors that are JSON text become float32 bytes, and models get their full names."""
    query = "SELECT id, vector FROM transcript_vectors WHERE typeof(vector) = 'text'"
    for id, value in db.execute(query).fetchall():
        db.execute("UPDATE transcript_vectors SET vector = ? WHERE id = ?", [as_vector(value), id])
    query = "SELECT DISTINCT embedding_model FROM transcript_vectors WHERE embedding_model IS NOT NULL"
    for (name,) in db.execute(query).fetchall():
        db.execute(
            "UPDATE transcript_vectors SET embedding_model = ? WHERE embedding_model = ?",
            [model_name(name), name],
        )


def _parsed(content: Any) -> Any:
    try:
        return json.loads(content)
    except (TypeError, ValueError):  # text that was stored as it is
        return content


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def _version(db: sqlite3.Connection) -> str | None:
    if not _columns(db, "schema_meta"):
        return None
    row = db.execute("SELECT value FROM schema_meta WHERE key = 'version'").fetchone()
    return str(row[0]) if row else None


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
    check=check,
    upgrade=upgrade,
)
