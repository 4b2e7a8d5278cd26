"""How an agent reaches the library: reading always, writing for a moment where nobody else does."""

import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from store.embedding import Embedder, open_embedder
from store.errors import LibraryInUse, ReadOnly
from store.library import Library
from store.lock import WriterLock
from store.memory import Memory, Places
from store.people import may_change
from store.reading import Reader

_T = TypeVar("_T")


class Access:
    """One root as agents see it; opened at the first question, safe to share by threads."""

    def __init__(self, root: Path, *, who: str) -> None:
        self.root = root
        self.who = who
        self._models: dict[str, Embedder] = {}
        self._lock = threading.RLock()

    @property
    def how(self) -> str:
        """Whether a memory could be stored at this moment, and why not."""
        if not may_change(self.who):
            return f"reading only: {self.who} may look at this library, not change it"
        if not WriterLock(Places(self.root).lock).is_free():
            return "reading only: another program, such as the dashboard, writes to the text memory"
        return "reading and storing"

    @cached_property
    def memory(self) -> Memory:
        """For reading, beside whoever writes."""
        with self._lock:
            return Memory.open_for_reading(self.root, models=self._model)

    @cached_property
    def library(self) -> Reader:
        with self._lock:
            return Library.open_for_reading(self.root)

    def write(self, work: Callable[[Memory], _T]) -> _T:
        """Do this with the memory open for writing, and let go of it; ReadOnly while somebody else has it."""
        if not may_change(self.who):
            raise ReadOnly(f"{self.who} may look at this library, not change it")
        with self._lock:
            try:
                with Memory.open(self.root, models=self._model) as memory:
                    return work(memory)
            except LibraryInUse as error:
                raise ReadOnly(
                    f"nothing was stored, this server only reads for now: {error}. Close the other program, "
                    "or store it there"
                ) from error

    def close(self) -> None:
        for name in ("memory", "library"):
            if opened := self.__dict__.pop(name, None):
                opened.close()

    def _model(self, name: str) -> Embedder:
        """Loaded once, however often the memory is opened."""
        with self._lock:
            if name not in self._models:
                self._models[name] = open_embedder(name)
            return self._models[name]
