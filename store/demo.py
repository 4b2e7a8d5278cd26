"""The demo library: fictional coins with pictures, so that every page has something to show."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from store.disk.layout import RESOURCES
from store.errors import BadSource
from store.importing.candidate import Candidate
from store.library import Library
from store.outcome import ImportReport
from store.progress import Progress
from store.records import Tier
from store.search import golden_queries

FOLDER = RESOURCES / "demo"
WHO = "demo"  # stands in the history, so that a load cut short is told from what a person decided


@dataclass(frozen=True, slots=True)
class DemoCoin:
    """One demo coin: the folder of its files, and its tier."""

    address: str
    tier: Tier
    folder: Path

    def candidate(self) -> Candidate:
        """The coin's sidecar and picture, ready for import."""
        sidecar = json.loads((self.folder / f"{self.address}.json").read_text(encoding="utf-8"))
        return Candidate(self.address, sidecar, self.folder / f"{self.address}.jpg")


def entries(folder: Path = FOLDER) -> list[DemoCoin]:
    """Every coin of the demo library. Raises BadSource if it is missing or broken."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return [DemoCoin(coin["token_address"], coin["tier"], folder) for coin in manifest["coins"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadSource(f"the demo library in {folder} cannot be read: {error}") from error


def load(library: Library, *, progress: Progress | None = None, folder: Path = FOLDER) -> ImportReport:
    """Bring every demo coin to its tier, except coins that a person has decided on.

    Safe to repeat: existing coins stay as they are, and a cancelled load resumes.
    """
    progress = progress or Progress()
    coins = entries(folder)
    tiers = {entry.address: entry.tier for entry in coins}
    progress.what = "Load the demo coins"
    progress.total = len(coins) + sum(tier == "library" for tier in tiers.values())
    report = library.add(_candidates(coins), source="demo", progress=progress, actor=WHO)
    at_hand = [*report.done, *(address for address in report.present if _is_untouched(library, address))]
    if not progress.cancelled:
        waiting = [address for address in at_hand if _is_before(library, address, tiers, tier="pending")]
        report.refused += library.approve(waiting, actor=WHO).refused
        waiting = [address for address in at_hand if _is_before(library, address, tiers, tier="approved")]
        progress.what, progress.total = "Embed the demo coins", progress.done + len(waiting)
        report.refused += library.promote(waiting, progress=progress, actor=WHO).refused
        library.golden.import_content(WHO, golden_queries.shipped(RESOURCES, WHO))
    return report


def _candidates(coins: list[DemoCoin]) -> Iterator[Candidate]:
    return (entry.candidate() for entry in coins)


def _is_untouched(library: Library, address: str) -> bool:
    """Whether only the demo itself has decided on this record."""
    return all(event.actor == WHO for event in library.history(address=address, limit=-1))


def _is_before(library: Library, address: str, tiers: Mapping[str, Tier], *, tier: Tier) -> bool:
    """Whether the record is in this tier and belongs in a later one."""
    return library.get(address).tier == tier and _ORDER.index(tiers[address]) > _ORDER.index(tier)


_ORDER: tuple[Tier, ...] = ("pending", "approved", "library")
