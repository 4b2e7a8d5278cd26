"""What proposes candidates as an index of nearest neighbours would that misses none."""

from collections.abc import Iterable, Mapping

import numpy as np

from store.chroma.nearest import EVERYTHING, Limits, Nearest
from store.embedding.arrays import Vector
from store.records import CAPTION_FACETS, Facet


class PerfectLists:
    """Compares a direction with all vectors of a facet, in memory; filters nothing."""

    most = None

    def __init__(self, rows: Iterable[tuple[str, Mapping[Facet, Vector]]]) -> None:
        kept: dict[Facet, dict[str, Vector]] = {facet: {} for facet in CAPTION_FACETS}
        for address, own in rows:
            for facet in kept.keys() & own.keys():
                kept[facet][address] = own[facet]
        self._facets = {facet: (list(own), np.stack(list(own.values()))) for facet, own in kept.items()}

    def nearest(
        self, directions: Mapping[Facet, Vector], *, n: int, limits: Limits = EVERYTHING
    ) -> dict[Facet, Nearest]:
        """As `ServerLists.nearest`."""
        return {facet: self._nearest(facet, direction, n) for facet, direction in directions.items()}

    def _nearest(self, facet: Facet, direction: Vector, n: int) -> Nearest:
        addresses, vectors = self._facets[facet]
        cosines = vectors @ direction
        best = np.argsort(-cosines)[:n]
        return [addresses[at] for at in best], cosines[best].tolist()
