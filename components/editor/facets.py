"""The purpose of each facet, with examples."""

from dataclasses import asdict, dataclass
from typing import Any

from store.records import CAPTION_FACETS, MAX_FACET, REQUIRED_FACETS, Facet
from store.search import DEFAULT_WEIGHTS


@dataclass(frozen=True, slots=True)
class Purpose:
    """The question of a facet, when it may be left empty, and an example."""

    label: str
    asks: str
    example: str
    leave_out: str = ""


PURPOSES: dict[Facet, Purpose] = {
    "entity": Purpose(
        "Entity",
        "What is in it: characters, things, what they do and where.",
        "A frog in a raincoat on a lily pad, holding a tiny umbrella; a coin lies in the water next to it.",
    ),
    "context": Purpose(
        "Context",
        "What it means: which meme, which culture, what is ironic.",
        "Plays on the frog memes of imageboards and on “buying the dip”: the rain is the falling market.",
    ),
    "visual": Purpose(
        "Visual",
        "How it looks: style, colours, composition.",
        "Flat pixel art in teal and mustard, centred, thick outlines, no lettering.",
        "a plain photograph, an unremarkable composition, a standard template",
    ),
    "emotions": Purpose(
        "Emotions",
        "How it feels: tone, humour, energy.",
        "Melancholy but cosy; deadpan humour; patient.",
        "neutral, purely informative, or of unclear intent",
    ),
}


def described() -> list[dict[str, Any]]:
    """The facets for the page, in their order, each with its weight in a search."""
    weights = DEFAULT_WEIGHTS["text"]
    return [
        {
            "facet": facet,
            "weight": weights[facet],
            "required": facet in REQUIRED_FACETS,
            "most": MAX_FACET,
            **asdict(PURPOSES[facet]),
        }
        for facet in CAPTION_FACETS
    ]
