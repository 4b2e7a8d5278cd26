"""The embedding model in use: its name stands in a database, its weights wait until they are needed."""

import threading
from collections.abc import Callable
from typing import Protocol

from store.embedding import Embedder, open_embedder
from store.errors import ModelUnavailable


class Names(Protocol):
    """Where the model's name is kept: the catalog, or a database of the text memory."""

    def meta(self, key: str, /) -> str: ...


class ChosenModel:
    """One embedder at a time, shared by all threads; another one as soon as another is named."""

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
        """As it is chosen by; "" before any was chosen."""
        return self._names.meta("model")

    @property
    def embedder(self) -> Embedder:
        """Its weights are loaded when it is first used; ModelUnavailable where that cannot be."""
        with self._lock:
            if self._embedder is None or self._embedder.name != self.name:
                self._embedder = self._models(self.name)
            return self._embedder

    @property
    def status(self) -> str:
        """How far it is, in words for a page."""
        try:
            return self.embedder.status
        except ModelUnavailable as error:
            return f"unavailable: {error}"

    def use(self, embedder: Embedder) -> None:
        """This one from now on, which is named already."""
        with self._lock:
            self._embedder = embedder
