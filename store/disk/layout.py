"""The paths of every file of a library."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from store.records import Tier

_BESIDE_STORE = Path(__file__).resolve().parent.parent.parent
_INSTALLED = _BESIDE_STORE / "memedex"  # where a wheel puts what is not a package (pyproject.toml)
PROGRAM = _INSTALLED if (_INSTALLED / "app.py").is_file() else _BESIDE_STORE  # app.py, pages, res
RESOURCES = PROGRAM / "res"  # taxonomy, models, demo


@dataclass(frozen=True)
class Layout:
    """The paths below one root, by the names that other programs know."""

    root: Path

    @cached_property
    def memecoins(self) -> Path:
        """The folder of all tiers, the catalog and what belongs to them."""
        return self.root / "memecoins"

    @property
    def catalog(self) -> Path:
        """The SQLite file of the catalog."""
        return self.memecoins / "catalog.sqlite3"

    @property
    def lock(self) -> Path:
        """The file that the one writing process locks."""
        return self.memecoins / "writer.lock"

    @property
    def unfinished_check(self) -> Path:
        """What a check that was interrupted found to be sound; derived."""
        return self.memecoins / "unfinished-check.txt"

    @property
    def operations(self) -> Path:
        """One folder for each unfinished operation: its staged files, and the files that they replaced."""
        return self.memecoins / "operations"

    @property
    def agent_decisions(self) -> Path:
        """Decisions of agents that wait for the process that writes, a file for each."""
        return self.memecoins / "agent-decisions"

    @property
    def set_aside(self) -> Path:
        """Files that occupied a path the program needed; kept, never overwritten."""
        return self.memecoins / "set-aside"

    @property
    def thumbnails(self) -> Path:
        """The folder of small pictures; all of it can be made again."""
        return self.memecoins / "thumbnails"

    @property
    def fetched_pictures(self) -> Path:
        """Pictures fetched from a shared place, by their hash; all of them can be fetched again."""
        return self.memecoins / "fetched-pictures"

    @property
    def prompts(self) -> Path:
        """Prompts for language models, as edited by people."""
        return self.root / "prompts"

    @property
    def golden(self) -> Path:
        """Golden queries, one file for each collection."""
        return self.root / "golden"

    @property
    def matrices(self) -> Path:
        """Copies of the vectors that search maps into memory; derived."""
        return self.memecoins / "matrices"

    @property
    def samples(self) -> Path:
        """Pictures that people searched with."""
        return self.memecoins / "samples"

    @property
    def snapshots(self) -> Path:
        """Daily copies of the catalog."""
        return self.memecoins / "snapshots"

    @property
    def reports(self) -> Path:
        """What each adoption took and refused, a file for each."""
        return self.memecoins / "reports"

    @property
    def exports(self) -> Path:
        """Files that people exported from the page."""
        return self.root / "exports"

    @cached_property
    def chroma(self) -> Path:
        """Chroma's own files, and `images` and `metadata` of the library tier."""
        return self.memecoins / "rag_db"

    def owns(self, path: Path) -> bool:
        """Whether the path is among the files that only the program writes."""
        return any(path.is_relative_to(own) for own in (self.memecoins, self.root / "memory"))

    @property
    def own_taxonomy(self) -> Path:
        """The path of this root's taxonomy, if it was edited."""
        return self.root / "taxonomy.json"

    @property
    def taxonomy(self) -> Path:
        """The file of known tags: the library's own, else the one that comes with the program."""
        return self.own_taxonomy if self.own_taxonomy.exists() else RESOURCES / "taxonomy.json"

    def sidecar_folder(self, tier: Tier) -> Path:
        """The folder of a tier's JSON files."""
        return self.chroma / "metadata" if tier == "library" else self.memecoins / tier

    def image_folder(self, tier: Tier) -> Path:
        """The folder of a tier's JPGs."""
        return self.chroma / "images" if tier == "library" else self.memecoins / tier

    def sidecar(self, tier: Tier, address: str) -> Path:
        """The path of a record's JSON file in this tier."""
        return self.sidecar_folder(tier) / f"{address}.json"

    def image(self, tier: Tier, address: str) -> Path:
        """The path of a record's JPG in this tier."""
        return self.image_folder(tier) / f"{address}.jpg"
