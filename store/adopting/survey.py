"""What a folder or file of another program holds, before anything is taken over."""

from dataclasses import dataclass
from pathlib import Path

from store.outcome import Refusal


@dataclass(frozen=True, slots=True)
class FoundKind:
    """One kind of thing that was found: what it is, how many, where, and what becomes of it."""

    what: str  # as people call it, such as "coins in review"
    count: int
    where: str  # the file or folder, relative to the survey's path
    note: str = ""


@dataclass(frozen=True, slots=True)
class DataSurvey:
    """What one system's data would bring, and what of it would be refused; nothing is changed yet."""

    system: str  # the name of the system that recognised it
    title: str  # its name for people
    path: Path
    found: tuple[FoundKind, ...] = ()
    refused: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()  # what a person should know before, a sentence each
    needs_model: bool = False  # whether it has vectors and does not say of which model

    @property
    def count(self) -> int:
        """How many items were found, of all kinds together."""
        return sum(one.count for one in self.found)
