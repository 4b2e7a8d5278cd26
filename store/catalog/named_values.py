"""Values that people save under a name for everybody, and what was deleted, to be restored.

Named values of one kind are one row of the catalog. Deleted things other than records are kept with who
deleted them, when, and their content.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from store.catalog.catalog import Catalog, read_json, writing_errors
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


def record_deleted(db: sqlite3.Connection, what: str, name: str, value: Any, *, actor: str) -> None:
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


MAX_NAME = 60
T = TypeVar("T")


class NamedValues(Generic[T]):
    """Saved values of one kind by name: `library.filters`, `library.searches`, `library.presets`."""

    def __init__(
        self,
        catalog: Catalog,
        key: str,
        *,
        noun: str,
        read: Callable[[Any], T] = lambda value: value,
        written: Callable[[T], Any] = lambda thing: thing,
        reserved: Iterable[str] = (),
    ) -> None:
        self._catalog = catalog
        self._key = key  # where the catalog's `meta` keeps them
        self._noun = noun
        self._read = read  # a thing from its JSON value
        self._written = written  # … and back; it may refuse what is wrong
        self._reserved = {name.casefold() for name in reserved}  # names that mean something already

    @property
    def noun(self) -> str:
        """The name of one value."""
        return self._noun

    def all(self) -> dict[str, T]:
        """All values by name, in order of names."""
        with self._catalog.reading() as db:
            values = self._stored(db)
        return {name: self._read(values[name]) for name in sorted(values, key=str.casefold)}

    def save(self, name: str, thing: T) -> None:
        """Save a value under a name, replacing an earlier one. Raises InvalidRecord for an unusable name."""
        name, written = " ".join(name.split()), self._written(thing)
        if not name or len(name) > MAX_NAME:
            raise InvalidRecord(f"the name of a {self._noun} has 1 to {MAX_NAME} characters")
        if name.casefold() in self._reserved:
            raise InvalidRecord(f"every library has a {self._noun} {name}; choose another name")
        self._change(lambda values: {**values, name: written})

    def delete(self, name: str, *, actor: str = "") -> None:
        """Delete the value of this name, if there is one; `library.removed` can restore it."""
        with writing_errors(f"the {self._noun}"), self._catalog.writing() as db:
            values = self._stored(db)
            if name in values:
                person = actor or self._catalog.actor.name
                record_deleted(db, self._noun, name, values.pop(name), actor=person)
                self._store(db, values)

    def restore(self, db: sqlite3.Connection, name: str, thing: Any) -> None:
        """Restore a deleted value in the caller's transaction. Raises InvalidRecord if the name is taken."""
        values = self._stored(db)
        if name in values:
            raise InvalidRecord(f"a {self._noun} {name} exists; delete that one first")
        self._store(db, {**values, name: thing})

    def _change(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        with writing_errors(f"the {self._noun}"), self._catalog.writing() as db:
            self._store(db, change(self._stored(db)))

    def _stored(self, db: sqlite3.Connection) -> dict[str, Any]:
        row = db.execute("SELECT value FROM meta WHERE key = ?", [self._key]).fetchone()
        values: dict[str, Any] = read_json(row[0] if row else "{}", f"what is kept as {self._key}")
        return values

    def _store(self, db: sqlite3.Connection, values: dict[str, Any]) -> None:
        value = json.dumps(values, ensure_ascii=False)
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [self._key, value])
