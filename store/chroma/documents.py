"""Write a Chroma with documents and metadata, for other programs to read."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from store.chroma.client import open_client
from store.chroma.process import ChildProcess

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


@dataclass(frozen=True, slots=True)
class Texts:
    """Entries of a collection; the four have the same length."""

    ids: list[str]
    documents: list[str]
    metadata: list[dict[str, Any]]
    vectors: list[bytes]  # float32


class CollectionWriter:
    """Adds entries to collections of a new folder, with cosine distance as references 2 and 4 have it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._client: ClientAPI | None = None

    def add(self, name: str, texts: Texts) -> None:
        """Add these entries; with none, only the collection is made."""
        self._client = self._client or open_client(self._folder)
        collection = self._client.get_or_create_collection(
            name, embedding_function=None, metadata={"hnsw:space": "cosine"}
        )
        if texts.ids:
            collection.add(
                ids=texts.ids,
                documents=texts.documents,
                metadatas=[fields or None for fields in texts.metadata],  # type: ignore[misc]
                embeddings=np.stack([np.frombuffer(vector, "<f4") for vector in texts.vectors]),
            )

    def close(self) -> None:
        """Close the client if one was opened."""
        if self._client is not None:
            self._client.close()  # type: ignore[attr-defined]  # of Client, not in ClientAPI


class WriterProcess(ChildProcess[CollectionWriter]):
    """`CollectionWriter` in a child process."""

    def add(self, name: str, texts: Texts) -> None:
        """As `CollectionWriter.add`."""
        self._call(CollectionWriter.add, name, texts)
