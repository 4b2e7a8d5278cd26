"""How an agent reaches the library: reading always, writing briefly if no other process does."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from store.disk.lock import WriterLock
from store.embedding import open_embedder
from store.embedding.protocol import Embedder
from store.errors import LibraryInUse, ReadOnly
from store.memory.engine.inputs import checked_moment
from store.memory.engine.places import Places
from store.memory.memory import Memory
from store.permissions import Actor
from store.reading.reader import Reader

_T = TypeVar("_T")

client: ContextVar[str] = ContextVar("client", default="")  # the name of the program that calls now


class Access:
    """One root for agents; opened at the first request, thread-safe."""

    def __init__(
        self,
        root: Path,
        *,
        actor: str,
        open_reader: Callable[[Path], Reader],
        is_reviewed: bool = False,
    ) -> None:
        """With `is_reviewed`, what agents write waits until a person accepts it."""
        self.root = root
        self.is_reviewed = is_reviewed
        self._actor = Actor(actor)
        self._open_reader = open_reader
        self._models: dict[str, Embedder] = {}
        self._lock = threading.RLock()

    @property
    def how(self) -> str:
        """Whether a memory could be stored now, and why not."""
        if not self._actor.can_write:
            return f"reading only: {self._actor.name} may look at this library, not change it"
        if not WriterLock(Places(self.root).lock).is_free():
            return "reading only: another program, such as the dashboard, writes to the text memory"
        waits = "; a person reviews what is stored" if self.is_reviewed else ""
        return f"reading and storing{waits}"

    @cached_property
    def memory(self) -> Memory:
        """The memory for reading, beside the process that writes."""
        with self._lock:
            return Memory.open_for_reading(self.root, models=self._model)

    @contextmanager
    def memory_at(self, moment: str | None) -> Iterator[Memory]:
        """The memory for reading, as it was at this date or time if one is given."""
        if not moment:
            yield self.memory
            return
        with self.memory.as_of(checked_moment(moment)) as past:
            yield past

    @cached_property
    def library(self) -> Reader:
        with self._lock:
            return self._open_reader(self.root)

    def write(self, work: Callable[[Memory], _T]) -> _T:
        """Run this with the memory open for writing, then close it.

        Raises ReadOnly while another has it open.
        """
        self._actor.permit()
        with self._lock:
            try:
                with Memory.open(self.root, models=self._model) as memory:
                    return work(memory.for_actor(self._agent()))
            except LibraryInUse as error:
                raise ReadOnly(
                    f"nothing was stored, this server only reads for now: {error}. Close the other program, "
                    "or store it there"
                ) from error

    def _agent(self) -> Actor:
        """The client that calls now, in the place of the person who started the server."""
        return Actor(
            self._actor.name, via="MCP", agent=client.get() or "an agent", is_reviewed=self.is_reviewed
        )

    def close(self) -> None:
        for name in ("memory", "library"):
            if opened := self.__dict__.pop(name, None):
                opened.close()

    def _model(self, name: str) -> Embedder:
        """The model, loaded once however often the memory is opened."""
        with self._lock:
            if name not in self._models:
                self._models[name] = open_embedder(name)
            return self._models[name]
