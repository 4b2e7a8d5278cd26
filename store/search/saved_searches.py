"""Saved searches, weights and filters, each under a name for everybody."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from store.catalog.catalog import Catalog
from store.catalog.named_values import NamedValues
from store.records import Facet
from store.search.presets import ASKED
from store.vectors.weights import checked_weights


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A query line with its ranking and number of hits, and when each person last looked."""

    line: str
    weights: Mapping[Facet, float] | None = None  # None: the usual ones
    looked: Mapping[str, float] = field(default_factory=dict, compare=False)  # UNIX seconds by person
    calibrated: bool = False
    folded: bool = False  # copies of one coin are one result
    shown: int | None = None  # results; None: as many as the page shows
    fused: bool = True  # the words of the question count
    shifted: bool = False  # by its marks


class SavedSearches(NamedValues[SavedSearch]):
    """`library.searches`: saved searches, and when each person last looked at their results."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(
            catalog,
            "saved searches",
            noun="search",
            read=lambda kept: SavedSearch(**kept),
            written=asdict,
        )

    def mark_seen(self, name: str, *, actor: str = "") -> None:
        """Mark this search's results as seen by this person; does nothing if the search is gone."""
        with self._catalog.lock:
            if search := self.all().get(name):
                self.save(
                    name,
                    replace(search, looked={**search.looked, actor or self._catalog.actor.name: time.time()}),
                )


def filters(catalog: Catalog) -> NamedValues[str]:
    """Saved filter lines."""
    return NamedValues(catalog, "saved filters", noun="filter")


def presets(catalog: Catalog) -> NamedValues[Mapping[Facet, float]]:
    """Saved weights of the sliders."""
    return NamedValues(catalog, "weight presets", noun="preset", written=checked_weights, reserved=ASKED)
