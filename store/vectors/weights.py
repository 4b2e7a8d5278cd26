"""The weight of each facet in a search: defaults, named weights, and validation."""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal

from store.errors import InvalidRecord
from store.records import FACETS, Facet

Kind = Literal["text", "image", "like"]
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


def checked_weights(weights: Mapping[Facet, float]) -> dict[Facet, float]:
    """All five weights, 0 for those not given. Raises InvalidRecord for a bad facet or weight."""
    check_facets(weights)
    checked = {
        facet: checked_number(weights.get(facet, 0.0), what=f"the weight of {facet}") for facet in FACETS
    }
    for facet, weight in checked.items():
        if weight < 0:
            raise InvalidRecord(f"the weight of {facet} is {weight:g}; weights are 0 or more")
    return checked


def check_facets(names: Iterable[str]) -> None:
    """Raises InvalidRecord if one of these is not a facet."""
    unknown = [str(name) for name in names if name not in FACETS]
    if unknown:
        raise InvalidRecord(f"{', '.join(unknown)} is not a facet; these are: {', '.join(FACETS)}")


def checked_number(value: object, *, what: str) -> float:
    """The weight as a finite float, at most MAX_WEIGHT either way. Raises InvalidRecord, naming `what`."""
    is_infinite = isinstance(value, float) and not math.isfinite(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or is_infinite:
        raise InvalidRecord(f"{what} is {value!r}; it must be a number")
    if abs(value) > MAX_WEIGHT:  # an integer of 400 digits is no float
        raise InvalidRecord(f"{what} is above {MAX_WEIGHT:,.0f}, the most that is allowed")
    return float(value)


DEFAULT_PRESET = "Default 4/3/2/1"
PRESETS: Mapping[str, Mapping[Facet, float]] = MappingProxyType(
    {
        DEFAULT_PRESET: {"entity": 4, "context": 3, "visual": 2, "emotions": 1},
        "Looks": {"image": 3, "entity": 1, "visual": 4},
        "Meaning": {"entity": 2, "context": 4, "emotions": 1},
        "Mood": {"context": 1, "visual": 1, "emotions": 4},
        "Picture only": {"image": 4},
    }
)
ASKED: Mapping[str, Mapping[Facet, float]] = MappingProxyType(  # by the evaluation
    {**PRESETS, "With the picture": {"image": 4, **PRESETS[DEFAULT_PRESET]}}
)
