"""How often each world, session or protocol was asked; nothing of the questions is stored."""

import contextlib
from collections.abc import Callable
from copy import copy
from typing import Self

from store.errors import NotWritten
from store.memory.engine.database import Database
from store.permissions import Actor


class Questions:
    """Counts queries of each scope, those of viewers included; only in the writing process."""

    def __init__(self, database: Database, kind: str, clock: Callable[[], float], *, writable: bool) -> None:
        self._kind = kind
        self._database = database
        self._clock = clock
        self._writable = writable
        self._actor = database.actor

    def for_actor(self, actor: Actor) -> Self:
        """The same counts; viewers' questions count too."""
        used = copy(self)
        used._actor = actor
        return used

    def record(self, scope: str) -> None:
        """Count one question; a full disk must not prevent an answer."""
        self._actor.check_login()
        if self._writable:
            with contextlib.suppress(NotWritten), self._database.recording() as db:
                db.execute(
                    "INSERT INTO queried VALUES (?, ?, 1, ?) "
                    "ON CONFLICT (kind, scope) DO UPDATE SET times = times + 1, last = excluded.last",
                    [self._kind, scope, self._clock()],
                )

    def all(self) -> dict[str, tuple[int, float]]:
        """How often each scope was asked, and when last (UNIX seconds)."""
        self._actor.check_login()
        with self._database.reading() as db:
            found = db.execute("SELECT * FROM queried WHERE kind = ?", [self._kind])
            return {row["scope"]: (row["times"], row["last"]) for row in found}
