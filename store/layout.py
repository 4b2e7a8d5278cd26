"""Where every file of a library lives."""

from dataclasses import dataclass
from pathlib import Path

from store.records import Tier

RESOURCES = Path(__file__).resolve().parent.parent / "res"  # taxonomy, models, demo


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths below one root, as reference 1 names them."""

    root: Path

    @property
    def memecoins(self) -> Path:
        return self.root / "memecoins"

    @property
    def catalog(self) -> Path:
        return self.memecoins / "catalog.sqlite3"

    @property
    def lock(self) -> Path:
        return self.memecoins / "writer.lock"

    @property
    def operations(self) -> Path:
        """One folder for each operation under way: its staged files and what they replaced."""
        return self.memecoins / "operations"

    @property
    def set_aside(self) -> Path:
        """Files that stood where one of ours had to go: kept, never overwritten."""
        return self.memecoins / "set-aside"

    @property
    def thumbnails(self) -> Path:
        return self.memecoins / "thumbnails"

    @property
    def prompts(self) -> Path:
        """What language models are asked with, as somebody edited it."""
        return self.root / "prompts"

    @property
    def golden(self) -> Path:
        """Golden queries, one file for each collection."""
        return self.root / "golden"

    @property
    def matrices(self) -> Path:
        """The vectors once more, as search maps them; derived."""
        return self.memecoins / "matrices"

    @property
    def samples(self) -> Path:
        """Pictures that questions were asked with."""
        return self.memecoins / "samples"

    @property
    def exports(self) -> Path:
        """What was exported from the page."""
        return self.root / "exports"

    @property
    def chroma(self) -> Path:
        """Chroma's own files; `images` and `metadata` of the library tier lie beside them."""
        return self.memecoins / "rag_db"

    def owns(self, path: Path) -> bool:
        """Whether the path lies among the files that only the program writes."""
        return any(path.is_relative_to(own) for own in (self.memecoins, self.root / "memory"))

    @property
    def own_taxonomy(self) -> Path:
        """Where this root's taxonomy lies once somebody edited it."""
        return self.root / "taxonomy.json"

    @property
    def taxonomy(self) -> Path:
        return self.own_taxonomy if self.own_taxonomy.exists() else RESOURCES / "taxonomy.json"

    def sidecar_folder(self, tier: Tier) -> Path:
        return self.chroma / "metadata" if tier == "library" else self.memecoins / tier

    def image_folder(self, tier: Tier) -> Path:
        return self.chroma / "images" if tier == "library" else self.memecoins / tier

    def sidecar(self, tier: Tier, address: str) -> Path:
        return self.sidecar_folder(tier) / f"{address}.json"

    def image(self, tier: Tier, address: str) -> Path:
        return self.image_folder(tier) / f"{address}.jpg"
