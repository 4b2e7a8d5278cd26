"""The demo library: fictional coins with pictures, so that every page has something to show."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from store.errors import BadSource
from store.importing.candidate import Candidate
from store.layout import RESOURCES
from store.library import Library
from store.outcome import ImportReport
from store.progress import Progress
from store.records import Tier
from store.search import golden

FOLDER = RESOURCES / "demo"
WHO = "demo"  # stands in the history, so that a load cut short is told from what a person decided


@dataclass(frozen=True, slots=True)
class Entry:
    """One demo coin: where its files lie and which tier it belongs to."""

    address: str
    tier: Tier
    folder: Path

    def candidate(self) -> Candidate:
        """Its sidecar and picture as they are imported."""
        sidecar = json.loads((self.folder / f"{self.address}.json").read_text(encoding="utf-8"))
        return Candidate(self.address, sidecar, self.folder / f"{self.address}.jpg")


def entries(folder: Path = FOLDER) -> list[Entry]:
    """Every coin of the demo library; BadSource when it is not there or broken."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return [Entry(coin["token_address"], coin["tier"], folder) for coin in manifest["coins"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadSource(f"the demo library in {folder} cannot be read: {error}") from error


def load(library: Library, *, progress: Progress | None = None, folder: Path = FOLDER) -> ImportReport:
    """Bring every demo coin to its tier, except where a person has decided otherwise.

    It may be repeated: what is there stays as it is, what a cancelled load left half way goes on.
    """
    progress = progress or Progress()
    wanted = entries(folder)
    tiers = {entry.address: entry.tier for entry in wanted}
    progress.what = "Take in the demo coins"
    progress.total = len(wanted) + sum(tier == "library" for tier in tiers.values())
    report = library.add(_candidates(wanted), source="demo", progress=progress, who=WHO)
    at_hand = [*report.done, *(address for address in report.present if _is_untouched(library, address))]
    if not progress.cancelled:
        waiting = [address for address in at_hand if _is_before(library, address, tiers, tier="pending")]
        report.refused += library.approve(waiting, who=WHO).refused
        waiting = [address for address in at_hand if _is_before(library, address, tiers, tier="approved")]
        progress.what, progress.total = "Embed the demo coins", progress.done + len(waiting)
        report.refused += library.promote(waiting, progress=progress, who=WHO).refused
        library.golden.take_in(WHO, golden.shipped(RESOURCES, WHO))
    return report


def _candidates(wanted: list[Entry]) -> Iterator[Candidate]:
    return (entry.candidate() for entry in wanted)


def _is_untouched(library: Library, address: str) -> bool:
    """Whether nobody but the demo itself has ever decided about this record."""
    return all(event.who == WHO for event in library.history(address=address, limit=-1))


def _is_before(library: Library, address: str, tiers: Mapping[str, Tier], *, tier: Tier) -> bool:
    """Whether the record waits in this tier, and belongs further on."""
    return library.get(address).tier == tier and _ORDER.index(tiers[address]) > _ORDER.index(tier)


_ORDER: tuple[Tier, ...] = ("pending", "approved", "library")
