"""Contexts as they were handed out, as ids and versions: one JSON object a line, if the setting asks for it.

    {"id": "9f…", "at": 1769853600.25, "kind": "world_lore", "scope": "peaks", "actor": "mira",
     "agent": "claude", "via": "MCP", "question": "…", "n": 3, "where": {…}, "threshold": null,
     "hits": [{"id": "peaks_forge", "version": 12, "score": 0.61}]}

What is deleted for good takes every context with it in which it was, and those of other kinds with the same
question.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from store.memory.engine.retrieval_log import RetrievalLog
from store.permissions import Actor

log = logging.getLogger(__name__)

_DAY = 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class KeptEntry:
    """One entry of a context, in the version that was handed out."""

    id: str
    version: int
    score: float


@dataclass(frozen=True, slots=True)
class KeptContext:
    """What was handed out for one question from one kind of memory."""

    id: str
    created_at: float  # UNIX seconds
    kind: str
    scope: str
    actor: str
    agent: str
    via: str
    question: str
    n: int
    where: dict[str, Any]
    threshold: float | None  # percent
    hits: tuple[KeptEntry, ...]


class KeptContexts(RetrievalLog):
    """The kept contexts of one kind; off for 0 days."""

    def __init__(self, path: Path, *, kind: str, days: int) -> None:
        super().__init__(path, kind=kind, detail="")
        self._days = days

    @property
    def is_on(self) -> bool:
        """Whether contexts are kept."""
        return self._days > 0

    def keep(
        self,
        question: str,
        hits: Sequence[KeptEntry],
        *,
        scope: str,
        n: int,
        where: Mapping[str, Any],
        threshold: float | None,
        actor: Actor,
        at: float,
    ) -> None:
        """Append one context; a full disk must not prevent an answer."""
        line = {
            "id": uuid4().hex, "at": at, "kind": self._kind, "scope": scope, "actor": actor.name,
            "agent": actor.agent, "via": actor.via, "question": question, "n": n, "where": dict(where),
            "threshold": threshold, "hits": [asdict(hit) for hit in hits],
        }  # fmt: skip
        try:
            with self._lock:
                self._drop_before(at - self._days * _DAY)
                with self.path.open("ab") as file:
                    file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        except OSError as error:
            log.warning("a context could not be kept: %s", error)

    def _drop_before(self, first: float) -> None:
        """Drop contexts that are older than the setting allows; the oldest are at the beginning."""
        if self.path.exists():
            with self.path.open("rb") as file:
                oldest = _line(file.readline())
            if oldest is None or oldest["at"] < first:
                self._rewrite(lambda line: (found := _line(line)) is not None and found["at"] >= first)


def kept_contexts(path: Path) -> list[KeptContext]:
    """The kept contexts of all kinds, newest first; damaged lines are left out."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    found = [line for line in map(_line, lines) if line is not None]
    return [
        KeptContext(
            one["id"], one["at"], one["kind"], one["scope"], one["actor"], one["agent"], one["via"],
            one["question"], one["n"], one["where"], one["threshold"],
            tuple(KeptEntry(**hit) for hit in one["hits"]),
        )
        for one in reversed(found)
    ]  # fmt: skip


def _line(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("at"), int | float) else None
