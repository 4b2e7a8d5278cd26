"""Errors of the text memory: two leaves of the tree in `store/errors.py`.

MemedexError
├── InvalidInput (ValueError)   a text, a tag, a limit or a filter that is not valid
└── UnknownEntry (LookupError)  no entry has this id
"""

from store.errors import MemedexError


class InvalidInput(MemedexError, ValueError):
    """A value that cannot be accepted; the message names it and what is allowed."""


class UnknownEntry(MemedexError, LookupError):
    """There is no such entry."""


def changed_meanwhile(what: str) -> InvalidInput:
    """That a text was made from another state of an entry than it has by now."""
    return InvalidInput(
        f"{what} was changed in the meantime; copy what you typed, then reload the page to see its text"
    )
