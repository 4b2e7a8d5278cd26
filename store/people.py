"""Who decides, and who may only look."""

import getpass

from store.settings import settings


def myself() -> str:
    """Who decides when nobody says so: the setting, else the name of the login."""
    try:
        return settings().user or getpass.getuser()
    except (KeyError, ImportError, OSError):  # a container's user without a name, as on many servers
        return "somebody"


def may_change(who: str) -> bool:
    """Whether this person is a curator; nobody is one in a read-only library.

    With a list of curators it is they alone; else everybody but the viewers. Case does not count.
    """
    viewers, curators = _listed(settings().viewers), _listed(settings().curators)
    if settings().read_only or who.casefold() in viewers:
        return False
    return not curators or who.casefold() in curators


def _listed(names: str) -> set[str]:
    return {name.strip().casefold() for name in names.split(",") if name.strip()}
