"""A record in the grid: short for the card, complete for the large view."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal, TypedDict
from urllib.parse import urlencode

from components.grid.fields import NO_AGE, created, shown_fields
from components.shell import format
from components.shell.server import pictures
from components.shell.session import presenter, safe_mode
from store import Reader, Record, Suspicion
from store.errors import InvalidRecord, UnknownRecord
from store.records import UNFIT, Tier, is_made_up

Tone = Literal["good", "warn", "bad", "busy", "quiet"]

_SHORT = 200  # characters of a description that travel with every card
_TAGS = 4
_TIER_TONES: dict[Tier, Tone] = {"pending": "warn", "approved": "good", "trash": "bad"}


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
        "created_at": record.created_at,
        "no_age": bool(record.sidecar.get(NO_AGE)),
        "created": created(record),
        "revision": record.revision,
        "tags": record.tags[:_TAGS],
        "description": record.description[:_SHORT],
        "picture": pictures.address(library, record.image_hash, unfit=unfit),
        "large": pictures.address(library, record.image_hash, size=pictures.LARGE, unfit=unfit),
        "mark": mark,
        "twin": suspicion.kind if suspicion else None,
    }


def tier_mark(record: Record) -> Mark | None:
    """Where a coin is, for pages that show all tiers; nothing for those of the library."""
    tone = _TIER_TONES.get(record.tier)
    return {"label": format.TIERS[record.tier], "tone": tone} if tone else None


def details(library: Reader, addresses: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Everything about these coins, for the large view."""
    found = {}
    for address in addresses:
        try:
            found[address] = _detail(library, library.get(address))
        except (UnknownRecord, InvalidRecord):
            continue
    return found


def explorer(record: Record) -> dict[str, str] | None:
    """The token's page in a block explorer; None for an address that no chain knows."""
    if is_made_up(record.address) or record.sidecar.get("fictional"):
        return None
    if record.address.startswith("0x"):
        return {"label": "Etherscan", "href": f"https://etherscan.io/token/{record.address}"}
    return {"label": "Solscan", "href": f"https://solscan.io/token/{record.address}"}


def _text(library: Reader, record: Record) -> dict[str, str]:
    """The text in the picture, and who says so."""
    found = library.picture_texts.of(record.address)
    if found.source == "person":
        note = "Written by a person"
    elif found.source == "program":
        note = "Read by a program" if found.text else "No text was found."
    else:
        missing = library.picture_texts.missing_reader
        note = f"Not read: {missing}" if missing else "Not read yet"
    return {"text": found.text, "source": found.source, "read": found.read, "note": note}


def _detail(library: Reader, record: Record) -> dict[str, Any]:
    shown, reasons = safe_mode.shown(library, record), library.unfit.of(record.address)
    if shown is not record and "word" in reasons:
        reasons["word"] = "a word of the list"  # the reason itself quotes it
    return {
        "description": shown.description,
        "tags": record.tags,
        "caption": shown.caption,
        "text": _text(library, record) if shown is record else None,
        "unfit": ", ".join(reasons.values()),
        "saysUnfit": UNFIT in record.sidecar,
        "fields": shown_fields(shown),
        "explorer": explorer(record),
        "mentions": {
            "label": "What lore and memory say of it",
            "href": f"lore?{urlencode({'view': 'Connections', 'coin': record.address})}",
        },
        "history": [
            {
                "what": f"{format.done(event.verb).capitalize()} by {presenter.name(event.actor)}"
                + (f": {event.reason}" if event.reason else "")
                + (" (undone)" if event.is_undone else ""),
                "when": datetime.fromtimestamp(event.created_at, UTC).strftime("%Y-%m-%d %H:%M"),
            }
            for event in library.history(address=record.address, limit=20)
        ],
    }
