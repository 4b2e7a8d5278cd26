"""The contents of a Chroma folder, read with SQLite alone: without Chroma, and without writing."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from store.disk.sqlite_identity import opened_foreign

MARK = "memedex"  # in every collection's metadata: the token of what the collection is derived from
DATABASE = "chroma.sqlite3"
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # Chroma's name for an index folder
_DOCUMENT = "chroma:document"
_FIRST = 200  # entries whose metadata show what a collection is of
_NAMED = 12  # collections named in a sentence
_DEFAULT = "sentence-transformers:all-MiniLM-L6-v2"  # the model of Chroma's own default function
_FAMILIES = {"sentence_transformer": "sentence-transformers", "openai": "litellm"}


@dataclass(frozen=True, slots=True)
class FoundCollection:
    """A collection in Chroma's SQLite file."""

    id: str
    name: str
    count: int
    dimension: int | None
    metadata: Mapping[str, Any]
    segments: tuple[str, ...]  # ids; an index folder is named by one of them
    has_documents: bool

    @property
    def summary(self) -> str:
        """Its name, number of entries and dimensions, for people."""
        made = ", ".join(
            str(part)
            for part in (f"{self.dimension} dimensions" if self.dimension else "", self.metadata.get("model"))
            if part
        )
        return f"{self.name} {self.count:,}{f' ({made})' if made else ''}"


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything of Chroma's in one folder."""

    collections: tuple[FoundCollection, ...] = ()
    strays: tuple[str, ...] = ()  # index folders that belong to no collection
    fault: str = ""  # why the file cannot be read; "" when it can, or there is none
    names: tuple[str, ...] = ()  # of Chroma's own files and folders

    @property
    def summary(self) -> str:
        """A description for people."""
        if self.fault:
            return f"a Chroma that cannot be read ({self.fault})"
        if not self.collections:
            return f"{len(self.strays):,} index folders of a Chroma that is gone"
        named = [one.summary for one in self.collections[:_NAMED]]
        if more := len(self.collections) - len(named):
            named.append(f"{more:,} more")
        return f"a Chroma that Memedex did not make here, with {'; '.join(named)}"


def own_names(folder: Path) -> tuple[str, ...]:
    """The names of Chroma's own files and folders here, without other files."""
    if not folder.is_dir():
        return ()
    return tuple(
        sorted(
            path.name
            for path in folder.iterdir()
            if path.name.startswith(DATABASE) or (_UUID.fullmatch(path.name) and path.is_dir())
        )
    )


def read_contents(folder: Path) -> Contents:
    """Read the contents without writing, even if another program ended in the middle of writing."""
    names = own_names(folder)
    indexes = {name for name in names if not name.startswith(DATABASE) and any((folder / name).iterdir())}
    try:
        found = _collections(folder) if any(name.startswith(DATABASE) for name in names) else ()
    except (OSError, sqlite3.Error, ValueError) as error:
        return Contents(strays=tuple(sorted(indexes)), fault=str(error), names=names)
    known = {segment for one in found for segment in one.segments}
    return Contents(found, tuple(sorted(indexes - known)), "", names)


def read_entries(
    folder: Path, collection: FoundCollection
) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """Every entry's id, document and metadata, without its vector. Raises OSError or sqlite3.Error."""
    with _opened(folder) as db:
        rows = db.execute(
            "SELECT e.embedding_id AS own, m.* FROM embeddings e JOIN segments s ON s.id = e.segment_id "
            "LEFT JOIN embedding_metadata m ON m.id = e.id WHERE s.collection = ? ORDER BY e.id, m.key",
            [collection.id],
        )
        lists = _lists(db, collection)
        for own, group in groupby(rows, key=lambda row: row["own"]):
            found = {row["key"]: _value(row) for row in group if row["key"] is not None}
            found |= lists.get(own, {})
            document = found.pop(_DOCUMENT, None)
            yield str(own), None if document is None else str(document), found


def metadata_keys(folder: Path, collection: FoundCollection) -> set[str]:
    """The names of the metadata that the first entries of a collection have."""
    with _opened(folder) as db:
        rows = db.execute(
            "SELECT DISTINCT m.key FROM embedding_metadata m WHERE m.id IN (SELECT e.id FROM embeddings e "
            "JOIN segments s ON s.id = e.segment_id WHERE s.collection = ? ORDER BY e.id LIMIT ?)",
            [collection.id, _FIRST],
        )
        return {str(row[0]) for row in rows} - {_DOCUMENT}


