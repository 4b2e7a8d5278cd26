"""What an adoption did: everything taken, already there, refused or moved aside, to be downloaded."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from store.disk.csv import inert
from store.outcome import Refusal


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
    texts: int = 0  # the number of its decision in the text memory; 0 if no texts were looked at

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
