"""How a library's pictures look to its model: each one's vector, and the orders and neighbours they give."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from store.catalog import Catalog
from store.chosen_model import ChosenModel
from store.embedded import Source, embed, picture_vector
from store.errors import ModelUnavailable
from store.looks import Looks, Order, Ordered
from store.records import Record
from store.search.blocks import Vector
from store.search.recent import Recent

_KEPT = 64  # vectors of pictures that are not in the library yet


class Appearance:
    """Of every tier's records, read and compared when somebody first asks."""

    def __init__(self, catalog: Catalog, model: ChosenModel, *, picture: Callable[[str], Path]) -> None:
        self._catalog = catalog
        self._model = model
        self._picture = picture  # where the picture of an address lies at this moment
        self._lock = threading.Lock()
        self._looks: Looks | None = None
        self._made: Recent[str, Vector] = Recent(_KEPT)

    def looks(self) -> Looks:
        """All pictures as they are now; ModelUnavailable."""
        embedder = self._model.embedder
        with self._lock:
            if self._looks is None or self._looks.embedder is not embedder:
                self._looks = Looks(embedder)
            looks = self._looks
        with self._catalog.reading() as db:
            looks.refresh(db)
        return looks

    def vector(self, record: Record) -> Vector | None:
        """As it is stored, else made now and remembered for a while; None where the model cannot see."""
        embedder = self._model.embedder
        with self._catalog.reading() as db:
            stored = picture_vector(db, record.address, embedder=embedder)
        if stored is not None:
            return stored
        key = f"{embedder.fingerprint} {record.image_hash}"
        if (vector := self._made.get(key)) is None:
            with contextlib.suppress(ModelUnavailable, OSError):
                source = Source(key, picture=self._picture(record.address))
                vector = np.frombuffer(embed([source], embedder)[key][1], "<f4")
                self._made.put(key, vector)
        return vector

    def ordered(self, addresses: Sequence[str], order: Order, *, like: Record | None) -> Ordered:
        """These records in an order that their pictures give (`store.looks`), `like` by likeness to this one.

        ModelUnavailable where the model cannot see.
        """
        vector = self.vector(like) if like else None
        if like and vector is None:
            raise ModelUnavailable(
                f"{self._model.name} cannot see the picture of {like.address}; choose another order"
            )
        return self.looks().ordered(addresses, order, like=vector)
