"""Where the files of the text memory lie, below the same root as the library."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Places:
    """`memory/` below one root."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "memory"

    @property
    def lock(self) -> Path:
        """The text memory's own: coins and memory may be written by two processes."""
        return self.folder / "writer.lock"

    @property
    def chroma(self) -> Path:
        """Derived: may be removed at any time."""
        return self.folder / "chroma"

    @property
    def worlds(self) -> Path:
        """One YAML file for each world: the truth of its base lore (reference 4)."""
        return self.folder / "worlds"

    @property
    def originals(self) -> Path:
        """Imported documents as they came, by the SHA-256 of their content."""
        return self.folder / "originals"

    @property
    def template(self) -> Path:
        """How a model's context is put together, where somebody kept a way of their own."""
        return self.folder / "context-template.txt"

    def database(self, file: str) -> Path:
        return self.folder / f"{file}.sqlite3"
