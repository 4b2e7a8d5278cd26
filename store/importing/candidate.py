"""What an import yields: coins to take in, and things that could not be read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Candidate:
    """One coin found: `item` is what people call it, the picture a checked file or its bytes."""

    item: str
    sidecar: dict[str, Any]
    picture: Path | bytes


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing that was not taken, and why."""

    item: str
    reason: str


@dataclass(frozen=True, slots=True)
class RemoteLogo(Refusal):
    """A token whose picture lies on the network: not taken by an import, fetched when somebody asks."""

    uri: str
    sidecar: dict[str, Any]

    @property
    def address(self) -> str:
        return str(self.sidecar["token_address"])


def shown(name: str) -> str:
    """A stranger's name as one printable line of at most 200 characters."""
    name = name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[1 - _LONGEST // 2 :]}"
    readable = name.encode("utf-8", "replace").decode()  # a file name on disk need not be Unicode
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in readable)
