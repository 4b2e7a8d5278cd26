"""Who the current user is."""

import contextlib
import getpass

from store.settings import settings

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
