"""What a verb answers: what was done, and what was refused and why."""

from dataclasses import dataclass, field

from store.importing.candidate import Refusal
from store.records import Tier


@dataclass(slots=True)
class Outcome:
    """The addresses done, and each one refused with its reason."""

    done: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    decision: str | None = None  # to find it in the history; None when nothing was done
    reversed: str | None = None  # the decision that was taken back, or will be in the background


@dataclass(slots=True)
class ImportReport(Outcome):
    """`done` are the records added; `present` those that were already there, and in which tier."""

    present: dict[str, Tier] = field(default_factory=dict)
