"""Chroma's collections in one folder: derived from SQLite, and rebuildable from it without a model."""

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from store.chroma.client import open_client
from store.chroma.contents import MARK, own_names, read_contents
from store.records import Facet

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


@dataclass(frozen=True, slots=True)
class Point:
    """An entry of a collection: a float32 vector and filter columns, never a text."""

    id: str
    vector: bytes
    metadata: Mapping[str, str | int]


def made_with(model: str, owner: str = "") -> dict[str, str]:
    """The metadata of a collection. `owner` is the token of the database behind it (`contents.py`)."""
    return {"model": model, **({MARK: owner} if owner else {})}


class Collections:
    """The collections in one folder; opened at the first call, never to show a page."""

    def __init__(
        self,
        folder: Path,
        metadata: Mapping[str, Mapping[str, str]],
        *,
        index: "CreateHNSWConfiguration | None" = None,
    ) -> None:
        """`metadata` has the metadata of each collection by name, as from `made_with`."""
        self._folder = folder
        self._metadata = {name: dict(fields) for name, fields in metadata.items()}
        self._index = index or INDEX
        self._client: ClientAPI | None = None
        self._open: dict[str, Collection] = {}

    def put(self, name: str, points: Sequence[Point], *, gone: Sequence[str]) -> None:
        """Delete the ids that are gone, then add or replace points; missing fields stay as they were."""
        collection = self.collection(name)
        if gone:
            collection.delete(ids=list(gone))
        if points:
            collection.upsert(
                ids=[point.id for point in points],
                embeddings=np.stack([np.frombuffer(point.vector, np.float32) for point in points]),
                # Chroma takes None here, and refuses {}; its types say otherwise.
                metadatas=[dict(point.metadata) or None for point in points],  # type: ignore[misc]
            )

    def begin(self, name: str, *, model: str) -> None:
        """Create an empty collection of this name, replacing one of ours."""
        from chromadb.errors import NotFoundError

        self._open.pop(name, None)
        self._metadata[name]["model"] = model
        mark = self._metadata[name].get(MARK)
        ours = [
            one
            for one in read_contents(self._folder).collections
            if one.name == name and one.metadata.get(MARK, mark) == mark
        ]
        with contextlib.suppress(NotFoundError):
            if ours:
                self._connect().delete_collection(name)
        for segment in (segment for one in ours for segment in one.segments):
            shutil.rmtree(self._folder / segment, ignore_errors=True)  # which Chroma leaves, vectors and all
        self.collection(name)

    def model(self, name: str) -> str:
        """The model in the collection's metadata."""
        return str((self.collection(name).metadata or {}).get("model"))

    def ids(self, name: str) -> set[str]:
        """Every id of one collection, read in pages, because a `get` of more than 32,766 rows raises."""
        collection, found = self.collection(name), set[str]()
        while page := collection.get(include=[], limit=10_000, offset=len(found))["ids"]:
            found.update(page)
        return found

    def metadata(self, name: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The metadata of these entries, by id; ids that Chroma lacks are left out."""
        if not ids:  # an empty `get` raises
            return {}
        got = self.collection(name).get(ids=list(ids), include=["metadatas"])
        return {id: dict(fields or {}) for id, fields in zip(got["ids"], got["metadatas"] or [], strict=True)}

    def vectors(self, name: str, ids: Sequence[str]) -> dict[str, np.ndarray[Any, Any]]:
        """The vectors of these entries, by id; ids that Chroma lacks are left out."""
        if not ids:
            return {}
        got = self.collection(name).get(ids=list(ids), include=["embeddings"])
        rows = got["embeddings"]
        return dict(zip(got["ids"], np.asarray(rows), strict=True)) if rows is not None else {}

    def nearest(self, name: str, vector: np.ndarray[Any, Any], *, n: int = 1) -> list[str]:
        """The ids with the nearest vectors by the index."""
        collection = self.collection(name)
        n = min(n, collection.count())
        return collection.query(query_embeddings=[vector], n_results=n, include=[])["ids"][0] if n else []

    def collection(self, name: str) -> "Collection":
        """Chroma's collection, created if necessary and marked as ours; the caller has proved that it is."""
        if name not in self._open:
            metadata = self._metadata[name]
            collection = self._open[name] = self._connect().get_or_create_collection(
                name, embedding_function=None, configuration={"hnsw": self._index}, metadata=metadata
            )
            if MARK in metadata and MARK not in (collection.metadata or {}):  # made before there were marks
                collection.modify(metadata={**(collection.metadata or {}), MARK: metadata[MARK]})
        return self._open[name]

    def close(self) -> None:
        """Close Chroma's files."""
        if self._client is not None:
            self._client.close()  # type: ignore[attr-defined]  # of Client, not in ClientAPI
        self._client, self._open = None, {}

    def _connect(self) -> "ClientAPI":
        if self._client is None:
            self._client = open_client(self._folder)
        return self._client


def own_files(folder: Path) -> list[Path]:
    """Chroma's own files, sorted; without others beside them, such as the library's pictures."""
    found: list[Path] = []
    for name in own_names(folder):
        path = folder / name
        found += (inner for inner in path.iterdir() if inner.is_file()) if path.is_dir() else [path]
    return sorted(found)


NO_FILES = sha256(b"").hexdigest()  # the stamp of a folder without any


def stamp(folder: Path) -> str:
    """Name, size and time of Chroma's own files as one hash, to notice later changes.

    The folder's path is not included: a library may be moved, or copied with its times.
    """
    known = ((path.relative_to(folder).as_posix(), path.stat()) for path in own_files(folder))
    text = "\n".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in known)
    return sha256(text.encode()).hexdigest()


def flush(folder: Path) -> None:
    """Fsync the files, because Chroma never fsyncs its index."""
    for path in own_files(folder):
        with (
            path.open("rb") as file,
            contextlib.suppress(OSError),
        ):  # Windows flushes only what can be written
            os.fsync(file.fileno())
