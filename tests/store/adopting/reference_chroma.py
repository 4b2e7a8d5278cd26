"""A memory store and a story engine, from their documents alone: what they leave, and what they read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from chromadb.config import Settings

Rows = Mapping[str, tuple[str, dict[str, Any], Sequence[float]]]  # id → text, metadata, vector


def write(folder: Path, collections: Mapping[str, Rows]) -> None:
    """A Chroma with these collections, cosine as in the story engine."""
    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    for name, rows in collections.items():
        collection = client.get_or_create_collection(
            name, metadata={"hnsw:space": "cosine"}, embedding_function=None
        )
        collection.upsert(
            ids=[*rows],
            documents=[text for text, _, _ in rows.values()],
            metadatas=[metadata for _, metadata, _ in rows.values()],
            embeddings=np.asarray([vector for _, _, vector in rows.values()], np.float32),
        )
    client.close()


def read(folder: Path, name: str) -> dict[str, tuple[str, dict[str, Any], list[float]]]:
    """What a program of the reference finds in its collection."""
    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    try:
        got = client.get_collection(name, embedding_function=None).get(
            include=["documents", "metadatas", "embeddings"]
        )
        vectors = np.asarray(got["embeddings"]).tolist()
        return {
            id: (text, dict(metadata or {}), vector)
            for id, text, metadata, vector in zip(
                got["ids"], got["documents"], got["metadatas"], vectors, strict=True
            )
        }
    finally:
        client.close()
