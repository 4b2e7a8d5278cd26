"""What Chroma itself says, asked as a stranger would."""

from pathlib import Path
from typing import Any

from store.memory.chroma import Chroma
from store.memory.places import Places


def stored(root: Path, name: str) -> dict[str, dict[str, Any]]:
    """Every entry of a collection: id → embedding, document, metadata."""
    chroma = Chroma(Places(root).chroma)
    try:
        got = chroma.collection(name, model="").get(include=["embeddings", "documents", "metadatas"])
        return {
            id: {"embedding": embedding, "document": document, "metadata": dict(metadata or {})}
            for id, embedding, document, metadata in zip(
                got["ids"], got["embeddings"], got["documents"], got["metadatas"], strict=True
            )
        }
    finally:
        chroma.close()
