"""How often each world, session or protocol was asked; nothing of the questions is kept."""

import contextlib
from collections.abc import Callable

from store.errors import NotWritten
from store.memory.database import Database


class Questions:
    """`passages.questions`: counted for viewers as well, and not at all beside the process that writes."""

    READING = frozenset({"note", "all"})

    def __init__(self, database: Database, clock: Callable[[], float], *, writable: bool) -> None:
        self._database = database
        self._clock = clock
        self._writable = writable

    def note(self, scope: str) -> None:
        """Count one more; a full disk is no reason to leave somebody without an answer."""
        if self._writable:
            with contextlib.suppress(NotWritten), self._database.noting() as db:
                db.execute(
                    "INSERT INTO queried VALUES (?, 1, ?) "
                    "ON CONFLICT (scope) DO UPDATE SET times = times + 1, last = excluded.last",
                    [scope, self._clock()],
                )

    def all(self) -> dict[str, tuple[int, float]]:
        """How often each scope was asked, and when last (UNIX seconds)."""
        with self._database.reading() as db:
            return {row["scope"]: (row["times"], row["last"]) for row in db.execute("SELECT * FROM queried")}
