"""A record as a card of the grid, with what it may be a copy of."""

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from components.grid.fields import NO_AGE, facts
from components.shell import format
from components.shell.server import pictures
from components.shell.session import safe_mode
from store import DuplicateFinding, Reader, Record, Suspect, Suspicion
from store.records import Tier

Tone = Literal["good", "warn", "bad", "busy", "quiet"] | Tier

# What two coins share: as the card of one names the other, alone, and its colour. The first is said first.
SHARED: Mapping[str, tuple[str, str, Tone]] = {
    "exact picture": ("same picture as", "same picture", "warn"),
    "mirrored": ("mirrored copy of", "mirrored copy", "warn"),
    "near picture": ("copy of", "nearly the same picture", "warn"),
    "same name": ("same name as", "same name", "warn"),
    "confusable name": ("name looks like", "names look alike", "warn"),
    "similar embedding": ("looks like", "pictures look alike", "warn"),
    "confusable ticker": ("ticker looks like", "tickers look alike", "warn"),
    "same ticker": ("same ticker as", "same ticker", "quiet"),
}

_SHORT = 200  # characters of a description that travel with every card
_TAGS = 4


class Mark(TypedDict):
    """The text and colour of a card's corner."""

    label: str
    tone: Tone


def card(
    library: Reader,
    record: Record,
    *,
    unfit: frozenset[str],
    mark: Mark | None = None,
    suspicion: Suspicion | None = None,
) -> dict[str, Any]:
    """The data of a card; `unfit`: `library.unfit.pictures()`, asked once for all cards."""
    record = safe_mode.shown(library, record, unfit=unfit)
    return {
        "address": record.address,
        "name": record.name,
        "ticker": record.ticker,
        "tier": record.tier,
        "created_at": record.created_at,
        "no_age": bool(record.sidecar.get(NO_AGE)),
        "created": created(record),
        "revision": record.revision,
        "tags": record.tags[:_TAGS],
        "description": record.description[:_SHORT],
        "picture": pictures.address(library, record.image_hash, unfit=unfit),
        "large": pictures.address(library, record.image_hash, size=pictures.LARGE, unfit=unfit),
        "facts": facts(record),
        "mark": mark,
        "twin": _twin(library, suspicion) if suspicion else None,
    }


def _twin(library: Reader, suspicion: Suspicion) -> dict[str, str]:
    """What a card says of similar coins, and under the pointer how sure that is."""
    shares = {suspect: strongest(suspect).kind for suspect in suspicion.others}
    first = min(suspicion.others, key=lambda suspect: list(SHARED).index(shares[suspect]), default=None)
    kind = shares[first] if first else suspicion.kind
    of, alone, tone = SHARED[kind]
    if first is None:
        return {"text": alone, "title": "Compare (d)", "tone": tone}
    number = list(shares.values()).count(kind)
    other = safe_mode.shown_name(library, first.other, first.name) if number == 1 else f"{number:,}"
    confidence = figure(strongest(first))
    sure = f", {confidence:.0%}" if confidence is not None else ""
    return {"text": f"{of} {other}", "title": f"{of} {other}{sure}: compare (d)", "tone": tone}


def strongest(suspect: Suspect) -> DuplicateFinding:
    """Of what two coins share, what says most."""
    return min(suspect.findings, key=lambda finding: list(SHARED).index(finding.kind))


def tier_mark(record: Record) -> Mark | None:
    """Where a coin is, for pages that show all tiers; nothing for those of the library."""
    return {"label": format.TIERS[record.tier], "tone": record.tier} if record.tier != "library" else None


def figure(finding: DuplicateFinding) -> float | None:
    """How likely such pictures are copies, where that is measured; words say the rest."""
    return finding.confidence if finding.is_measured else None


def created(record: Record) -> str:
    """When the coin was created, or imported if it came without a time of its own."""
    word = "Imported" if record.sidecar.get(NO_AGE) else "Created"
    return f"{word} {format.moment(record.created_at, '%-d %b %Y, %H:%M UTC')}"
