"""The pictures of a library by its model: vectors, orders and neighbours."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from store.catalog.catalog import Catalog
from store.embedding.active_model import ActiveModel
from store.embedding.arrays import Vector
from store.embedding.embedding_cache import EmbeddingSource, embed, picture_vector
from store.embedding.protocol import Embedder
from store.errors import ModelUnavailable
from store.lru import LruCache
from store.records import Record
from store.search.picture_index import Order, Ordered, PictureIndex

_KEPT = 64  # vectors of pictures that are not in the library yet


class PictureSimilarity:
    """The pictures of every tier's records; read and compared at the first request."""

    def __init__(self, catalog: Catalog, model: ActiveModel, *, picture: Callable[[str], Path]) -> None:
        self._catalog = catalog
        self._model = model
        self._picture = picture  # where the picture of an address lies at this moment
        self._lock = threading.Lock()
        self._index: PictureIndex | None = None
        self._made: LruCache[str, Vector] = LruCache(_KEPT)

    @property
    def embedder(self) -> Embedder:
        """The library's model. Raises ModelUnavailable if it cannot be used."""
        return self._model.embedder

    def index(self) -> PictureIndex:
        """All pictures as they are now. Raises ModelUnavailable if the model cannot be used."""
        embedder = self.embedder
        with self._lock:
            if self._index is None or self._index.embedder is not embedder:
                self._index = PictureIndex(embedder)
            index = self._index
        with self._catalog.reading() as db:
            index.refresh(db)
        return index

    def stored(self, record: Record) -> Vector | None:
        """The stored vector of one picture; None if there is none yet.

        Raises ModelUnavailable if the model cannot be used.
        """
        with self._catalog.reading() as db:
            return picture_vector(db, record.address, embedder=self.embedder)

    def vector(self, record: Record) -> Vector | None:
        """The stored vector, or one computed now and cached for a while; None for a text-only model."""
        embedder = self.embedder
        if (found := self.stored(record)) is not None:
            return found
        key = f"{embedder.fingerprint} {record.image_hash}"
        if (vector := self._made.get(key)) is None:
            with contextlib.suppress(ModelUnavailable, OSError):
                source = EmbeddingSource(key, picture=self._picture(record.address))
                vector = np.frombuffer(embed([source], embedder)[key][1], "<f4")
                self._made[key] = vector
        return vector

    def ordered(self, addresses: Sequence[str], order: Order, *, like: Record | None) -> Ordered:
        """Sort these records by their pictures (`store.search.picture_index`); `like`: by similarity to one.

        Raises ModelUnavailable for a text-only model.
        """
        vector = self.vector(like) if like else None
        if like and vector is None:
            raise ModelUnavailable(
                f"{self._model.name} cannot see the picture of {like.address}; choose another order"
            )
        return self.index().ordered(addresses, order, like=vector)
