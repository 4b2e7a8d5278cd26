"""What is asked: texts, pictures and examples, what each facet weighs, how many hits, among which records."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import Literal

from store.errors import InvalidRecord
from store.filter import Filter
from store.records import FACETS, MAX_FACET, Facet, checked_address

Kind = Literal["text", "image", "like"]
PartKey = tuple[Kind, str]

EVERYTHING = Filter()
MAX_TOP = 10_000
MAX_PARTS = 32
MAX_WEIGHT = 1e6  # far above any slider; keeps sums finite

# A text says nothing of looks that captions would not say better, a picture nothing in words; an example
# speaks through all five of its facets.
DEFAULT_WEIGHTS: Mapping[Kind, Mapping[Facet, float]] = MappingProxyType(
    {
        "text": MappingProxyType(
            {"image": 0.0, "entity": 4.0, "context": 3.0, "visual": 2.0, "emotions": 1.0}
        ),
        "image": MappingProxyType(
            {"image": 4.0, "entity": 0.0, "context": 0.0, "visual": 0.0, "emotions": 0.0}
        ),
        "like": MappingProxyType(
            {"image": 4.0, "entity": 4.0, "context": 3.0, "visual": 2.0, "emotions": 1.0}
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Part:
    """A text, a picture or an example (the address of a library record); a negative weight is a minus.

    An example (`like`) is compared facet by facet, its picture with pictures, its entity with entities;
    where it lacks a facet it has no say there. `facets` limits what any part speaks about.
    """

    text: str | None = None
    image: bytes | None = field(default=None, repr=False)
    like: str | None = None
    weight: float = 1.0
    facets: tuple[Facet, ...] = FACETS
    key: PartKey = field(init=False, repr=False, compare=False)  # what is embedded, whatever it weighs

    def __post_init__(self) -> None:
        if sum(given is not None for given in (self.text, self.image, self.like)) != 1:
            raise InvalidRecord("a part of a query is either a text, a picture or an example")
        if self.text is not None and not self.text.strip():
            raise InvalidRecord("the text to search for is empty")
        if self.text is not None and not self.text.isascii() and any(map(_is_half, self.text)):
            raise InvalidRecord("the text to search for holds half a character: it was not UTF-8")
        if self.text is not None and len(self.text) > MAX_FACET:
            raise InvalidRecord(
                f"the text to search for has {len(self.text):,} characters, at most {MAX_FACET:,} are allowed"
            )
        if self.image is not None and not self.image:
            raise InvalidRecord("the picture to search for is empty")
        if self.like is not None:
            object.__setattr__(self, "like", checked_address(self.like))
        object.__setattr__(self, "weight", _number(self.weight, what="a part's weight"))
        _known_facets(self.facets)
        if not self.facets:
            raise InvalidRecord("a part of a query speaks about at least one facet")
        object.__setattr__(self, "facets", tuple(facet for facet in FACETS if facet in self.facets))
        spoken = sha256(self.image).hexdigest() if self.image is not None else self.text or self.like
        object.__setattr__(self, "key", (self.kind, spoken))

    @property
    def kind(self) -> Kind:
        return "text" if self.text is not None else "image" if self.image is not None else "like"


@dataclass(frozen=True, slots=True)
class Query:
    """One question to the library; InvalidRecord (a ValueError) for one that has no meaning.

    `weights` are the sliders: those given are all there are, a facet not named weighs nothing. Without any,
    each facet weighs the most that one of the parts gives it by default.
    """

    parts: tuple[Part, ...]
    weights: Mapping[Facet, float] | None = field(default=None, hash=False)
    top: int = 50
    filter: Filter = EVERYTHING
    calibrated: bool = False  # every facet on one scale (calibration.py), or cosines as they are

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts:
            raise InvalidRecord("a query needs a text, a picture or an example")
        if len(self.parts) > MAX_PARTS:
            raise InvalidRecord(f"a query of {len(self.parts)} parts; at most {MAX_PARTS} are allowed")
        if not any(part.weight for part in self.parts):
            raise InvalidRecord("every part of the query weighs nothing")
        if isinstance(self.top, bool) or not isinstance(self.top, int) or not 1 <= self.top <= MAX_TOP:
            raise InvalidRecord(f"{self.top!r} results: ask for 1 to {MAX_TOP:,}")
        if self.weights is not None:
            object.__setattr__(self, "weights", MappingProxyType(checked_weights(self.weights)))

    @property
    def sliders(self) -> dict[Facet, float]:
        """The weight of every facet, in the order of FACETS."""
        if self.weights is not None:
            return dict(self.weights)
        asked = [part for part in self.parts if part.weight]
        usual = {facet: max(DEFAULT_WEIGHTS[part.kind][facet] for part in asked) for facet in FACETS}
        spoken = {facet for part in asked for facet in part.facets}
        if any(usual[facet] for facet in spoken):
            return usual
        # Of pictures alone, in words, or of captions, with a picture: it is meant.
        return {facet: DEFAULT_WEIGHTS["like"][facet] if facet in spoken else 0.0 for facet in FACETS}


def _is_half(character: str) -> bool:
    """Whether it is one of UTF-16's surrogates, which no tokenizer takes."""
    return "\ud800" <= character <= "\udfff"


def checked_weights(weights: Mapping[Facet, float]) -> dict[Facet, float]:
    """All five weights, those not given at 0; InvalidRecord for unknown facets and what is not a weight."""
    _known_facets(weights)
    checked = {facet: _number(weights.get(facet, 0.0), what=f"the weight of {facet}") for facet in FACETS}
    for facet, weight in checked.items():
        if weight < 0:
            raise InvalidRecord(f"the weight of {facet} is {weight:g}; weights are 0 or more")
    return checked


def _known_facets(names: object) -> None:
    unknown = [str(name) for name in names if name not in FACETS]  # type: ignore[attr-defined]
    if unknown:
        raise InvalidRecord(f"{', '.join(unknown)} is not a facet; these are: {', '.join(FACETS)}")


def _number(value: object, *, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidRecord(f"{what} is {value!r}; it must be a number")
    if abs(value) > MAX_WEIGHT:
        raise InvalidRecord(f"{what} is {value:g}; at most {MAX_WEIGHT:,.0f} is allowed")
    return float(value)
