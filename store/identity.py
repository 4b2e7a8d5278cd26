"""Who the current user is, and who may change or see the library."""

import contextlib
import getpass
from collections.abc import Iterator, Mapping

from store.settings import settings

Claims = Mapping[str, object]  # what a login says of its person
_NOTHING: Claims = {}
_known = {"name": "somebody"}  # a container's user may have no name, as on many servers


def current_user() -> str:
    """The current user's name: the setting, else the login name of the operating system.

    If no file handle is free, this is the last known name.
    """
    if name := settings().user:
        return name
    with contextlib.suppress(KeyError, ImportError, OSError):
        _known["name"] = getpass.getuser()
    return _known["name"]


def may_change(actor: str, claims: Claims = _NOTHING) -> bool:
    """Whether this person may change the library; nobody may in a read-only one.

    With a list of curators only they may; without one everybody but the viewers. Case is ignored. An entry
    such as `groups=curators` names everybody whose login has this claim.
    """
    viewers, curators = _listed(settings().viewers), _listed(settings().curators)
    who = {*_entries(actor, claims)}
    if settings().read_only or who & viewers:
        return False
    return not curators or bool(who & curators)


def may_view(actor: str, claims: Claims = _NOTHING) -> bool:
    """Whether this person may see the library: everybody, unless both lists are set and neither has them."""
    viewers, curators = _listed(settings().viewers), _listed(settings().curators)
    who = {*_entries(actor, claims)}
    return not (viewers and curators) or bool(who & (viewers | curators | _listed(settings().administrators)))


def may_administer(actor: str, claims: Claims | None) -> bool:
    """Whether this person may see and end the sessions of others.

    With a login (`claims`), those on the list; without one, who runs the program.
    """
    if claims is None:
        return actor == current_user()
    return bool({*_entries(actor, claims)} & _listed(settings().administrators))


def _entries(actor: str, claims: Claims) -> Iterator[str]:
    """Every entry of a list that means this person."""
    yield actor.casefold()
    for name, value in claims.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, str | int):
                yield f"{name}={one}".casefold()


def _listed(names: str) -> set[str]:
    return {"=".join(map(str.strip, name.split("="))).casefold() for name in names.split(",") if name.strip()}
