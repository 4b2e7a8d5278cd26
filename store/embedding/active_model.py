"""The embedding model in use: its name is in a database, its weights are loaded when they are needed."""

import threading
from collections.abc import Callable
from typing import Protocol

from store.embedding import kept_vectors, open_embedder
from store.embedding.protocol import Embedder
from store.errors import ModelUnavailable


class Names(Protocol):
    """Where the model's name is stored: the catalog, or a database of the text memory."""

    def meta(self, key: str, /) -> str:
        """The value that is stored under this key."""


class ActiveModel:
    """The embedder in use, shared by all threads; replaced when another model is named."""

    def __init__(
        self,
        names: Names,
        given: Embedder | None = None,
        *,
        models: Callable[[str], Embedder] = lambda name: open_embedder(name),
    ) -> None:
        self._names = names
        self._models = models
        self._lock = threading.Lock()
        self._embedder = given

    @property
    def name(self) -> str:
        """The model's name; "" before any was chosen."""
        return self._names.meta("model")

    @property
    def embedder(self) -> Embedder:
        """The embedder, whose weights load at first use.

        Raises ModelUnavailable if there is no such model on this machine.
        """
        with self._lock:
            if self._embedder is None or self._embedder.name != self.name:
                self._embedder = self._opened(self.name)
            return self._embedder

    @property
    def status(self) -> str:
        """Its loading state, as text for a page."""
        try:
            return self.embedder.status
        except ModelUnavailable as error:
            return f"unavailable: {error}"

    def _opened(self, name: str) -> Embedder:
        kept = kept_vectors.stored(self._names.meta(kept_vectors.META), name=name)
        if kept is None:
            return self._models(name)
        try:
            found = self._models(name)
            _ = found.fingerprint  # asks for the weights, without loading them
        except ModelUnavailable:
            return kept
        return found

    def use(self, embedder: Embedder) -> None:
        """Use this embedder, which the database names already."""
        with self._lock:
            self._embedder = embedder