def added_at(folder: Path, collection: FoundCollection) -> dict[str, str]:
    """When each entry was added, by id, as UTC text such as "2026-01-31 10:00:00"."""
    with _opened(folder) as db:
        rows = db.execute(
            "SELECT e.embedding_id, e.created_at FROM embeddings e "
            "JOIN segments s ON s.id = e.segment_id WHERE s.collection = ?",
            [collection.id],
        )
        return {str(id): str(at) for id, at in rows}


def model_named_by(folder: Path, collection: FoundCollection) -> str:
    """The model that the collection says its vectors are of; "" if it does not."""
    if isinstance(model := collection.metadata.get("model"), str):
        return model
    with _opened(folder) as db:
        columns = {row[1] for row in db.execute("PRAGMA table_info(collections)")}
        texts = [
            db.execute(f"SELECT {column} FROM collections WHERE id = ?", [collection.id]).fetchone()[0]
            for column in ("config_json_str", "schema_str")
            if column in columns
        ]
    for text in filter(None, texts):
        for function in _functions(_parsed(text)):
            if model := _model_of(function):
                return model
    return ""


def _collections(folder: Path) -> tuple[FoundCollection, ...]:
    with _opened(folder) as db:
        if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
            if any((folder / f"{DATABASE}{ending}").exists() for ending in ("-wal", "-journal")):
                raise ValueError("an empty file with a log next to it")
            return ()  # as Chroma, or a full disk, leaves it before anything is in it
        if not {"collections", "segments", "embeddings"} <= _tables(db):
            raise ValueError("a database of another program")
        metadata: dict[str, dict[str, Any]] = {}
        for row in db.execute("SELECT * FROM collection_metadata"):
            metadata.setdefault(row["collection_id"], {})[row["key"]] = _value(row)
        segments: dict[str, list[str]] = {}
        for row in db.execute("SELECT id, collection FROM segments"):
            segments.setdefault(row["collection"], []).append(row["id"])
        counts = Counter[str](
            dict(
                db.execute(
                    "SELECT s.collection, count(*) FROM embeddings e JOIN segments s ON s.id = e.segment_id "
                    "GROUP BY s.collection"
                ).fetchall()
            )
        )
        documents = "SELECT 1 FROM embedding_metadata m JOIN embeddings e ON e.id = m.id WHERE m.key = ? "
        return tuple(
            FoundCollection(
                id=row["id"],
                name=row["name"],
                count=counts[row["id"]],
                dimension=row["dimension"],
                metadata=metadata.get(row["id"], {}),
                segments=tuple(segments.get(row["id"], ())),
                has_documents=any(
                    db.execute(f"{documents} AND e.segment_id = ? LIMIT 1", [_DOCUMENT, segment]).fetchone()
                    for segment in segments.get(row["id"], ())
                ),
            )
            for row in db.execute("SELECT * FROM collections ORDER BY name").fetchall()
        )


def _lists(db: sqlite3.Connection, collection: FoundCollection) -> dict[str, dict[str, Any]]:
    """Metadata that are lists, by id; newer Chromas have them in a table of their own."""
    found: dict[str, dict[str, Any]] = {}
    if "embedding_metadata_array" in _tables(db):
        rows = db.execute(
            "SELECT e.embedding_id AS own, m.* FROM embedding_metadata_array m JOIN embeddings e "
            "ON e.id = m.id JOIN segments s ON s.id = e.segment_id WHERE s.collection = ? ORDER BY m.rowid",
            [collection.id],
        )
        for row in rows:
            found.setdefault(str(row["own"]), {}).setdefault(row["key"], []).append(_value(row))
    return found


def _value(row: sqlite3.Row) -> Any:
    """The value of a metadata row, which has a column for each type."""
    names = [name for name in row.keys() if name.endswith("_value") and row[name] is not None]  # noqa: SIM118
    value = row[names[0]] if names else None
    return bool(value) if names[:1] == ["bool_value"] else value


def _tables(db: sqlite3.Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


@contextmanager
def _opened(folder: Path) -> Iterator[sqlite3.Connection]:
    path = folder / DATABASE
    if not path.is_file():
        raise OSError("its database is missing" if not path.exists() else f"{DATABASE} is no file")
    with opened_foreign(path) as db:
        db.row_factory = sqlite3.Row
        yield db


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None


def _functions(value: Any) -> Iterator[dict[str, Any]]:
    """Every embedding function described anywhere in this configuration."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "embedding_function" and isinstance(inner, dict):
                yield inner
            yield from _functions(inner)


def _model_of(function: dict[str, Any]) -> str:
    if function.get("name") == "default":
        return _DEFAULT
    fields = function.get("config")
    model = fields.get("model_name") if isinstance(fields, dict) else None
    family = _FAMILIES.get(str(function.get("name")))
    return f"{family}:{model}" if family and isinstance(model, str) and model else ""
