"""Reports of an adoption: what was found, its outcome, and what a system can do."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from store.disk.csv import inert
from store.outcome import Refusal
from store.progress import Progress

if TYPE_CHECKING:
    from store.library import Library
    from store.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class FoundKind:
    """One kind of thing that was found: what it is, how many, where, and what becomes of it."""

    what: str  # as people call it, such as "coins in review"
    count: int
    where: str  # the file or folder, relative to the survey's path
    note: str = ""


@dataclass(frozen=True, slots=True)
class DataSurvey:
    """A preview of one system's data: what would come in and what be refused; nothing is changed yet."""

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


@dataclass(slots=True)
class AdoptionReport:
    """Everything that an adoption looked at, by what became of it."""

    system: str = ""
    source: str = ""
    taken: list[str] = field(default_factory=list)  # addresses, or ids of the text memory
    present: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    moved_aside: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what a person should know afterwards, a sentence each
    reused: int = 0  # vectors that came along
    embedded: int = 0  # … and those that a model had to make
    decision: str = ""  # of the library, to find and undo it
    texts: str = ""  # its decision in the text memory; "" if no texts were looked at

    @property
    def counts(self) -> dict[str, int]:
        """The figures alone, for a page or a job's note."""
        return {
            "taken": len(self.taken),
            "present": len(self.present),
            "refused": len(self.refused),
            "moved_aside": len(self.moved_aside),
            "reused": self.reused,
            "embedded": self.embedded,
        }

    def add(self, other: "AdoptionReport") -> None:
        """Take in what another system brought from the same place."""
        self.system = ", ".join(filter(None, (self.system, other.system)))
        self.source = self.source or other.source
        self.decision = self.decision or other.decision
        self.texts = other.texts or self.texts
        for mine, theirs in (
            (self.taken, other.taken), (self.present, other.present),
            (self.moved_aside, other.moved_aside), (self.notes, other.notes),
        ):  # fmt: skip
            mine += theirs
        self.refused += other.refused
        self.reused += other.reused
        self.embedded += other.embedded

    def as_json(self) -> str:
        """The report as JSON text, which `from_json` reads."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2)

    def as_csv(self) -> str:
        """A line for each item: what became of it, the item, and the reason if it was refused."""
        lines = (
            *(("taken", item, "") for item in self.taken),
            *(("already there", item, "") for item in self.present),
            *(("refused", one.item, one.reason) for one in self.refused),
            *(("moved aside", item, "") for item in self.moved_aside),
        )
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow(("state", "item", "reason"))
        writer.writerows([inert(cell) for cell in line] for line in lines)
        return file.getvalue()

    @classmethod
    def from_json(cls, text: str) -> "AdoptionReport":
        """The report that `as_json` wrote."""
        fields: Mapping[str, Any] = json.loads(text)
        return cls(**{**fields, "refused": [Refusal(**one) for one in fields["refused"]]})


@dataclass(frozen=True, slots=True)
class AdoptionRequest:
    """A person's decisions about one adoption."""

    decision: str  # the id of the library's decision; the same when an interrupted adoption continues
    actor: str = ""
    vectors: str = ""  # the model that the vectors are of; "" leaves vectors of unnamed models out


class _Recognising(Protocol):
    @property
    def name(self) -> str:
        """A short name that never changes, as `--as` takes it."""

    @property
    def title(self) -> str:
        """The name for people."""

    def recognise(self, path: Path) -> DataSurvey | None:
        """What is there, if it is this system's; reads only. None for all other content, damaged files too.

        Damaged data of this system is a survey with refusals.
        """


class LibrarySystem(_Recognising, Protocol):
    """A system whose coins go into the library."""

    def adopt(
        self, library: "Library", survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take it over as part of one decision; what is there already stays, so that it can be repeated.

        Once `progress.cancelled` is set, it ends before the next batch, with what was done so far.
        """


class MemorySystem(_Recognising, Protocol):
    """A system whose texts go into the text memory."""

    def adopt(
        self, memory: "Memory", survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take it over as part of one decision; what is there already stays, so that it can be repeated.

        The decision ends with `texts.finish`; until then the same source goes on with it.
        """
