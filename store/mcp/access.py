"""How an agent reaches the library: reading, and writing to the text memory, while other processes do."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path

from store.embedding import open_embedder
from store.embedding.protocol import Embedder
from store.memory.values import checked_moment
from store.memory.verbs import Memory, MemoryVerbs
from store.permissions import Actor
from store.reading.reader import Reader

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
        self._memory: Memory | None = None
        self._models: dict[str, Embedder] = {}
        self._lock = threading.RLock()

    @property
    def access_description(self) -> str:
        """Whether a memory can be stored, and why not."""
        if not self._actor.can_write:
            return f"reading only: {self._actor.name} may look at this library, not change it"
        return f"reading and storing{'; a person reviews what is stored' if self.is_reviewed else ''}"

    @property
    def memory(self) -> MemoryVerbs:
        """The memory, which other processes may write to as well; opened again if it was replaced."""
        with self._lock:
            if self._memory and not self._memory.is_in_place:
                self._memory.close()
                self._memory = None
            if self._memory is None:
                opened = Memory.open_beside if self._actor.can_write else Memory.open_for_reading
                self._memory = opened(self.root, models=self._model)
            agent = self._agent() if self._actor.can_write else self._actor
            return MemoryVerbs(self._memory.for_actor(agent))

    @contextmanager
    def memory_at(self, moment: str | None) -> Iterator[MemoryVerbs]:
        """The memory for reading, as it was at this date or time if one is given."""
        if not moment:
            yield self.memory
            return
        with self.memory.as_of(checked_moment(moment)) as past:
            yield past

    @cached_property
    def library(self) -> Reader:
        """The library, opened at the first call."""
        with self._lock:
            return self._open_reader(self.root)

    def _agent(self) -> Actor:
        """The client that calls now, in the place of the person who started the server."""
        return Actor(
            self._actor.name, via="MCP", agent=client.get() or "an agent", is_reviewed=self.is_reviewed
        )

    def close(self) -> None:
        """Close what was opened."""
        if self._memory:
            self._memory.close()
        if opened := self.__dict__.pop("library", None):
            opened.close()

    def _model(self, name: str) -> Embedder:
        """The model, loaded once however often the memory is opened."""
        with self._lock:
            if name not in self._models:
                self._models[name] = open_embedder(name)
            return self._models[name]
