"""Named weights for everybody, on the page's buttons and in the evaluation."""

from collections.abc import Mapping
from types import MappingProxyType

from store.records import Facet

DEFAULT = "Default 4/3/2/1"
PRESETS: Mapping[str, Mapping[Facet, float]] = MappingProxyType(
    {
        DEFAULT: {"entity": 4, "context": 3, "visual": 2, "emotions": 1},
        "Looks": {"image": 3, "entity": 1, "visual": 4},
        "Meaning": {"entity": 2, "context": 4, "emotions": 1},
        "Mood": {"context": 1, "visual": 1, "emotions": 4},
        "Picture only": {"image": 4},
    }
)
ASKED: Mapping[str, Mapping[Facet, float]] = MappingProxyType(  # by the evaluation
    {**PRESETS, "With the picture": {"image": 4, **PRESETS[DEFAULT]}}
)
