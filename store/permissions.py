"""Who may change a library or a text memory, and who may only look.

    library = open_library(root)                   # for the person who runs this program
    page = library.for_actor(Actor("ann@x.org"))   # the same library as Ann may use it
    page.delete([address])                         # the history says: ann@x.org

Every change goes through `Actor.permit`. From a button to here, for a delete:

    Library.delete               store/library.py
    Transitions.move             store/writing/transitions.py
    Catalog.decide               store/catalog/catalog.py      who decides
    SqliteFile.check_writable    store/disk/sqlite.py          every transaction asks it again
    Actor.permit                 here; the lists of people are read in store/identity.py
"""

from collections.abc import Callable

from store.errors import LoginEnded, NotPermitted, ReadOnly
from store.identity import Claims, current_user, may_administer, may_change


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
        """Always true, because the lists are about people who use somebody else's server."""
        return True

    @property
    def can_administer(self) -> bool:
        """Always true, likewise."""
        return True


OPERATOR = Operator(via="Python")
