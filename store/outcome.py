"""The result of a verb: what was done, and what was refused and why."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from store.errors import LibraryStuck, NotWritten
from store.records import Tier

_MANY = 20  # values that cannot be read for one reason are named each, more as a number
_QUOTED = re.compile(r"“[^”]*”|'[^'…]*['…]|\"[^\"…]*[\"…]")  # what a reason says of its item alone


@dataclass(frozen=True, slots=True)
class Refusal:
    """One refused item, and why."""

    item: str
    reason: str


def by_reason(refused: Iterable[Refusal]) -> list[tuple[str, list[Refusal]]]:
    """The refusals of each reason, most first; reasons that differ only in what they quote are one."""
    alike: dict[str, list[Refusal]] = {}
    for refusal in refused:
        alike.setdefault(_QUOTED.sub("…", refusal.reason), []).append(refusal)
    groups = ((found[0].reason if len({one.reason for one in found}) == 1 else reason, found)
              for reason, found in alike.items())  # fmt: skip
    return sorted(groups, key=lambda group: -len(group[1]))


@dataclass(slots=True)
class Outcome:
    """The addresses or ids done, and each refused one with the reason."""

    done: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    decision: str | None = None  # to find it in the history; None when nothing was done
    failure: str = ""  # what prevented an operation, such as a full disk; its records are refused
    stuck: str = ""  # why something decided cannot be finished yet, so that no more is decided
    reversed: str | None = None  # the decision that was undone, or will be in the background
    unchanged: list[str] = field(default_factory=list)  # of those done, because they were so already
    said: str = ""  # what else a person should know, in words

    def add(self, part: "Outcome") -> None:
        """Take in what became of a part of the same decision."""
        self.done += part.done
        self.refused += part.refused
        self.unchanged += part.unchanged
        self.decision = part.decision or self.decision
        self.failure = part.failure or self.failure
        self.stuck = part.stuck or self.stuck

    def raise_failure(self) -> None:
        """For a job, which waits with what is left: all of it would be refused as well.

        Raises LibraryStuck if something decided waits for the disk, NotWritten if nothing could be decided.
        """
        if self.failure:
            raise LibraryStuck(self.stuck) if self.stuck else NotWritten(self.failure)


@dataclass(frozen=True, slots=True)
class NotTaken:
    """A field that an import states otherwise than the coin that is here, and why it did not come in."""

    address: str
    field: str  # of the sidecar; "caption.entity" for a facet
    reason: str


@dataclass(slots=True)
class ImportReport(Outcome):
    """`done` are the records added; `present` those that existed, with their tier."""

    present: dict[str, Tier] = field(default_factory=dict)
    completed: list[str] = field(default_factory=list)  # of those present, which got what they lacked
    not_taken: list[NotTaken] = field(default_factory=list)
    unread: list[Refusal] = field(default_factory=list)  # what of coins that came in was not read, or how
    undated: int = 0  # coins that have the time of import, since no date of theirs can be read

    @property
    def notes(self) -> list[str]:
        """What came in in part, a sentence for each kind."""
        return [
            *_grouped(self.unread),
            *([f"{self.undated:,} without a date that can be read: they have the time of import"]
              if self.undated else []),
            *(not_taken_notes(self.not_taken)),
        ]  # fmt: skip


def not_taken_notes(fields: Sequence[NotTaken]) -> list[str]:
    """A sentence for each field and reason, with the number of coins."""
    counts = Counter((one.field, one.reason) for one in fields)
    return [f"not taken: {field} of {count:,} already there: {reason}"
            for (field, reason), count in counts.items()]  # fmt: skip


def _grouped(refused: Iterable[Refusal]) -> list[str]:
    """Each with its reason, or the first of many with the same reason and their number."""
    return [
        sentence
        for reason, found in by_reason(refused)
        for sentence in (
            [f"{one.item}: {one.reason}" for one in found]
            if len(found) <= _MANY
            else [f"{len(found):,}: {reason} ({found[0].item}, …)"]
        )
    ]
