"""The demo library: fictional coins with pictures, so that every page has something to show.

Its manifest says of each coin in which tier it belongs, why it is rejected, of which one it is a copy, and
which fault was planted in it (`fault`: a kind of store/captioning/checkup.py). Drafts of captions were
recorded, so that no language model is needed to see them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from store.catalog import history, picture_rows
from store.disk.layout import RESOURCES
from store.embedding import embedding_cache
from store.embedding.protocol import Embedder
from store.errors import BadSource
from store.importing.candidate import Candidate
from store.library import Library
from store.outcome import ImportReport
from store.progress import Progress
from store.records import Tier
from store.search import golden_queries

FOLDER = RESOURCES / "demo"
TEXTS = "texts.json"  # in that folder: what was read in its pictures
RECORDED = "recorded draft"  # in place of a model's name: no model was asked
WHO = history.DEMO  # recorded in the history, which tells a load cut short from a person's decisions


@dataclass(frozen=True, slots=True)
class DemoCoin:
    """One demo coin: the folder of its files, its tier, why it is rejected, the fault planted in it."""

    address: str
    tier: Tier
    folder: Path
    reason: str = ""
    fault: str = ""

    def candidate(self) -> Candidate:
        """The coin's sidecar and picture, ready for import."""
        sidecar = json.loads((self.folder / f"{self.address}.json").read_text(encoding="utf-8"))
        return Candidate(self.address, sidecar, self.folder / f"{self.address}.jpg")


def entries(folder: Path = FOLDER) -> list[DemoCoin]:
    """Every coin of the demo library. Raises BadSource if it is missing or broken."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return [
            DemoCoin(
                coin["token_address"], coin["tier"], folder, coin.get("reason", ""), coin.get("fault", "")
            )
            for coin in manifest["coins"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadSource(f"the demo library in {folder} cannot be read: {error}") from error


def load(library: Library, *, progress: Progress | None = None, folder: Path = FOLDER) -> ImportReport:
    """Bring every demo coin to its tier, except coins that a person has decided on.

    Safe to repeat: existing coins stay as they are, and a cancelled load resumes.
    Raises BadSource if the demo's files cannot be read.
    """
    progress = progress or Progress()
    coins = entries(folder)
    tiers = {entry.address: entry.tier for entry in coins}
    progress.what = "Load the demo coins"
    progress.total = len(coins) + sum(tier == "library" for tier in tiers.values())
    _put_vectors(library, folder)
    _put_texts(library, folder)
    report = library.add((entry.candidate() for entry in coins), source="demo", progress=progress, actor=WHO)
    at_hand = [*report.done, *(address for address in report.present if _is_untouched(library, address))]
    if not progress.cancelled:
        waiting = [address for address in at_hand if _is_before(library, address, tiers, tier="pending")]
        report.refused += library.approve(waiting, actor=WHO).refused
        _reject(library, coins, at_hand, report)
        _propose(library, report.done, folder)
        waiting = [address for address in at_hand if _is_before(library, address, tiers, tier="approved")]
        progress.what, progress.total = "Embed the demo coins", progress.done + len(waiting)
        report.refused += library.promote(waiting, progress=progress, actor=WHO).refused
        library.golden.import_content(WHO, golden_queries.shipped(RESOURCES, WHO))
    return report


def vectors_name(embedder: Embedder) -> str:
    """The file with the vectors that this version of this model makes."""
    return f"vectors-{embedder.fingerprint[:16]}.npz"


def _put_vectors(library: Library, folder: Path) -> None:
    """Store the vectors made before for this model; another model makes its own."""
    embedder = library.embedder
    file = folder / vectors_name(embedder)
    if not file.exists():
        return
    import numpy as np

    with np.load(file) as made:
        rows = zip(made["keys"], made["vectors"], strict=True)
        vectors = {key.decode(): vector.tobytes() for key, vector in rows}
    with library.catalog.writing() as db:
        embedding_cache.store(db, embedder.name, vectors)


def _put_texts(library: Library, folder: Path) -> None:
    """Store what was read in the pictures before."""
    file = folder / TEXTS
    if not file.exists():
        return
    made = json.loads(file.read_text(encoding="utf-8"))
    with library.catalog.writing() as db:
        for image_hash, (text, words) in made["texts"].items():
            picture_rows.store_text(db, image_hash, text, words=words, reader=made["reader"])


def _reject(library: Library, coins: list[DemoCoin], at_hand: list[str], report: ImportReport) -> None:
    """Reject what belongs in the trash, each for its reason."""
    reasons = {one.address: one.reason for one in coins if one.tier == "trash"}
    for reason in sorted(set(reasons.values())):
        waiting = [
            address
            for address in at_hand
            if reasons.get(address) == reason and library.get(address).tier == "pending"
        ]
        report.refused += library.reject(waiting, reason=reason, actor=WHO).refused


def _propose(library: Library, added: list[str], folder: Path) -> None:
    """The recorded drafts of the coins that were just added, as open suggestions."""
    file = folder / "drafts.json"
    drafts = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for address in added:
        if address in drafts:
            library.suggestions.save(address, drafts[address], model=RECORDED, actor=WHO)


def _is_untouched(library: Library, address: str) -> bool:
    """Whether only the demo itself has decided on this record."""
    return all(event.actor == WHO for event in library.history(address=address, limit=-1))


def _is_before(library: Library, address: str, tiers: Mapping[str, Tier], *, tier: Tier) -> bool:
    """Whether the record is in this tier and belongs in a later one."""
    wanted = tiers[address]
    return (
        wanted != "trash" and library.get(address).tier == tier and _ORDER.index(wanted) > _ORDER.index(tier)
    )


_ORDER: tuple[Tier, ...] = ("pending", "approved", "library")
