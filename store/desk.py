"""A library, or the text memory, as one person works with it: every verb says who, a viewer's are refused.

    library = Desk(Library.open(root), who="ann@x.org")
    memory = Desk(Memory.open(root), who="ann@x.org")
    memory.lore.add_lore("peaks", "forge", "The dwarves forged the mountains.")  # the history says: ann@x.org

What a desk stands on says in `READING` which of its names change nothing; every other verb does, also one
still to come, and is refused to a viewer. Its parts (`memory.lore`, `memory.passages["memories"]`) are desks
again.
"""

from functools import partial
from inspect import signature
from typing import Any, NoReturn

from store.catalog import Catalog
from store.errors import ReadOnly
from store.library import Library
from store.memory.database import Database
from store.people import may_change
from store.reading import Reader


class Desk:
    """Stands wherever a Library or a Memory does; one for each person, over the one of the process."""

    def __init__(self, what: Any, *, who: str, part_of: "Desk | None" = None) -> None:
        self._what = what
        self.who = who
        self.can_write: bool = part_of.can_write if part_of else what.can_write and may_change(who)

    def __getattr__(self, name: str) -> Any:
        kind = _verbs_of(self._what)
        verb = getattr(kind, name, None)
        if not self.can_write and callable(verb) and name not in kind.READING:
            return partial(_refuse, self.who)
        value = getattr(self._what, name)
        if callable(verb):
            return partial(value, who=self.who) if "who" in signature(verb).parameters else value
        if isinstance(value, dict):
            return {key: self._at_this_desk(part) for key, part in value.items()}
        return self._at_this_desk(value)

    def _at_this_desk(self, value: Any) -> Any:
        if hasattr(value, "READING"):
            return Desk(value, who=self.who, part_of=self)
        if isinstance(value, Catalog | Database) and not self.can_write:
            return _Readable(value, self.who)
        return value


class _Readable:
    """A file in the hands of somebody who may not write to it."""

    def __init__(self, file: Catalog | Database, who: str) -> None:
        self._file = file
        self._who = who

    def __getattr__(self, name: str) -> Any:
        if name in ("writing", "noting", "set_meta", "rewrite"):
            return partial(_refuse, self._who)
        return getattr(self._file, name)


def _verbs_of(what: Any) -> Any:
    """Where its verbs stand; a library opened for reading refuses a library's in the same words."""
    return Library if isinstance(what, Reader) else type(what)


def _refuse(who: str, *_: object, **__: object) -> NoReturn:
    raise ReadOnly(f"{who or 'you'} may look at this library, not change it")
