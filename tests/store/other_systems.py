"""Data of other systems, built from their documents alone, without Memedex."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from chromadb.config import Settings
from numpy.typing import NDArray

from tests.store.conftest import CREATED_AT, address, normal_picture

FIVE = {
    "meme_image_embeddings": "image",
    "entity_caption_embeddings": "entity",
    "context_caption_embeddings": "context",
    "visual_caption_embeddings": "visual",
    "emotions_caption_embeddings": "emotions",
}
DIMENSIONS = 768
_TRANSCRIPTS = """
CREATE TABLE transcripts (
    id VARCHAR PRIMARY KEY, user_id VARCHAR NOT NULL, session_id VARCHAR NOT NULL, project_slug VARCHAR,
    sequence INTEGER NOT NULL, role VARCHAR NOT NULL, content JSON NOT NULL, turn INTEGER, ts TIMESTAMP,
    text_content TEXT, synced_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE transcript_vectors (
    id VARCHAR NOT NULL PRIMARY KEY, parent_id VARCHAR NOT NULL, user_id VARCHAR NOT NULL,
    session_id VARCHAR NOT NULL, project_slug VARCHAR, content_type VARCHAR NOT NULL,
    chunk_index INTEGER NOT NULL DEFAULT 0, total_chunks INTEGER NOT NULL DEFAULT 1,
    span_start INTEGER NOT NULL DEFAULT 0, span_end INTEGER NOT NULL, token_count INTEGER NOT NULL,
    source_text TEXT NOT NULL, vector BLOB, embedding_model VARCHAR,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE schema_meta (key VARCHAR PRIMARY KEY, value VARCHAR);
INSERT INTO schema_meta VALUES ('version', '2');
"""


def vector(*parts: object, dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    """A unit vector derived from these parts."""
    seed = list("/".join(map(str, parts)).encode())
    row = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    return row / np.linalg.norm(row)


def three_tier_library(root: Path, numbers: Sequence[int]) -> Path:
    """Create `res/memecoins` with pictures and sidecars; tags, categories and vectors are in Chroma only."""
    store = root / "memecoins" / "rag_db"
    for folder in ("images", "metadata"):
        (store / folder).mkdir(parents=True)
    for number in numbers:
        sidecar = {
            "token_name": f"Coin {number}",
            "ticker": f"C{number}",
            "description": "",
            "token_address": address(number),
            "created_at": CREATED_AT,
            "caption": {"entity": f"dog {number}", "context": f"joke {number}"},
        }
        (store / "metadata" / f"{address(number)}.json").write_text(json.dumps(sidecar))
        (store / "images" / f"{address(number)}.jpg").write_bytes(normal_picture(number))
    client = client_of(store)
    for name in FIVE:
        collection = client.get_or_create_collection(name, metadata={"hnsw:space": "cosine"})
        if name.startswith(("visual", "emotions")):
            continue
        collection.upsert(
            ids=[address(number) for number in numbers],
            embeddings=[vector(name, number) for number in numbers],
            metadatas=[
                {
                    "name": f"Coin {number}", "ticker": f"C{number}", "uuid": address(number),
                    "tags": f"dog,moon {number}", "tags_categories": "animals,space",
                    "created_at": CREATED_AT,
                }
                for number in numbers
            ],
        )  # fmt: skip
    client.close()
    return store


@dataclass(slots=True)
class ThreeTierLibrary:
    """What that program reads: ids, tags and vectors from Chroma, captions from the metadata files."""

    ids: dict[str, list[str]] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    captions: dict[str, dict[str, str]] = field(default_factory=dict)
    vectors: dict[tuple[str, str], NDArray[np.float32]] = field(default_factory=dict)


def read_three_tier_library(top: Path) -> ThreeTierLibrary:
    """Read a library with Chroma's client and the files' names alone."""
    found = ThreeTierLibrary()
    client = client_of(top / "rag_db")
    for name in FIVE:
        rows = client.get_collection(name).get(include=["embeddings", "metadatas"])
        found.ids[name] = sorted(rows["ids"])
        for id, metadata, row in zip(rows["ids"], rows["metadatas"], rows["embeddings"], strict=True):
            assert metadata["uuid"] == id
            found.tags[id] = metadata["tags"]
            found.vectors[name, id] = np.asarray(row, np.float32)
            assert (top / "rag_db" / "images" / f"{id}.jpg").is_file()
            sidecar = json.loads((top / "rag_db" / "metadata" / f"{id}.json").read_text())
            found.captions[id] = sidecar["caption"]
    client.close()
    return found


def memory_store(folder: Path, texts: Sequence[str]) -> None:
    """A Chroma database of memories: the texts as documents, timestamp and tags as metadata."""
    client = client_of(folder)
    collection = client.get_or_create_collection("memories", metadata={"hnsw:space": "cosine"})
    for number, text in enumerate(texts):
        collection.add(
            ids=[f"mem_{1_706_745_600 + number}"],
            embeddings=[vector(text, dimensions=384)],
            documents=[text],
            metadatas=[{"timestamp": "2026-01-31T10:00:00Z", "tags": "preference,language"}],
        )
    client.close()


def story_engine(folder: Path, lore: Sequence[str], exchanges: Sequence[str]) -> None:
    """Two collections with documents: lore and exchanges."""
    client = client_of(folder)
    for name, texts, key in (("world_lore", lore, "world_id"), ("session_memory", exchanges, "session_id")):
        collection = client.get_or_create_collection(name, metadata={"hnsw:space": "cosine"})
        collection.upsert(
            ids=[f"one_{name}_{number}" for number in range(len(texts))],
            embeddings=[vector(text, dimensions=384) for text in texts],
            documents=list(texts),
            metadatas=[{key: "one"} for _ in texts],
        )
    client.close()


def transcript_database(path: Path, texts: Sequence[str], *, dimensions: int = 3072) -> None:
    """A version 2 database: messages, and their vectors by a paid model in a separate table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as db:
        db.executescript(_TRANSCRIPTS)
        for number, text in enumerate(texts):
            db.execute(
                "INSERT INTO transcripts (id, user_id, session_id, sequence, role, content, text_content) "
                "VALUES (?, 'ann', 's1', ?, 'user', ?, ?)",
                [f"m{number}", number, json.dumps(text), text],
            )
            db.execute(
                "INSERT INTO transcript_vectors (id, parent_id, user_id, session_id, content_type, span_end, "
                "token_count, source_text, vector, embedding_model) "
                "VALUES (?, ?, 'ann', 's1', 'user_query', ?, 3, ?, ?, 'text-embedding-3-large')",
                [f"m{number}_user_query_0", f"m{number}", len(text), text,
                 vector(text, dimensions=dimensions).tobytes()],
            )  # fmt: skip
    db.close()


def everything_in(folder: Path) -> dict[str, dict[str, Any]]:
    """The content of a Chroma database, read without Memedex: collection → id → content."""
    client = client_of(folder)
    found = {}
    for collection in client.list_collections():
        got = client.get_collection(collection.name).get(include=["embeddings", "documents", "metadatas"])
        found[collection.name] = {
            id: (embedding.tolist(), document, dict(metadata or {}))
            for id, embedding, document, metadata in zip(
                got["ids"], got["embeddings"], got["documents"], got["metadatas"], strict=True
            )
        }
    client.close()
    return found


def client_of(folder: Path) -> Any:
    folder.mkdir(parents=True, exist_ok=True)
    return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
