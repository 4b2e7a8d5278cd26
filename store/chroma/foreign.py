"""Chromas of other programs, opened in a separate process.

One that exists is read from a copy, so that nothing of it can change. A new one is written with documents and
metadata, for other programs to read.
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from store.chroma.collections import open_client
from store.chroma.contents import FoundCollection, own_names, read_entries
from store.chroma.process import ChildProcess, ChromaFailed
from store.progress import batches

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

_BATCH = 500  # entries of one answer


@dataclass(frozen=True, slots=True)
class ForeignEntry:
    """One entry of a collection; the vector has float32 numbers, and is None if it could not be read."""

    id: str
    document: str | None
    metadata: Mapping[str, Any]
    vector: np.ndarray[Any, np.dtype[np.float32]] | None


class ForeignChroma:
    """The collections of one folder, until its block ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = ChildProcess(_Reader, folder)
        self.fault = ""  # why vectors could not be read; "" while they can

    def entries(self, collection: FoundCollection) -> Iterator[ForeignEntry]:
        """Every entry, in the order of SQLite's rows; without vectors once the index cannot be read."""
        for batch in batches(read_entries(self.folder, collection), _BATCH):
            yield from self._with_vectors(collection, batch)

    def close(self) -> None:
        """End the process; how it ends does not matter, since it has nothing to store."""
        with suppress(ChromaFailed):
            self._process.close()

    def _with_vectors(
        self, collection: FoundCollection, batch: list[tuple[str, str | None, dict[str, Any]]]
    ) -> Iterator[ForeignEntry]:
        vectors: Mapping[str, bytes] = {}
        if not self.fault:
            try:
                ids = [id for id, _, _ in batch]
                vectors = self._process.call(_Reader.vectors, collection.name, ids)
            except ChromaFailed as error:
                self.fault = str(error)
        for id, document, metadata in batch:
            vector = vectors.get(id)
            yield ForeignEntry(
                id, document, metadata, None if vector is None else np.frombuffer(vector, np.float32)
            )


@contextmanager
def opened_copy(folder: Path) -> Iterator[ForeignChroma]:
    """A copy of this folder's Chroma to read. Raises OSError if its files cannot be copied."""
    with tempfile.TemporaryDirectory(prefix="memedex-") as temporary:
        copy = Path(temporary)
        for name in own_names(folder):
            source = folder / name
            if source.is_dir():
                shutil.copytree(source, copy / name)
            else:
                shutil.copyfile(source, copy / name)
        with closing(ForeignChroma(copy)) as found:
            yield found


class _Reader:
    """In the process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._client: Any = open_client(folder)
        self._name = ""

    def vectors(self, name: str, ids: Sequence[str]) -> dict[str, bytes]:
        if name != self._name:  # a client keeps the index of every collection that it has read
            self._client.close()
            self._client, self._name = open_client(self._folder), name
        found = self._client.get_collection(name, embedding_function=None).get(
            ids=list(ids), include=["embeddings"]
        )
        rows = np.asarray(found["embeddings"], np.float32)
        return {id: row.tobytes() for id, row in zip(found["ids"], rows, strict=True)}

    def close(self) -> None:
        """Nothing was written."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Entries of a collection; the four have the same length, unless there are no documents."""

    ids: list[str] = field(default_factory=list)
    documents: list[str] | None = field(default_factory=list)
    metadata: list[dict[str, Any]] = field(default_factory=list)
    vectors: list[bytes] = field(default_factory=list)  # float32


class CollectionWriter:
    """Adds entries to collections of a new folder, in a child process, with cosine distance."""

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
