"""Things that people keep under a name, for everybody: one row of the catalog for all of a kind."""

import json
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from store.catalog import Catalog, keeping
from store.errors import InvalidRecord

MAX_NAME = 60
T = TypeVar("T")


class Shelf(Generic[T]):
    """`library.filters`, `library.searches` and `library.presets`: all of one kind, by name."""

    READING = frozenset({"all"})

    def __init__(
        self,
        catalog: Catalog,
        key: str,
        *,
        noun: str,
        read: Callable[[Any], T] = lambda kept: kept,
        written: Callable[[T], Any] = lambda thing: thing,
        reserved: Iterable[str] = (),
    ) -> None:
        self._catalog = catalog
        self._key = key  # where the catalog's `meta` keeps them
        self._noun = noun
        self._read = read  # a thing from its JSON value
        self._written = written  # … and back; it may refuse what is wrong
        self._reserved = {name.casefold() for name in reserved}  # names that mean something already

    def all(self) -> dict[str, T]:
        """Everything kept, by name, in the order of names."""
        kept = json.loads(self._catalog.meta(self._key) or "{}")
        return {name: self._read(kept[name]) for name in sorted(kept, key=str.casefold)}

    def save(self, name: str, thing: T) -> None:
        """Keep it under a name, put on one line; the name's old one is replaced."""
        name, written = " ".join(name.split()), self._written(thing)
        if not name or len(name) > MAX_NAME:
            raise InvalidRecord(f"the name of a {self._noun} has 1 to {MAX_NAME} characters")
        if name.casefold() in self._reserved:
            raise InvalidRecord(f"every library has a {self._noun} {name}; choose another name")
        self._change(lambda kept: {**kept, name: written})

    def forget(self, name: str) -> None:
        """Let it go; nothing where there is none of this name."""
        self._change(lambda kept: {key: one for key, one in kept.items() if key != name})

    def _change(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        with keeping(f"the {self._noun}"), self._catalog.lock:
            kept = change(json.loads(self._catalog.meta(self._key) or "{}"))
            self._catalog.set_meta(self._key, json.dumps(kept, ensure_ascii=False))
