"""What a search is kept by: its question, its weights, its filter, each under a name for everybody."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from store.catalog import Catalog
from store.people import myself
from store.records import Facet
from store.search.presets import ASKED
from store.search.query import checked_weights
from store.shelf import Shelf


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A question as its line, how its answer is ranked and how much of it is shown, and who looked when."""

    line: str
    weights: Mapping[Facet, float] | None = None  # None: the usual ones
    looked: Mapping[str, float] = field(default_factory=dict, compare=False)  # UNIX seconds by person
    calibrated: bool = False
    folded: bool = False  # copies of one coin are one result
    shown: int | None = None  # results; None: as many as the page shows


class SavedSearches(Shelf[SavedSearch]):
    """`library.searches`: questions, with when each person last looked at what they find."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(
            catalog,
            "saved searches",
            noun="search",
            read=lambda kept: SavedSearch(**kept),
            written=asdict,
        )

    def look(self, name: str, *, who: str = "") -> None:
        """What this search finds now is no longer new to this person; nothing where it is gone."""
        with self._catalog.lock:
            if search := self.all().get(name):
                self.save(name, replace(search, looked={**search.looked, who or myself(): time.time()}))


def filters(catalog: Catalog) -> Shelf[str]:
    """Lines for filtering."""
    return Shelf(catalog, "saved filters", noun="filter")


def presets(catalog: Catalog) -> Shelf[Mapping[Facet, float]]:
    """Weights of the sliders."""
    return Shelf(catalog, "weight presets", noun="preset", written=checked_weights, reserved=ASKED)
