"""The number of the HTTP request that is being answered, as its response and the log name it."""

import secrets
from contextvars import ContextVar

_current: ContextVar[str] = ContextVar("memedex_request_id", default="")


def begin() -> str:
    """Give the request of this task a new number; a client cannot choose it."""
    number = secrets.token_hex(6)
    _current.set(number)
    return number


def current() -> str:
    """The number of the current request; "" outside of one, as in the run of a page."""
    return _current.get()
