"""All systems that are recognised, in the order in which they are asked."""

from pathlib import Path

from store.adopting import reference_1
from store.adopting.survey import DataSurvey
from store.adopting.system import LibrarySystem, MemorySystem
from store.errors import BadSource

LIBRARY_SYSTEMS: tuple[LibrarySystem, ...] = (reference_1.ThreeTierLibrary(),)
MEMORY_SYSTEMS: tuple[MemorySystem, ...] = ()


def recognise(path: Path, *, system: str = "") -> list[DataSurvey]:
    """A survey by each system that finds its own data at this path, or by the named one alone.

    Raises BadSource if there is no such path, or no system of that name.
    """
    if not path.exists():
        raise BadSource(f"there is nothing at {path}")
    asked = [one for one in (*LIBRARY_SYSTEMS, *MEMORY_SYSTEMS) if system in ("", one.name)]
    if not asked:
        raise BadSource(f"no system is called {system!r}; known are {', '.join(names())}")
    return [survey for one in asked if (survey := one.recognise(path))]


def names() -> list[str]:
    """The names of all systems."""
    return [one.name for one in (*LIBRARY_SYSTEMS, *MEMORY_SYSTEMS)]


def library_system(name: str) -> LibrarySystem | None:
    """The system of this name, if its data goes into the library."""
    return next((one for one in LIBRARY_SYSTEMS if one.name == name), None)


def memory_system(name: str) -> MemorySystem | None:
    """The system of this name, if its data goes into the text memory."""
    return next((one for one in MEMORY_SYSTEMS if one.name == name), None)
