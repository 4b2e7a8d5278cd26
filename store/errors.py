"""Everything that can go wrong, as one tree.

MemedexError
├── InvalidRecord (ValueError)
├── BadPicture (ValueError)
├── BadSource (ValueError)
│   └── TooMuch                     of an archive: store/importing/trees.py
├── BadBackup (ValueError)
├── WrongSetting (ValueError)
├── UnknownRecord (LookupError)
├── UnknownPrompt (LookupError)
├── UnknownJob (LookupError)
├── UnknownSession (LookupError)
├── NothingToUndo
├── Superseded
├── LibraryInUse
├── ReadOnly
├── NotPermitted
│   └── LoginEnded
├── NotWritten
│   └── MaybeWritten
├── LibraryStuck
├── CatalogDamaged
├── CatalogTooNew
├── ForeignFile
├── ModelUnavailable
├── ServerUnavailable
├── TryLater                        of a download: store/fetching/download.py
├── NotInMemory
├── CaptioningFailed
│   ├── ProviderBusy
│   └── ProviderRefuses
├── BudgetSpent
└── InvalidInput, UnknownEntry   of the text memory: store/memory/engine/inputs.py

ChromaBehind (UserWarning)          a warning, since nothing is lost

Every message says what happened, to what, and what to do about it.
"""

from typing import Any


class MemedexError(Exception):
    """The root of all errors that this program raises on purpose."""


class InvalidRecord(MemedexError, ValueError):
    """What was given is not a record, a caption, a tag or a query."""


class BadPicture(MemedexError, ValueError):
    """What was given is not a picture that can be used."""


class BadSource(MemedexError, ValueError):
    """A file, folder or archive to import that cannot be read."""


class BadBackup(MemedexError, ValueError):
    """A backup that is damaged, or a place where none can be made."""


class WrongSetting(MemedexError, ValueError):
    """An environment variable has a value that means nothing."""


class UnknownRecord(MemedexError, LookupError):
    """No record has this address."""


class UnknownPrompt(MemedexError, LookupError):
    """No prompt has this name or version, or its file cannot be read."""


class UnknownJob(MemedexError, LookupError):
    """No job has this number."""


class UnknownSession(MemedexError, LookupError):
    """No login to the dashboard has this id, or several have."""


class NothingToUndo(MemedexError):
    """This person has no decision that can be undone, or none that can be redone."""


class Superseded(MemedexError):
    """A decision was undone while the rest of it was still under way."""


class LibraryInUse(MemedexError):
    """Another process writes to this library."""


class ReadOnly(MemedexError):
    """This library was opened for reading."""


class NotPermitted(MemedexError):
    """The current user may not name this path, or is no administrator."""


class LoginEnded(NotPermitted):
    """The login of this actor ran out, was ended, or lost its permission."""


class NotWritten(MemedexError):
    """The disk refused before anything was decided: nothing happened."""


class MaybeWritten(NotWritten):
    """The disk failed at the last moment: only the next opening shows whether it was decided."""


class LibraryStuck(MemedexError):
    """A decided operation cannot be finished yet (disk full, no permission)."""


class CatalogDamaged(MemedexError):
    """The catalog cannot be read."""


class CatalogTooNew(MemedexError):
    """The catalog was written by a newer Memedex."""


class ForeignFile(MemedexError):
    """A file that Memedex did not make lies where one of its own belongs."""


class ModelUnavailable(MemedexError):
    """A model is not installed, not configured or cannot do this."""


class ServerUnavailable(MemedexError):
    """A Chroma server that a search needs does not answer, refuses, or lacks our collections."""


class NotInMemory(MemedexError):
    """This needs the vectors of the whole library in memory, where the settings keep none."""


class CaptioningFailed(MemedexError):
    """The language model gave no usable answer."""

    usage: Any = None  # what the attempt has cost all the same


class ProviderBusy(CaptioningFailed):
    """The provider asks to slow down, fails or is away; later may be better."""

    retry_after: float | None = None  # seconds, where the provider says so
    short_reason: str = ""  # the same in few words, of no one picture and without advice
    may_change: bool = True  # the same question may be answered later


class ProviderRefuses(CaptioningFailed):
    """Key, model name or address are wrong: no picture will do better."""


class BudgetSpent(MemedexError):
    """Drafting has cost what it was allowed to."""


class ChromaBehind(UserWarning):
    """A library or memory was closed before Chroma had everything; it catches up at the next opening."""
