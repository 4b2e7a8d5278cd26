"""Add the coins of another system, and count before what would be added."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from store.adopting.report import AdoptionReport
from store.adopting.survey import DataSurvey
from store.adopting.system import AdoptionRequest
from store.catalog import history
from store.disk.files import content_hash
from store.errors import BadPicture, InvalidRecord
from store.importing import Candidate, Refusal
from store.importing.candidate import RemoteLogo
from store.importing.metadata import FILLED_IN
from store.progress import Progress
from store.records import Facet, Record, Tier, checked_address, validate

if TYPE_CHECKING:
    from store.library import Library

_EVENTS = 100_000  # far above the events of one coin
_DEFAULTS = {"ticker": "", "description": "", "created_at": 0}

Read = Callable[[], Iterable[Candidate | Refusal]]


@dataclass(slots=True)
class CountedCoins:
    """How many coins would come in, by tier, and which would be refused."""

    tiers: dict[Tier, int] = field(default_factory=lambda: {"pending": 0, "approved": 0, "library": 0})
    refused: list[Refusal] = field(default_factory=list)
    filled: int = 0
    notes: list[str] = field(default_factory=list)


def counted(found: Iterable[Candidate | Refusal]) -> CountedCoins:
    """Count what would come in; pictures are not decoded yet, so a broken one is refused later."""
    counts, known = CountedCoins(), set[str]()
    for one in found:
        if isinstance(one, RemoteLogo):
            hint = "; fetch-logos downloads it"
            counts.refused.append(Refusal(one.item, one.reason.removesuffix(hint) + hint))
        elif isinstance(one, Refusal):
            counts.refused.append(one)
        else:
            try:
                sidecar = {**_DEFAULTS, **one.sidecar}
                sidecar["token_address"] = address = checked_address(sidecar.get("token_address"))
                validate(sidecar, tier=one.tier)
            except InvalidRecord as error:
                counts.refused.append(Refusal(one.item, str(error)))
                continue
            key = f"{address.lower()}@{sidecar.get('chainId')}"
            if key not in known:
                counts.tiers[one.tier] += 1
                counts.filled += FILLED_IN in sidecar
            known.add(key)
    if counts.filled:
        counts.notes.append(
            f"{counts.filled:,} coins lack a name, ticker, description or time; it is filled in, "
            f"and “{FILLED_IN}” lists what was missing."
        )
    return counts


def add(
    library: "Library",
    read: Read,
    survey: DataSurvey,
    request: AdoptionRequest,
    progress: Progress,
) -> tuple[AdoptionReport, dict[str, Candidate]]:
    """Add the coins, each to its tier, as part of the request's decision.

    Coins that are there get what they lack. The second value has the other program's version of these.
    """
    report = AdoptionReport(survey.system, str(survey.path), decision=request.decision)
    given: dict[str, Candidate] = {}

    def seen() -> Iterable[Candidate | Refusal]:
        for one in read():
            if isinstance(one, Candidate) and isinstance(one.picture, Path):
                given[str(one.sidecar["token_address"])] = one
            yield one

    progress.what = "coins"
    done = library.add(
        seen(), source=f"{survey.title}: {survey.path.name}", decision=request.decision, embed=False,
        progress=progress, actor=request.actor,
    )  # fmt: skip
    done.raise_failure()
    # Those that an interrupted try decided, some of which waited for the disk until now.
    known = [*done.present, *(refusal.item for refusal in done.refused)]
    earlier = set(_of_decision(library, request.decision, known))
    report.taken += [*(address for address in known if address in earlier), *done.done]
    report.refused += [refusal for refusal in done.refused if refusal.item not in earlier]
    present = [address for address in done.present if address not in earlier]
    report.taken += [address for address in done.completed if address not in earlier]
    report.present += [address for address in present if address not in set(done.completed)]
    report.notes += done.notes
    return report, {address: given[address] for address in done.present if address in given}


class Origins:
    """What another program's vectors were made of, compared with what a coin says by now."""

    def __init__(self, library: "Library", there: Mapping[str, Candidate], *, is_own: bool) -> None:
        """`there` has its version of coins that the library had before; `is_own`: it is this library."""
        self._library = library
        self._there = there
        self._is_own = is_own
        self._pictures: dict[str, str] = {}

    def is_of(self, record: Record, facet: Facet) -> bool:
        """Whether the coin still has the text or picture that its vector there was made of."""
        if self._is_own:
            events = self._library.history(address=record.address, limit=_EVENTS)
            first = events[-1].after if events else None
            if first is None or facet == "image":
                return first is None or first.image_hash == record.image_hash
            before = json.loads(self._library.sidecar_text(first.sidecar_hash) or "{}")
            return _text(before.get("caption"), facet) == _text(record.caption, facet)
        candidate = self._there.get(record.address)
        if candidate is None:
            return True
        if facet == "image":
            return self._picture(candidate) == record.image_hash
        return _text(candidate.sidecar.get("caption"), facet) == _text(record.caption, facet)

    def _picture(self, candidate: Candidate) -> str:
        from store.disk.images import normalise  # Pillow comes along

        address = str(candidate.sidecar["token_address"])
        if address not in self._pictures:
            try:
                self._pictures[address] = content_hash(normalise(candidate.picture))
            except (BadPicture, OSError):
                self._pictures[address] = ""
        return self._pictures[address]


def _text(caption: object, facet: str) -> str:
    return str(caption.get(facet) or "") if isinstance(caption, Mapping) else ""


def _of_decision(library: "Library", decision: str, addresses: list[str]) -> list[str]:
    with library.catalog.reading() as db:
        return history.of_decision(db, decision, among=addresses)
