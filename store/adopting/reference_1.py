"""A meme library with three tiers and five collections (reference 1)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from store.adopting import adopted_vectors, coins
from store.adopting.report import AdoptionReport
from store.adopting.survey import DataSurvey, FoundKind
from store.adopting.system import AdoptionRequest
from store.chroma.contents import read_contents
from store.importing import folders, library_folder
from store.importing.trees import DiskTree
from store.progress import Progress

if TYPE_CHECKING:
    from store.library import Library

TIERS = {"pending": "coins in review", "approved": "approved coins", "library": "coins of the library"}


class ThreeTierLibrary:
    """`pending`, `approved` and `rag_db`, as its own program or an export leaves them."""

    name = "reference-1"
    title = "Meme library of three tiers"

    def recognise(self, path: Path) -> DataSurvey | None:
        """The folder that holds `rag_db`, or one above it; its `catalog.sqlite3` is Memedex's own."""
        top = _top(path)
        if top is None:
            return None
        own = (top / "catalog.sqlite3").is_file()
        found = coins.counted(_candidates(top))
        note = "in this library already; they get only what they lack" if own else ""
        kinds = [
            FoundKind(TIERS[tier], count, _place(top, tier), note)
            for tier, count in found.tiers.items()
            if count
        ]
        notes = list(found.notes)
        vectors = adopted_vectors.collections(top / "rag_db")
        for collection in vectors:
            kinds.append(
                FoundKind(
                    f"vectors of {collection.found.dimension or 0:,} numbers",
                    collection.found.count,
                    f"{collection.folder.relative_to(top).as_posix()}/{collection.found.name}",
                )
            )
        for folder in library_folder.chroma_folders(top / "rag_db"):
            if fault := read_contents(folder).fault:
                notes.append(
                    f"Chroma in {folder} cannot be read ({fault}): no tags and no vectors from there."
                )
        if vectors:
            notes.append(
                "Chroma does not say which model its vectors are of: name it (--vectors MODEL), or the coins "
                "are embedded again."
            )
        if not kinds or (own and not vectors):
            return None  # nothing of another program's
        return DataSurvey(
            self.name, self.title, top, tuple(kinds), tuple(found.refused), tuple(notes), bool(vectors)
        )

    def adopt(
        self, library: "Library", survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Coins in their tiers, tags where there are none, then vectors."""
        progress.total = sum(one.count for one in survey.found if one.what in TIERS.values())
        is_own = survey.path.resolve() == library.layout.memecoins.resolve()
        report, there = coins.add(library, lambda: _candidates(survey.path), survey, request, progress)
        if progress.cancelled:
            return report
        origins = coins.Origins(library, {} if is_own else there, is_own=is_own)
        adopted_vectors.adopt(library, survey.path, request, report, origins, progress)
        return report


def _candidates(top: Path) -> Iterator[folders.Found]:
    return folders.coins(DiskTree(top, title=top.name))


def _place(top: Path, tier: str) -> str:
    return f"{top.name}/{'rag_db/metadata' if tier == 'library' else tier}"


def _top(path: Path) -> Path | None:
    """The folder with the three tiers: this one, `memecoins` in it, or the one around `rag_db`."""
    if not path.is_dir():
        return None
    around = [path, path / "memecoins", path / "res" / "memecoins"]
    if path.name in ("rag_db", "pending", "approved"):
        around.append(path.parent)
    return next((folder for folder in around if _is_library(folder)), None)


def _is_library(folder: Path) -> bool:
    store = folder / "rag_db"
    return bool((store / "metadata").exists() or library_folder.chroma_folders(store)) or all(
        (folder / name).is_dir() for name in ("pending", "approved")
    )
