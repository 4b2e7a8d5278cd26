"""The results of reading an import: coins to add, and refusals."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.errors import BadSource
from store.outcome import Refusal
from store.records import Tier

_LONGEST = 200


class SideFile(BadSource):
    """A file among those of coins that says nothing of one coin."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A coin that was found: `item` is its name for people, the picture a checked file or bytes.

    `tier` is where it comes in: pending, unless it was further in the library that it is from.
    """

    item: str
    sidecar: dict[str, Any]
    picture: Path | bytes
    tier: Tier = "pending"
    picture_name: str = ""  # the name that the picture's file gives a coin without one of its own
    remarks: tuple[str, ...] = ()  # what a person should know of the files that it is from, a sentence each


@dataclass(frozen=True, slots=True)
class Passed(Refusal):
    """A file in a folder of coins that says nothing of one, as a README does: named, and no error."""


@dataclass(frozen=True, slots=True)
class WithoutPicture(Refusal):
    """A coin without a picture: refused, unless it is here already and gets what it lacks."""

    sidecar: dict[str, Any]

    @property
    def address(self) -> str:
        """The token address of the coin."""
        return str(self.sidecar["token_address"])


@dataclass(frozen=True, slots=True)
class RemoteLogo(WithoutPicture):
    """A token whose picture is on the network: not imported, but downloaded on request."""

    uri: str


def shown(name: str) -> str:
    """An untrusted name as one printable line of at most 200 characters."""
    name = name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[1 - _LONGEST // 2 :]}"
    readable = name.encode("utf-8", "replace").decode()  # a file name on disk need not be Unicode
    if readable.isprintable():
        return readable
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in readable)
