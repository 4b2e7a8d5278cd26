"""The result of a verb: what was done, and what was refused and why."""

from dataclasses import dataclass, field

from store.errors import LibraryStuck, NotWritten
from store.records import Tier


@dataclass(frozen=True, slots=True)
class Refusal:
    """One refused item, and why."""

    item: str
    reason: str


@dataclass(slots=True)
class Outcome:
    """The addresses done, and each refused one with the reason."""

    done: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    decision: str | None = None  # to find it in the history; None when nothing was done
    failure: str = ""  # what prevented an operation, such as a full disk; its records are refused
    stuck: str = ""  # why something decided cannot be finished yet, so that no more is decided
    reversed: str | None = None  # the decision that was taken back, or will be in the background
    unchanged: list[str] = field(default_factory=list)  # of those done, because they were so already

    def raise_failure(self) -> None:
        """For a job, which waits with what is left: all of it would be refused as well.

        Raises LibraryStuck if something decided waits for the disk, NotWritten if nothing could be decided.
        """
        if self.failure:
            raise (LibraryStuck if self.stuck else NotWritten)(self.failure)


@dataclass(slots=True)
class ImportReport(Outcome):
    """`done` are the records added; `present` those that existed, with their tier."""

    present: dict[str, Tier] = field(default_factory=dict)
