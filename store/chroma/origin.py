"""What a collection of another program says of its entries: when they were added, and by which model."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from store.chroma.contents import DATABASE, FoundCollection

_DEFAULT = "sentence-transformers:all-MiniLM-L6-v2"  # the model of Chroma's own default function
_FAMILIES = {"sentence_transformer": "sentence-transformers", "openai": "litellm"}


def added_at(copy: Path, collection: FoundCollection) -> dict[str, str]:
    """When each entry was added, by id, as UTC text such as "2026-01-31 10:00:00"; of a copied folder."""
    with closing(sqlite3.connect(copy / DATABASE)) as db:
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
    uri = f"{(folder / DATABASE).resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as db:
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
