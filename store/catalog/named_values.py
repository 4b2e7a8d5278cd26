"""Values that people save under a name for everybody: all of one kind in one row of the catalog."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from store.catalog import deleted_items
from store.catalog.catalog import Catalog, read_json, writing_errors
from store.errors import InvalidRecord

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
                deleted_items.record(db, self._noun, name, values.pop(name), actor=person)
                self._store(db, values)

    def restore(self, db: sqlite3.Connection, name: str, thing: Any) -> None:
        """Restore a deleted value within the caller's transaction.

        Raises InvalidRecord if the name is taken.
        """
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
