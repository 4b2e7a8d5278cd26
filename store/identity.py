"""Who the current user is, and who may change or see the library."""

import getpass

from store.settings import settings


def current_user() -> str:
    """The current user's name: the setting, else the login name of the operating system."""
    try:
        return settings().user or getpass.getuser()
    except (KeyError, ImportError, OSError):  # a container's user without a name, as on many servers
        return "somebody"


def may_change(actor: str) -> bool:
    """Whether this person may change the library; nobody may in a read-only one.

    With a list of curators only they may; without one everybody but the viewers. Case is ignored.
    """
    viewers, curators = _listed(settings().viewers), _listed(settings().curators)
    if settings().read_only or actor.casefold() in viewers:
        return False
    return not curators or actor.casefold() in curators


def may_view(actor: str) -> bool:
    """Whether this person may see the library: everybody, unless both lists are set and neither has them."""
    viewers, curators = _listed(settings().viewers), _listed(settings().curators)
    return not (viewers and curators) or actor.casefold() in viewers | curators


def _listed(names: str) -> set[str]:
    return {name.strip().casefold() for name in names.split(",") if name.strip()}
