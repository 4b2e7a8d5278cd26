"""The paths of the text memory, below the same root as the library."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Places:
    """`memory/` below one root."""

    root: Path

    @property
    def folder(self) -> Path:
        """The folder of the text memory."""
        return self.root / "memory"

    @property
    def lock(self) -> Path:
        """The text memory's own lock: two processes may write coins and memory."""
        return self.folder / "writer.lock"

    @property
    def chroma(self) -> Path:
        """Derived; may be deleted at any time."""
        return self.folder / "chroma"

    @property
    def worlds(self) -> Path:
        """One YAML file for each world: the source of truth of its base lore."""
        return self.folder / "worlds"

    @property
    def originals(self) -> Path:
        """Imported documents in their original form, by the SHA-256 of their content."""
        return self.folder / "originals"

    @property
    def template(self) -> Path:
        """This root's template for a model's context, if one was saved."""
        return self.folder / "context-template.txt"

    @property
    def retrievals(self) -> Path:
        """The database of handed-out entries, if a setting asks to log or keep them."""
        return self.folder / "retrievals.sqlite3"

    @property
    def database(self) -> Path:
        """The SQLite file of all kinds."""
        return self.folder / "memory.sqlite3"

    def former(self, file: str) -> Path:
        """The SQLite file that one kind had up to version 1.2."""
        return self.folder / f"{file}.sqlite3"
