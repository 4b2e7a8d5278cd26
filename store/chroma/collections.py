"""Chroma's collections: derived from SQLite, and rebuildable from it without a model."""

import contextlib
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from store.chroma.contents import MARK, own_names, read_contents
from store.progress import batches
from store.records import Facet

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.collection_configuration import CreateHNSWConfiguration
    from chromadb.api.models.Collection import Collection

# The names under which other programs find a meme library's five collections.
COLLECTIONS: dict[Facet, str] = {
    "image": "meme_image_embeddings",
    "entity": "entity_caption_embeddings",
    "context": "context_caption_embeddings",
    "visual": "visual_caption_embeddings",
    "emotions": "emotions_caption_embeddings",
}

T = TypeVar("T")

Metadata = Mapping[str, Mapping[str, str]]  # of each collection by name

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


class Collections(ABC):
    """Our collections in one place; opened at the first call, never to show a page."""

    _page = 5_000  # entries of one request: `upsert` takes 5,461, and `get` of more than 32,766 rows raises

    def __init__(self, metadata: Metadata) -> None:
        """`metadata` has the metadata of each collection by name, as from `made_with`."""
        self._metadata = {name: dict(fields) for name, fields in metadata.items()}
        self._client: ClientAPI | None = None
        self._open: dict[str, Collection] = {}

    @abstractmethod
    def begin(self, name: str, *, model: str) -> None:
        """Create an empty collection of this name, replacing one of ours."""

    @abstractmethod
    def collection(self, name: str) -> "Collection":
        """Chroma's collection of this name, which is ours."""

    @abstractmethod
    def _connect(self) -> "ClientAPI":
        """The client, created at the first call."""

    def _ask(self, request: Callable[[], T]) -> T:
        """The answer of Chroma to one request."""
        return request()

    def has(self, name: str) -> bool:
        """Whether the collection exists, or is created when it is needed."""
        return True

    def put(self, name: str, points: Sequence[Point], *, gone: Sequence[str]) -> None:
        """Delete the ids that are gone, then add or replace points; missing fields stay as they were."""
        collection = self.collection(name)
        for ids in batches(gone, self._page):
            self._ask(partial(collection.delete, ids=ids))
        for some in batches(points, self._page):
            self._ask(
                partial(
                    collection.upsert,
                    ids=[point.id for point in some],
                    embeddings=np.stack([np.frombuffer(point.vector, np.float32) for point in some]),
                    # Chroma takes None here, and refuses {}; its types say otherwise.
                    metadatas=[dict(point.metadata) or None for point in some],  # type: ignore[misc]
                )
            )

    def model(self, name: str) -> str:
        """The model in the collection's metadata."""
        return str((self.collection(name).metadata or {}).get("model"))

    def ids(self, name: str) -> set[str]:
        """Every id of one collection, read in pages."""
        collection, found = self.collection(name), set[str]()
        ask = partial(collection.get, include=[], limit=self._page)
        while page := self._ask(partial(ask, offset=len(found)))["ids"]:
            found.update(page)
        return found

    def metadata(self, name: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The metadata of these entries, by id; ids that Chroma lacks are left out."""
        collection, found = self.collection(name), dict[str, dict[str, Any]]()
        for some in batches(ids, self._page):
            got = self._ask(partial(collection.get, ids=some, include=["metadatas"]))
            rows = got["metadatas"] or []
            found |= {id: dict(fields or {}) for id, fields in zip(got["ids"], rows, strict=True)}
        return found

    def vectors(self, name: str, ids: Sequence[str]) -> dict[str, np.ndarray[Any, Any]]:
        """The vectors (d,) of these entries, by id; ids that Chroma lacks are left out."""
        collection, found = self.collection(name), dict[str, np.ndarray[Any, Any]]()
        for some in batches(ids, self._page):
            got = self._ask(partial(collection.get, ids=some, include=["embeddings"]))
            if (rows := got["embeddings"]) is not None:
                found |= dict(zip(got["ids"], np.asarray(rows), strict=True))
        return found

    def nearest(self, name: str, vector: np.ndarray[Any, Any]) -> list[str]:
        """The id whose vector is nearest to `vector` (d,) by the index; none of an empty collection."""
        collection = self.collection(name)
        ask = partial(collection.query, query_embeddings=[vector], n_results=1, include=[])
        return self._ask(ask)["ids"][0] if self._ask(collection.count) else []

    def close(self) -> None:
        """Close Chroma."""
        if self._client is not None:
            self._client.close()  # type: ignore[attr-defined]  # of Client, not in ClientAPI
        self._client, self._open = None, {}


class FolderCollections(Collections):
    """The collections in a folder of this machine."""

    def __init__(self, folder: Path, metadata: Metadata) -> None:
        super().__init__(metadata)
        self._folder = folder

    def begin(self, name: str, *, model: str) -> None:
        """As `Collections.begin`; the files of the earlier index are removed too."""
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

    def collection(self, name: str) -> "Collection":
        """Chroma's collection, created if necessary and marked as ours; the caller has proved that it is."""
        if name not in self._open:
            self._open[name] = self._connect().get_or_create_collection(
                name, embedding_function=None, configuration={"hnsw": INDEX}, metadata=self._metadata[name]
            )
        return self._open[name]

    def _connect(self) -> "ClientAPI":
        if self._client is None:
            self._client = open_client(self._folder)
        return self._client


def open_client(folder: Path) -> "ClientAPI":
    """A client over this folder, which is created if it is missing; without telemetry."""
    import chromadb
    from chromadb.config import Settings

    folder.mkdir(parents=True, exist_ok=True)
    return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))


def own_files(folder: Path) -> list[Path]:
    """Chroma's own files, sorted; without other files, such as the library's pictures."""
    found: list[Path] = []
    for name in own_names(folder):
        path = folder / name
        found += (inner for inner in path.iterdir() if inner.is_file()) if path.is_dir() else [path]
    return sorted(found)


NO_FILES = sha256(b"").hexdigest()  # the stamp of a folder without any
