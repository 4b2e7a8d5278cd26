"""Read the content of Chroma directly."""

from pathlib import Path
from typing import Any

from store.chroma.collections import FolderCollections, made_with
from store.memory.engine.database import Places


def stored(root: Path, name: str) -> dict[str, dict[str, Any]]:
    """Every entry of a collection: id → embedding, document, metadata."""
    chroma = FolderCollections(Places(root).chroma, {name: made_with("")})
    try:
        got = chroma.collection(name).get(include=["embeddings", "documents", "metadatas"])
        return {
            id: {"embedding": embedding, "document": document, "metadata": dict(metadata or {})}
            for id, embedding, document, metadata in zip(
                got["ids"], got["embeddings"], got["documents"], got["metadatas"], strict=True
            )
        }
    finally:
        chroma.close()
