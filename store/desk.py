"""A library as one person works with it: every verb says who, and a viewer's verbs are refused."""

from collections.abc import Callable
from functools import lru_cache, partial
from inspect import signature
from typing import Any, NoReturn

from store.catalog import Catalog
from store.errors import ReadOnly
from store.library import Library
from store.people import may_change
from store.reading import Reader


class Desk:
    """Stands wherever a Library does; one for each person, over the one library of the process."""

    def __init__(self, library: Reader, *, who: str) -> None:
        self._library = library
        self.who = who
        self.can_write = library.can_write and may_change(who)

    def __getattr__(self, name: str) -> Any:
        # Whatever a Reader has is reading; all else of a Library changes it, also verbs still to come.
        if not self.can_write and name not in _READING and hasattr(Library, name):
            return partial(_refuse, self.who)
        value = getattr(self._library, name)
        if name == "catalog" and not self.can_write:
            return _Readable(value, self.who)
        if name in _naming_who():
            return partial(value, who=self.who)
        return value


class _Readable:
    """The catalog in the hands of somebody who may not write to it."""

    def __init__(self, catalog: Catalog, who: str) -> None:
        self._catalog = catalog
        self._who = who

    def __getattr__(self, name: str) -> Any:
        if name in ("writing", "set_meta"):
            return partial(_refuse, self._who)
        return getattr(self._catalog, name)


_READING = frozenset(dir(Reader))


@lru_cache(maxsize=1)
def _naming_who() -> frozenset[str]:
    """The verbs that take who decides."""
    verbs: dict[str, Callable[..., Any]] = {
        name: verb for name, verb in vars(Library).items() if callable(verb) and not name.startswith("_")
    }
    return frozenset(name for name, verb in verbs.items() if "who" in signature(verb).parameters)


def _refuse(who: str, *_: object, **__: object) -> NoReturn:
    raise ReadOnly(f"{who or 'you'} may look at this library, not change it")
