"""Chroma: one collection for each kind, derived; vectors, ids and columns to filter by, never a text."""

import contextlib
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from store.chroma.client import open_client
from store.memory.kind import Kind

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

Metadata = dict[str, str | int]


@dataclass(frozen=True, slots=True)
class Point:
    """An entry as Chroma keeps it."""

    id: str
    vector: bytes
    metadata: Metadata


def metadata_of(kind: Kind, row: sqlite3.Row | dict[str, Any]) -> Metadata:
    """The columns to filter by; Chroma knows no NULL, so what is not there is left out."""
    filters = {column: row[column] for column in kind.filters if row[column] is not None}
    return {**filters, **kind.metadata(row)}


class Chroma:
    """The collections in one folder; opened at the first call, never to show a page."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._client: ClientAPI | None = None
        self._open: dict[str, Collection] = {}

    def put(self, name: str, points: Sequence[Point], *, gone: Sequence[str], model: str) -> None:
        """Make the collection say this about these ids; fields of earlier versions do not stay behind."""
        collection = self.collection(name, model=model)
        absent = [*gone, *(point.id for point in points)]  # an upsert would merge old and new metadata
        if absent:
            collection.delete(ids=absent)
        if points:
            collection.upsert(
                ids=[point.id for point in points],
                embeddings=np.stack([np.frombuffer(point.vector, np.float32) for point in points]),
                metadatas=[dict(point.metadata) or None for point in points],  # type: ignore[misc]
            )

    def collection(self, name: str, *, model: str) -> "Collection":
        if name not in self._open:
            self._open[name] = self._connect().get_or_create_collection(
                name,
                embedding_function=None,
                configuration={"hnsw": {"space": "cosine"}},
                metadata={"model": model},
            )
        return self._open[name]

    def begin(self, name: str, *, model: str) -> None:
        """An empty collection of this name, whatever was there before."""
        from chromadb.errors import NotFoundError

        self._open.pop(name, None)
        with contextlib.suppress(NotFoundError):
            self._connect().delete_collection(name)
        self.collection(name, model=model)

    def ids(self, name: str, *, model: str) -> set[str]:
        """Every id, read in pages: a `get` of more than 32,766 rows raises."""
        collection, found = self.collection(name, model=model), set[str]()
        while page := collection.get(include=[], limit=10_000, offset=len(found))["ids"]:
            found.update(page)
        return found

    def close(self) -> None:
        """Let go of Chroma's files."""
        if self._client is not None:
            self._client.close()  # type: ignore[attr-defined]  # of Client, not in ClientAPI
        self._client, self._open = None, {}

    def _connect(self) -> "ClientAPI":
        if self._client is None:
            self._client = open_client(self._folder)
        return self._client


def remove_files(folder: Path) -> None:
    """Remove all of it; nothing but Chroma's own lies there.

    It takes no less to forget something. Measured on 1.5.9: after `delete_collection` the folder of its
    index stays with every vector in it, the SQLite file still holds ids, metadata and vectors in free pages
    and in the queue, and any collection's index file may hold pieces of what was in memory when it was
    written.
    """
    if folder.exists():
        shutil.rmtree(folder)
