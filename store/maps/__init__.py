"""Maps: the library's records in two dimensions, by one facet or by all together.

    library.maps.of("entity")                                  # at once: `pca`
    library.jobs.start("map", name="…", options={"space": "entity"})
    library.maps.of("entity", "tsne")                          # once that is done: `tsne`
    library.maps.neighbourhoods("entity")                      # … and its named places

At once, the two directions in which a facet's vectors differ most; in the background, t-SNE, which keeps
neighbours together. A map stays as it is while records come and go: new ones are placed along its directions,
or between their nearest neighbours (`layout.py`), and no other moves until a new map is made.
"""

from store.maps.layout import LEAST, SPACES, Map, Method, Space
from store.maps.maps import Maps
from store.maps.neighbourhoods import COMPARED, Neighbourhood, common_terms, has_term

__all__ = [
    "COMPARED",
    "LEAST",
    "SPACES",
    "Map",
    "Maps",
    "Method",
    "Neighbourhood",
    "Space",
    "common_terms",
    "has_term",
]
