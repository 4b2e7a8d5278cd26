"""How an agent reaches the library: reading, and writing to the text memory, while other processes do."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from store.disk import lock
from store.disk.files import refused
from store.embedding import open_embedder
from store.embedding.protocol import Embedder
from store.errors import LibraryInUse, MemedexError, NothingToUndo, NotWritten
from store.mcp import decisions
from store.mcp.decisions import AgentDecision, Verb
from store.memory.memory import Memory
from store.memory.values import checked_moment
from store.permissions import Actor, Agent
from store.reading.reader import Reader

PATIENCE = 60.0  # seconds in which the process that writes has to begin a decision
_BETWEEN = 0.05  # seconds between two looks for its answer

client: ContextVar[str] = ContextVar("client", default="")  # the name of the program that calls now


class Access:
    """One root for agents; opened at the first request, thread-safe."""

    def __init__(
        self,
        root: Path,
        *,
        actor: str,
        open_reader: Callable[[Path], Reader],
        carry_out: Callable[[Path], bool],
        is_reviewed: bool = False,
    ) -> None:
        """With `is_reviewed`, what agents write to the memory waits until a person accepts it.

        `carry_out` does what agents decided, unless another process has the library open: then it is False.
        """
        self.root = root
        self.is_reviewed = is_reviewed
        self._actor = Actor(actor)
        self._open_reader = open_reader
        self._carry_out = carry_out
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
    def memory(self) -> Memory:
        """The memory, which other processes may write to as well; opened again if it was replaced."""
        with self._lock:
            if self._memory and not self._memory.database.is_in_place:
                self._memory.close()
                self._memory = None
            if self._memory is None:
                if self._actor.can_write:
                    self._memory = Memory.open(self.root, models=self._model, may_keep=False)
                else:
                    self._memory = Memory.open_for_reading(self.root, models=self._model)
            agent = self._agent() if self._actor.can_write else self._actor
            return self._memory.for_actor(agent)

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
        """The library, opened at the first call."""
        with self._lock:
            return self._open_reader(self.root)

    def decide(self, verb: Verb, **what: Any) -> dict[str, Any]:
        """Decide about coins as the agent that calls now; returns what was done and what was refused.

        `what` are fields of `AgentDecision`. The process that has the library open carries it out, else
        this one. Raises ReadOnly unless the agent may, NothingToUndo, LibraryInUse if that process does not
        begin within a minute.
        """
        agent = Agent(client.get() or "an agent", person=self._actor.name)
        agent.permit()
        library = self.library.for_actor(agent)
        if verb == "undo":
            last = library.to_undo(actor=agent.name)
            if last is None:
                raise NothingToUndo(f"{agent.name} has decided nothing that could be undone")
            what["undoes"] = last.id
        decision = AgentDecision(uuid4().hex, verb, program=agent.agent, person=self._actor.name, **what)
        try:
            decisions.leave(library.layout, decision)
        except OSError as error:
            raise NotWritten(f"nothing was decided: {refused(error, self.root)}") from error
        until = time.monotonic() + PATIENCE
        while (answer := library.answers.find(decision.id)) is None:
            is_late = not self._carry_out(self.root) and time.monotonic() > until
            if is_late and decisions.withdraw(library.layout, decision.id):
                raise LibraryInUse(
                    f"nothing was decided: {lock.holder(library.layout.lock)} has the library open and "
                    "takes no decisions of agents; end it, or start the dashboard with MEMEDEX_AGENTS set"
                )
            time.sleep(_BETWEEN)
        told: dict[str, Any] = json.loads(answer)
        if "error" in told:
            raise MemedexError(told["error"])
        return told

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
