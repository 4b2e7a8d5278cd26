"""A coin by what an agent calls it."""

from store.catalog.filters import Filter
from store.errors import UnknownRecord
from store.mcp.limits import MOST
from store.memory.engine.names import nearest, offered
from store.reading.reader import Reader
from store.records import Record

_OFFERED = 5  # coins of the same name that an answer names
_COMPARED = 5_000  # newest coins whose names are compared with one that does not exist


def coin_named(library: Reader, name: str) -> Record:
    """The coin with this address, name or ticker. Raises UnknownRecord with the nearest, or the several."""
    found = library.exact_matches([name], Filter(), limit=MOST)
    if len(found) == 1:
        return found[0]
    if found:
        which = ", ".join(f"{one.name} ({one.address})" for one in found[:_OFFERED])
        raise UnknownRecord(f"{len(found):,} coins are called {name!r}; name one by its address: {which}")
    names = {one.name: one.address for one in library.find(Filter(), limit=_COMPARED)}
    near = "".join(f"; {one!r} is {names[one]}" for one in nearest(name, names))
    raise UnknownRecord(f"there is no coin {name!r}{offered(name, names)}{near}")
