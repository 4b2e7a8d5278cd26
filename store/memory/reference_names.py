"""The names of the references, for programs that were written for them (docs/python.md).

    from store import RagManager, search_memory, store_memory

Each works on the text memory of one root: the one that `RagManager` is given, else `database_path` of a
`config.yaml` in the working directory, else that of the settings.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import signature
from itertools import chain, islice
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from store.disk.files import read_regular
from store.errors import BadSource
from store.memory.engine.database import Places
from store.memory.engine.entries import Entries
from store.memory.engine.inputs import UnknownEntry
from store.memory.exporting import batches, metadata_of
from store.memory.memories import FoundMemories, Stored
from store.memory.memory import Memory
from store.memory.story.lore import MAX_CHARS as LORE_CHARS
from store.memory.story.sessions import MAX_CHARS as MEMORY_CHARS
from store.memory.story.sessions import N_RESULTS
from store.settings import settings

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
_CONFIG = "config.yaml"
_LONGEST = 1_000_000  # bytes of it


class Peeked(TypedDict):
    """Entries as a collection of Chroma answers with them, in the order in which they were written."""

    ids: list[str]
    documents: list[str]
    metadatas: list[dict[str, Any]]
    embeddings: list[NDArray[np.float32] | None]  # None: not embedded yet


class Collection:
    """What a collection of the references tells of itself, from the database: our Chroma has no texts."""

    def __init__(self, entries: Entries) -> None:
        self.name = entries.kind.name
        self._entries = entries

    def count(self) -> int:
        """How many entries there are."""
        return self._entries.count()

    def peek(self, limit: int = 10) -> Peeked:
        """The first entries that were written, with texts, metadata and vectors."""
        text, found = self._entries.kind.text, chain.from_iterable(batches(self._entries))
        first = [*islice(found, limit)]
        return {
            "ids": [one.row["id"] for one in first],
            "documents": [one.row[text] for one in first],
            "metadatas": [metadata_of(self._entries.kind, one) for one in first],
            "embeddings": [None if one.vector is None else np.frombuffer(one.vector, "<f4") for one in first],
        }


class RagManager:
    """World lore and session memory as story engines have them."""

    def __init__(self, db_path: str | Path | None = None) -> None:
        """`db_path` is the root of the memory, created if there is none. Raises BadSource."""
        self.root = (_configured_root() if db_path is None else Path(db_path)).resolve()
        is_new = not Places(self.root).folder.is_dir()
        if is_new and (self.root / "chroma.sqlite3").is_file():
            log.warning("%s: `python -m store adopt` takes over the texts of the Chroma in it", self.root)
        Memory.open(self.root)

    @property
    def _memory(self) -> Memory:
        """The memory, opened again if somebody closed it."""
        return Memory.open(self.root)

    @property
    def collection(self) -> Collection:
        """The collection of lore."""
        return Collection(self._memory.lore.entries)

    @property
    def memory_collection(self) -> Collection:
        """The collection of session memory."""
        return Collection(self._memory.session_memory.entries)

    def add_lore(
        self, world_id: str, lore_id: str, text: str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Store a text of a world, replacing the one with the same `lore_id`. Raises InvalidInput."""
        self._memory.lore.add_lore(world_id, lore_id, text, metadata)

    def query_lore(
        self, world_id: str, query: str, n_results: int = N_RESULTS, max_chars: int = LORE_CHARS
    ) -> tuple[list[str], bool]:
        """The world's nearest texts, and whether they exceed `max_chars`; ([], False) on failure."""
        return self._memory.lore.query_lore(world_id, query, n_results, max_chars)

    def add_memory(self, session_id: str, memory_id: str, text: str) -> None:
        """Store an exchange, replacing the session's with the same `memory_id`. Raises InvalidInput."""
        self._memory.session_memory.add_memory(session_id, memory_id, text)

    def query_memory(
        self, session_id: str, query: str, n_results: int = N_RESULTS, max_chars: int = MEMORY_CHARS
    ) -> tuple[list[str], bool]:
        """The session's nearest exchanges, and whether they exceed `max_chars`; ([], False) on failure."""
        return self._memory.session_memory.query_memory(session_id, query, n_results, max_chars)

    def delete_session_memory(self, session_id: str) -> None:
        """Delete a session's memory for good, if there is any. Raises NotWritten if that fails."""
        try:
            self._memory.session_memory.delete_session_memory(session_id)
        except UnknownEntry as error:
            log.info("nothing was deleted: %s", error)


def MemoryVerbs(memory: Memory) -> Memory:  # noqa: N802
    """The memory itself, which has all verbs; for scripts that were written for version 1.4."""
    return memory


def store_memory(content: str, tags: Sequence[str] | None = None) -> Stored:
    """Store a memory with at most 10 tags. Raises InvalidInput, which is a ValueError."""
    return Memory.open(_configured_root()).memories.store_memory(content, tags)


def search_memory(query: str, limit: int = 5) -> FoundMemories:
    """The memories that are relevant to at least 30 percent. Raises InvalidInput, which is a ValueError."""
    return Memory.open(_configured_root()).memories.search_memory(query, limit)


def _of_configured_root(method: Callable[Concatenate[RagManager, P], T]) -> Callable[P, T]:
    """A method of `RagManager()` as a function."""

    @wraps(method)
    def call(*given: P.args, **named: P.kwargs) -> T:
        return method(RagManager(), *given, **named)

    own = signature(method)
    call.__signature__ = own.replace(parameters=[*own.parameters.values()][1:])  # type: ignore[attr-defined]
    return call


add_lore = _of_configured_root(RagManager.add_lore)
query_lore = _of_configured_root(RagManager.query_lore)
add_memory = _of_configured_root(RagManager.add_memory)
query_memory = _of_configured_root(RagManager.query_memory)
delete_session_memory = _of_configured_root(RagManager.delete_session_memory)


def _configured_root() -> Path:
    """The root that `config.yaml` of the working directory names, else that of the settings."""
    import yaml

    try:
        fields = yaml.safe_load(read_regular(Path(_CONFIG), limit=_LONGEST))
    except FileNotFoundError:
        fields = None
    except (OSError, yaml.YAMLError) as error:
        raise BadSource(f"{Path(_CONFIG).resolve()} cannot be read: {error}") from error
    named = fields.get("database_path") if isinstance(fields, Mapping) else None
    return Path(str(named)) if named else settings().root
