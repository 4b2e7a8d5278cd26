"""Chroma: the five collections, derived from the catalog and rebuildable from it without a model."""

import contextlib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from store.chroma.client import open_client
from store.records import FACETS, Facet

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.collection_configuration import CreateHNSWConfiguration
    from chromadb.api.models.Collection import Collection

# Reference 1, "5-Collection Multi-Embedding Architecture".
COLLECTIONS: dict[Facet, str] = {
    "image": "meme_image_embeddings",
    "entity": "entity_caption_embeddings",
    "context": "context_caption_embeddings",
    "visual": "visual_caption_embeddings",
    "emotions": "emotions_caption_embeddings",
}

INDEX: "CreateHNSWConfiguration" = {"space": "cosine"}
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # Chroma's name for an index folder


@dataclass(frozen=True, slots=True)
class Row:
    """A library record as Chroma keeps it: the six fields and the float32 vectors of the facets it has."""

    address: str
    metadata: Mapping[str, str | int]
    vectors: Mapping[Facet, bytes]


class Collections:
    """The five collections in one folder; opened at the first call, never to show a page."""

    def __init__(self, folder: Path, *, model: str, index: "CreateHNSWConfiguration | None" = None) -> None:
        self._folder = folder
        self._model = model
        self._index = index or INDEX
        self._client: ClientAPI | None = None
        self._open: dict[Facet, Collection] = {}

    def put(self, rows: Sequence[Row], *, gone: Sequence[str]) -> None:
        """Make all five collections say what these rows say, and nothing about those gone."""
        for facet in FACETS:
            collection = self._collection(facet)
            having = [row for row in rows if facet in row.vectors]
            absent = [*gone, *(row.address for row in rows if facet not in row.vectors)]
            if absent:
                collection.delete(ids=absent)
            if having:
                collection.upsert(
                    ids=[row.address for row in having],
                    embeddings=np.stack([np.frombuffer(row.vectors[facet], np.float32) for row in having]),
                    metadatas=[dict(row.metadata) for row in having],
                )

    def models(self) -> set[str]:
        """The models the collections say they were made with."""
        return {str((self._collection(facet).metadata or {}).get("model")) for facet in FACETS}

    def ids(self, facet: Facet) -> set[str]:
        """Every id of one collection, read in pages: a `get` of more than 32,766 rows raises."""
        collection, found = self._collection(facet), set[str]()
        while page := collection.get(include=[], limit=10_000, offset=len(found))["ids"]:
            found.update(page)
        return found

    def metadata(self, facet: Facet, addresses: Sequence[str]) -> dict[str, dict[str, Any]]:
        if not addresses:  # an empty `get` raises
            return {}
        got = self._collection(facet).get(ids=list(addresses), include=["metadatas"])
        return {id: dict(fields) for id, fields in zip(got["ids"], got["metadatas"] or [], strict=True)}

    def vectors(self, facet: Facet, addresses: Sequence[str]) -> dict[str, np.ndarray[Any, Any]]:
        if not addresses:
            return {}
        got = self._collection(facet).get(ids=list(addresses), include=["embeddings"])
        rows = got["embeddings"]
        return dict(zip(got["ids"], np.asarray(rows), strict=True)) if rows is not None else {}

    def nearest(self, facet: Facet, vector: np.ndarray[Any, Any], *, n: int = 1) -> list[str]:
        """The ids whose vectors are nearest, as the index finds them."""
        collection = self._collection(facet)
        n = min(n, collection.count())
        return collection.query(query_embeddings=[vector], n_results=n, include=[])["ids"][0] if n else []

    def close(self) -> None:
        """Let go of Chroma's files."""
        if self._client is not None:
            self._client.close()  # type: ignore[attr-defined]  # of Client, not in ClientAPI
        self._client, self._open = None, {}

    def _collection(self, facet: Facet) -> "Collection":
        if facet not in self._open:
            self._open[facet] = self._connect().get_or_create_collection(
                COLLECTIONS[facet],
                embedding_function=None,
                configuration={"hnsw": self._index},
                metadata={"model": self._model},
            )
        return self._open[facet]

    def _connect(self) -> "ClientAPI":
        if self._client is None:
            self._client = open_client(self._folder)
        return self._client


def own_files(folder: Path) -> list[Path]:
    """Chroma's own files, sorted; nothing else that lies beside them, such as the library's pictures."""
    found: list[Path] = []
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name.startswith("chroma.sqlite3"):
            found.append(path)
        elif _UUID.fullmatch(path.name) and path.is_dir():
            found += (inner for inner in path.iterdir() if inner.is_file())
    return sorted(found)


NO_FILES = sha256(b"").hexdigest()  # the stamp of a folder without any


def stamp(folder: Path) -> str:
    """Name, size and time of Chroma's own files in one word, to see later whether somebody touched them.

    Where the folder lies is no part of it: a library may be moved, or copied with its times.
    """
    known = ((path.relative_to(folder).as_posix(), path.stat()) for path in own_files(folder))
    text = "\n".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in known)
    return sha256(text.encode()).hexdigest()


def flush(folder: Path) -> None:
    """Bring the files to the disk: Chroma itself never fsyncs its index."""
    for path in own_files(folder):
        with (
            path.open("rb") as file,
            contextlib.suppress(OSError),
        ):  # Windows flushes only what can be written
            os.fsync(file.fileno())


def remove_files(folder: Path) -> None:
    """Remove Chroma's own files and index folders, and nothing else."""
    for path in own_files(folder):
        path.unlink()
    for path in folder.iterdir() if folder.is_dir() else ():
        if _UUID.fullmatch(path.name) and path.is_dir():
            shutil.rmtree(path)
