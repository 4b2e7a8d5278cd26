"""What an import recognises in each file, and what a person chooses otherwise, before anything comes in."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from store.disk.picture_files import BEGINNING, is_picture
from store.importing.candidate import Candidate, Passed, RemoteLogo, WithoutPicture
from store.importing.names import FIELDS, Texts
from store.importing.tables import counts_as
from store.outcome import Refusal, by_reason
from store.records import is_made_up

_NAMED = 3  # files of a kind that are named
_COLUMNS = 1_000  # of a kind
_VALUE = 120  # signs of a value
_LINE = 400  # signs of an example in a terminal
_LOOKED_AT = 1_000  # rows whose keys are looked at


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person says of the files of an import, instead of what their names say."""

    # A column or key → one of FIELDS, KEPT or LEFT_OUT.
    fields: Mapping[str, str] = field(default_factory=dict)
    texts: Texts = "guess"  # what the texts beside pictures hold


@dataclass(slots=True)
class FileKind:
    """All files of an import that were recognised as the same."""

    title: str
    files: int = 0
    names: list[str] = field(default_factory=list)  # the first of them
    encodings: Counter[str] = field(default_factory=Counter)  # other than UTF-8
    fields: dict[str, str] = field(default_factory=dict)  # each column, and what it counts as; "" is kept
    values: dict[str, str] = field(default_factory=dict)  # … and one that it holds
    coins: int = 0
    remote: int = 0  # coins whose picture has to be fetched
    tagged: int = 0  # coins whose text beside the picture is a list of tags …
    captioned: int = 0  # … and those where it is a sentence
    refused: list[Refusal] = field(default_factory=list)
    example: Candidate | WithoutPicture | None = None

    @property
    def summary(self) -> str:
        """How many files of this kind there are, and what they give."""
        parts = [
            f"{count:,} {what}"
            for count, what in (
                (self.coins, "coin" if self.coins == 1 else "coins"),
                (self.remote, "to fetch"),
                (len(self.refused), "refused"),
            )
            if count
        ]
        files = "1 file" if self.files == 1 else f"{self.files:,} files"
        return f"{files}: {', '.join(parts) or 'nothing'}"

    @property
    def texts(self) -> str:
        """What the texts beside the pictures are taken for; "" if there are none."""
        if not self.tagged and not self.captioned:
            return ""
        return f"texts: {self.tagged:,} hold tags, {self.captioned:,} a sentence (the caption's entity)"

    def lines(self) -> list[str]:
        """All of it for a terminal, except what is refused."""
        named = ", ".join(self.names) + (", …" if self.files > len(self.names) else "")
        lines = [f"{self.title}, {self.summary} ({named})"]
        lines += [f"· {count:,} read as {name}" for name, count in self.encodings.items()]
        meant = [f"{key} → {field}" for key, field in self.fields.items() if field]
        kept = [key for key, field in self.fields.items() if not field]
        lines += [f"· {', '.join(meant)}"] if meant else []
        lines += [f"· kept under their own names: {', '.join(kept)}"] if kept else []
        lines += [f"· {self.texts}"] if self.texts else []
        said = ", ".join(f"{key}: {value}" for key, value in self.shown().items())
        return [*lines, *([f"· for example {said}"[:_LINE]] if said else [])]

    def shown(self) -> dict[str, str]:
        """What the example says, for people: known fields first."""
        sidecar = self.example.sidecar if self.example else {}
        caption = sidecar.get("caption")
        flat = {**sidecar, **(caption if isinstance(caption, dict) else {})}
        keys = [
            *(key for key in FIELDS if key in flat and key != "caption"),
            *(key for key in flat if key not in FIELDS),
        ]
        texts = {key: ", ".join(map(str, flat[key])) if key == "tags" else str(flat[key]) for key in keys}
        return {
            key: text
            for key, text in texts.items()
            if text not in ("", "None") and key != "tags_categories" and not is_made_up(text)
        }

    def as_json(self) -> dict[str, Any]:
        """All of it for a script."""
        reasons = [
            {"reason": reason, "count": len(found), "first": found[0].item}
            for reason, found in by_reason(self.refused)
        ]
        return {
            "kind": self.title, "files": self.files, "names": self.names, "encodings": dict(self.encodings),
            "fields": self.fields, "coins": self.coins, "to_fetch": self.remote, "tags": self.tagged,
            "sentences": self.captioned, "example": self.shown(), "refused": reasons,
        }  # fmt: skip


class ImportPreview:
    """The kinds of files of an import, filled while it is read."""

    def __init__(self) -> None:
        self.kinds: dict[str, FileKind] = {}

    def file(self, title: str, name: str, *, rows: Iterable[Any] = (), encoding: str = "") -> FileKind:
        """Note that a file is of this kind, with the keys of its rows."""
        kind = self.kinds.setdefault(title, FileKind(title))
        kind.files += 1
        kind.encodings.update([encoding] if encoding else [])
        if len(kind.names) < _NAMED:
            kind.names.append(name)
        for row in islice(rows, _LOOKED_AT):
            for key, value in row.items() if isinstance(row, dict) else ():
                if key not in kind.fields and len(kind.fields) < _COLUMNS:
                    kind.fields[key] = counts_as(key)
                if value not in (None, "") and key in kind.fields and key not in kind.values:
                    kind.values[key] = str(value)[:_VALUE]
        return kind

    def count(self, kind: FileKind, found: Candidate | Refusal) -> None:
        """Count what a file of this kind gave."""
        if isinstance(found, Candidate) and not is_picture(_beginning(found.picture)):
            kind.refused.append(Refusal(found.item, "what is called a picture is none by its content"))
        elif isinstance(found, Candidate | RemoteLogo):
            kind.coins += isinstance(found, Candidate)
            kind.remote += isinstance(found, RemoteLogo)
            kind.example = kind.example or found
        else:
            kind.refused.append(found)

    def unread(self, refusal: Refusal) -> Refusal:
        """Count a file that is not read; returns why."""
        if isinstance(refusal, Passed):
            self.file(refusal.reason, refusal.item)
        else:
            self.file("not read", refusal.item).refused.append(refusal)
        return refusal

    @property
    def refused(self) -> list[Refusal]:
        """All that would be refused."""
        return [one for kind in self.kinds.values() for one in kind.refused]

    @property
    def coins(self) -> int:
        """How many coins would come in."""
        return sum(kind.coins for kind in self.kinds.values())


def _beginning(picture: Path | bytes) -> bytes:
    if isinstance(picture, bytes):
        return picture[:BEGINNING]
    try:
        with picture.open("rb") as file:
            return file.read(BEGINNING)
    except OSError:
        return b""
