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
