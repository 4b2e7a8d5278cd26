"""The palette: places, coins and what the page offers, found by a few letters."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from components.shell import format, javascript
from components.shell.page import places
from components.shell.server import messages, pictures
from components.shell.server.messages import Kind, Sender
from components.shell.session import safe_mode
from store import Filter, Library, Record

_FOUND = 8  # coins
_VIEWS = {
    "Rules": places.RULES, "Family of a coin": places.FAMILY, "Rejected coins": places.REJECTED,
    "Check captions": places.CAPTION_CHECK, "AI drafts": places.DRAFTS,
    "Find and replace in captions": places.REPLACE, "Search quality": places.QUALITY,
    "Texts of the memory": places.TEXTS, "What agents wrote": places.WRITTEN_BY_AGENTS,
    "Import and export": places.IMPORT, "Embedding model": places.MODEL,
    "Language model": places.LANGUAGE_MODEL, "Tags": places.TAGS, "Safe mode": places.SAFE_MODE,
    "Past prompts": places.PROMPTS, "System status": places.STATUS,
}  # fmt: skip
_component = javascript.mounted(
    "palette",
    '<div class="memedex-palette"></div>',
    script="shell/page/palette.js",
    style="shell/page/palette.css",
)


@dataclass(frozen=True, slots=True)
class CoinsQuestion:
    """Part of a ticker, a name or an address."""

    words: Annotated[str, Field(max_length=200)]


def show(library: Library) -> None:
    """The button that opens it."""
    data = {
        "server": messages.server(library),
        "places": [*_places(), *_views()],
        "switches": safe_mode.switches(),
    }
    _component(key="memedex-palette", data=data)


def answer(library: Library, question: CoinsQuestion, _: Sender) -> object:
    """The coins that are called so, exact tickers first."""
    found = library.named(question.words, Filter(), limit=_FOUND)
    return {"coins": [_coin(library, record) for record in found]}


def _coin(library: Library, record: Record) -> dict[str, object]:
    shown = safe_mode.shown(library, record)
    return {
        "name": shown.name,
        "ticker": shown.ticker,
        "tier": format.TIERS[record.tier],
        "picture": pictures.address(library, record.image_hash) if record.image_hash else "",
        "link": places.address(places.coin(record.address, record.tier)),
    }


def _places() -> list[dict[str, object]]:
    return [
        {
            "name": place.name,
            "about": place.about,
            "letter": place.letter,
            "link": places.address(places.to(place.name)),
        }
        for place in places.PLACES.values()
    ]


def _views() -> list[dict[str, object]]:
    return [
        {"name": name, "about": "", "letter": "", "link": places.address(link)}
        for name, link in _VIEWS.items()
    ]


KIND = Kind("find-coins", CoinsQuestion, answer)
