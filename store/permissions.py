"""Who may change a library or a text memory, and who may only look.

    library = open_library(root)                   # for the person who runs this program
    page = library.for_actor(Actor("ann@x.org"))   # the same library as Ann may use it
    page.delete([address])                         # the history says: ann@x.org

Every change goes through `Actor.permit`. From a button to here, for a delete:

    Library.delete               store/library.py
    Transitions.move             store/writing/transitions.py
    Catalog.decide               store/catalog/catalog.py      who decides
    SqliteFile.check_writable    store/disk/sqlite.py          every transaction asks it again
    Actor.permit                 here, as `may_change` says
"""

import contextlib
import getpass
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from typing import Self

from store.errors import LoginEnded, NotPermitted, ReadOnly
from store.settings import settings

AGENTS = "* for *"  # the names of programs in the history, as a pattern of GLOB
Claims = Mapping[str, object]  # what a login says of its person
_NOTHING: Claims = {}
_known = {"name": "somebody"}  # a container's user may have no name, as on many servers


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
    """Whether this person may see and end others' sessions: with `claims` those on the list."""
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


class Actor:
    """One person, as long as their login is valid."""

    def __init__(
        self,
        name: str,
        *,
        is_logged_in: Callable[[], bool] = lambda: True,
        claims: Claims | None = None,
        via: str = "",
        agent: str = "",
        is_reviewed: bool = False,
    ) -> None:
        """`is_logged_in` is called each time, because pages may outlive the login.

        `claims` are those of the login; None without one. `via` says through what this person works, `agent`
        which program writes in the person's place; with `is_reviewed` what it writes waits for a person.
        """
        self.via = via
        self.agent = agent
        self.moment: float | None = None
        self.is_reviewed = is_reviewed
        self._name = name
        self._is_logged_in = is_logged_in
        self._claims = claims

    @property
    def name(self) -> str:
        """The person's name in the history."""
        return self._name

    @property
    def can_write(self) -> bool:
        """Whether the lists of people allow this person to change anything."""
        return may_change(self.name, self._claims or {})

    @property
    def can_administer(self) -> bool:
        """Whether this person may see and end the sessions of others."""
        return may_administer(self.name, self._claims)

    def check_login(self) -> None:
        """Raises LoginEnded unless the person is logged in."""
        if not self._is_logged_in():
            raise LoginEnded(f"the login of {self.name} has ended; load the page again and log in")

    def admitted(self) -> Self:
        """This person, whose login is asked for the last time. Raises LoginEnded."""
        self.check_login()
        admitted = copy(self)
        admitted._is_logged_in = lambda: True
        return admitted

    def as_of(self, moment: float) -> Self:
        """This person, for decisions recorded earlier: made at this moment (UNIX seconds)."""
        earlier = copy(self)
        earlier.moment = moment
        return earlier

    def permit(self) -> None:
        """Raises LoginEnded, or ReadOnly for a viewer."""
        self.check_login()
        if not self.can_write:
            raise ReadOnly(f"{self.name or 'you'} may look at this library, not change it")

    def permit_administration(self) -> None:
        """Raises LoginEnded if the login ended, NotPermitted unless the person is an administrator."""
        self.check_login()
        if not self.can_administer:
            raise NotPermitted(f"{self.name or 'you'} may not administer the sessions of this dashboard")


class Agent(Actor):
    """A program that decides about coins for a person, if MEMEDEX_AGENTS names it and the person may.

    On the lists of people it is `agent=` with its name, as claims of logins are.
    """

    def __init__(self, program: str, *, person: str) -> None:
        super().__init__(AGENTS.replace("*", "{}").format(program, person), via="MCP", agent=program)
        self._person = person

    @property
    def can_write(self) -> bool:
        """Whether the settings let this program decide, and this person."""
        is_named = bool({"*", self.agent.casefold()} & _listed(settings().agents))
        return is_named and may_change(self._person, {"agent": self.agent})

    def permit(self) -> None:
        """Raises ReadOnly, with the remedy, unless this program may decide."""
        if not self.can_write:
            raise ReadOnly(
                f"{self.name} may look at coins, not decide about them: MEMEDEX_AGENTS names who may"
            )


class Operator(Actor):
    """The person who runs this program: command line, scripts, background work."""

    def __init__(self, *, via: str = "") -> None:
        super().__init__("", via=via)

    @property
    def name(self) -> str:
        """The setting, else the login name of the operating system; looked up each time."""
        return current_user()

    @property
    def can_write(self) -> bool:
        """Always true, because the lists are about people who use another person's server."""
        return True

    @property
    def can_administer(self) -> bool:
        """Always true, likewise."""
        return True


OPERATOR = Operator(via="Python")


def current_user() -> str:
    """The current user's name: the setting, else the last known login name of the system."""
    if name := settings().user:
        return name
    with contextlib.suppress(KeyError, ImportError, OSError):
        _known["name"] = getpass.getuser()
    return _known["name"]
