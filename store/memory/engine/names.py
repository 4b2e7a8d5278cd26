"""Names of worlds, sessions and protocols that do not exist, answered with the nearest that do."""

from collections.abc import Collection
from difflib import SequenceMatcher

from store.memory.engine.errors import UnknownEntry

_MOST = 3
_LISTED = 20
_ALIKE = 0.5  # of SequenceMatcher's ratio; below it names have no more in common than any two


def nearest(name: str, known: Collection[str]) -> list[str]:
    """At most three known names that are spelled like this one, the most similar first."""
    given = name.casefold()
    ratios = {one: SequenceMatcher(None, given, one.casefold()).ratio() for one in known}
    alike = [one for one in known if ratios[one] >= _ALIKE or (given and given in one.casefold())]
    return sorted(alike, key=lambda one: (-ratios[one], one))[:_MOST]


def check_known(name: str, known: Collection[str], *, what: str) -> None:
    """Raises UnknownEntry, with the nearest names, if this name is not a known one."""
    if name not in known:
        raise UnknownEntry(f"there is no {what} {name!r}{offered(name, known)}")


def offered(name: str, known: Collection[str]) -> str:
    """The end of a sentence that offers the nearest names, or all if there are few or none is given."""
    if found := nearest(name, known):
        return f"; the nearest: {_quoted(found)}"
    if name.strip() and len(known) > _MOST:
        return f"; there are {len(known):,}, none of them spelled like it"
    more = f" and {len(known) - _LISTED:,} more" if len(known) > _LISTED else ""
    listed = _quoted(sorted(known)[:_LISTED])
    return f"; there {'are' if len(known) > 1 else 'is'} {listed or 'none yet'}{more}"


def _quoted(names: Collection[str]) -> str:
    return ", ".join(repr(one) for one in names)
