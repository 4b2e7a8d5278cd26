"""Everything that can go wrong, as one tree.

MemedexError
├── InvalidRecord (ValueError)   what was given is not a record, a caption, a tag or a query
├── BadPicture (ValueError)      what was given is not a picture that can be used
├── BadSource (ValueError)       a file, folder or archive to import that cannot be read
├── BadBackup (ValueError)       a backup that is damaged, or a place where none can be made
├── UnknownRecord (LookupError)  no record has this address
├── UnknownPrompt (LookupError)  no prompt has this name or version, or its file cannot be read
├── UnknownJob (LookupError)     no piece of long work has this number
├── NothingToUndo
├── Superseded                   a decision was undone while the rest of it was still under way
├── LibraryInUse                 another process writes to this library
├── ReadOnly                     this library was opened for reading
├── NotPermitted                 the current user may not name this path
│   └── LoginEnded               their login ran out, was ended, or lost its permission
├── NotWritten                   the disk refused before anything was decided: nothing happened
├── LibraryStuck                 a decided operation cannot be finished yet (disk full, no permission)
├── CatalogDamaged               the catalog cannot be read
├── CatalogTooNew                the catalog was written by a newer Memedex
├── ForeignFile                  a file that Memedex did not make lies where one of its own belongs
├── ModelUnavailable             a model is not installed, not configured or cannot do this
├── CaptioningFailed             the language model gave no usable answer
│   ├── ProviderBusy             it asks to slow down, fails or is away; later may be better
│   └── ProviderRefuses          key, model name or address are wrong: no picture will do better
├── BudgetSpent                  drafting has cost what it was allowed to
└── InvalidInput, UnknownEntry   of the text memory: store/memory/engine/errors.py

Every message says what happened, to what, and what to do about it.
"""

from typing import Any


class MemedexError(Exception):
    """The root of all errors that this program raises on purpose."""


class InvalidRecord(MemedexError, ValueError):
    pass


class BadPicture(MemedexError, ValueError):
    pass


class BadSource(MemedexError, ValueError):
    pass


class BadBackup(MemedexError, ValueError):
    pass


class UnknownRecord(MemedexError, LookupError):
    pass


class UnknownPrompt(MemedexError, LookupError):
    pass


class UnknownJob(MemedexError, LookupError):
    pass


class NothingToUndo(MemedexError):
    pass


class Superseded(MemedexError):
    pass


class LibraryInUse(MemedexError):
    pass


class ReadOnly(MemedexError):
    pass


class NotPermitted(MemedexError):
    pass


class LoginEnded(NotPermitted):
    pass


class NotWritten(MemedexError):
    pass


class LibraryStuck(MemedexError):
    pass


class CatalogDamaged(MemedexError):
    pass


class CatalogTooNew(MemedexError):
    pass


class ForeignFile(MemedexError):
    pass


class ModelUnavailable(MemedexError):
    pass


class CaptioningFailed(MemedexError):
    usage: Any = None  # what the attempt has cost all the same


class ProviderBusy(CaptioningFailed):
    retry_after: float | None = None  # seconds, where the provider says so
    why: str = ""  # the same in few words, of no one picture and without advice


class ProviderRefuses(CaptioningFailed):
    pass


class BudgetSpent(MemedexError):
    pass
