"""The paths of every file of a library."""

from pathlib import Path

from store.records import Tier

_BESIDE_STORE = Path(__file__).resolve().parent.parent.parent
_INSTALLED = _BESIDE_STORE / "memedex"  # where a wheel puts what is not a package (pyproject.toml)
PROGRAM = _INSTALLED if (_INSTALLED / "app.py").is_file() else _BESIDE_STORE  # app.py, pages, res
RESOURCES = PROGRAM / "res"  # taxonomy, models, demo


class Layout:
    """The paths below one root, by the names that other programs know."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.memecoins = own = root / "memecoins"  # all tiers, the catalog and what belongs to them
        self.chroma = own / "rag_db"  # Chroma's own files, and `images` and `metadata` of the library tier
        self.catalog = own / "catalog.sqlite3"
        self.lock = own / "writer.lock"  # the file that the one writing process locks
        self.unfinished_check = own / "unfinished-check.txt"  # what an interrupted check found to be sound
        self.operations = own / "operations"  # a folder for each unfinished one: files staged and replaced
        self.agent_decisions = (
            own / "agent-decisions"
        )  # that wait for the process that writes, a file for each
        self.set_aside = own / "set-aside"  # files that occupied a path the program needed; never overwritten
        self.thumbnails = own / "thumbnails"  # can be made again
        self.fetched_pictures = own / "fetched-pictures"  # from a shared place, by hash; can be fetched again
        self.matrices = own / "matrices"  # copies of the vectors that search maps into memory; derived
        self.samples = own / "samples"  # pictures that people searched with
        self.snapshots = own / "snapshots"  # daily copies of the catalog
        self.reports = own / "reports"  # what each adoption took and refused, a file for each
        self.prompts = root / "prompts"  # for language models, as edited by people
        self.golden = root / "golden"  # golden queries, one file for each collection
        self.exports = root / "exports"  # files that people exported from the page
        self.own_taxonomy = root / "taxonomy.json"  # this root's taxonomy, if it was edited

    def owns(self, path: Path) -> bool:
        """Whether the path is among the files that only the program writes."""
        return any(path.is_relative_to(own) for own in (self.memecoins, self.root / "memory"))

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
