"""Deleted things other than records, with who deleted them, when, and their content to restore them."""

import json
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from store.catalog.catalog import Catalog, writing_errors
from store.disk.sqlite import renamed
from store.errors import InvalidRecord

Restoration = Callable[[sqlite3.Connection, str, Any], None]  # given the name and the content; may refuse


@dataclass(frozen=True, slots=True)
class DeletedItem:
    """One deleted thing."""

    id: int
    removed_at: float  # UNIX seconds
    actor: str  # "": the program, to make room
    what: str  # "golden query", "search", "filter", "preset", "rule" or "job"
    name: str
    content: Any
    restored_at: float = 0.0  # UNIX seconds; 0 if it is deleted still
    restored_by: str = ""


def record(db: sqlite3.Connection, what: str, name: str, value: Any, *, actor: str) -> None:
    """Record a deletion within the caller's transaction."""
    db.execute(
        "INSERT INTO removed (at, who, what, name, kept) VALUES (?, ?, ?, ?, ?)",
        [time.time(), actor, what, name, json.dumps(value, ensure_ascii=False)],
    )


class DeletedItems:
    """`library.removed`: deleted searches, filters, weights, golden queries and jobs."""

    def __init__(
        self, catalog: Catalog, ways: Mapping[str, Restoration], *, changed: Callable[[str], None]
    ) -> None:
        self._catalog = catalog
        self._ways = ways  # how each sort is restored
        self._changed = changed  # called with the sort of what was restored

    def all(self, *, limit: int = 100) -> list[DeletedItem]:
        """Deleted things, newest first."""
        rows = self._catalog.rows("SELECT * FROM removed ORDER BY id DESC LIMIT ?", [limit])
        return [_removed(row) for row in rows]

    def can_restore(self, removed: DeletedItem) -> bool:
        """Whether it can be restored and was not restored already."""
        return removed.what in self._ways and not removed.restored_at

    def restore(self, number: int, *, actor: str = "") -> DeletedItem:
        """Restore one. Raises InvalidRecord if it cannot be restored, or if its name is taken."""
        with writing_errors("what was restored"), self._catalog.writing() as db:
            row = db.execute("SELECT * FROM removed WHERE id = ?", [number]).fetchone()
            removed = _removed(row) if row else None
            if removed is None or not self.can_restore(removed):
                raise InvalidRecord("it cannot be restored, or it is already")
            self._ways[removed.what](db, removed.name, removed.content)
            db.execute(
                "UPDATE removed SET put_back_at = ?, put_back_by = ? WHERE id = ?",
                [time.time(), actor or self._catalog.actor.name, number],
            )
        self._changed(removed.what)
        return removed


def _removed(row: sqlite3.Row) -> DeletedItem:
    fields = renamed(
        row,
        removed_at="at",
        actor="who",
        content="kept",
        restored_at="put_back_at",
        restored_by="put_back_by",
    )
    return DeletedItem(**{**fields, "content": json.loads(row["kept"])})
