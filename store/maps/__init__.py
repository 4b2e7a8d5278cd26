"""Where the records of the library lie in two dimensions, one map for each facet and one for all together.

    library.maps.of("entity")                                  # at once: `pca`
    library.jobs.start("map", name="…", options={"space": "entity"})
    library.maps.of("entity", "tsne")                          # once that is done: `tsne`

At once, the two directions in which a facet's vectors differ most; better, and in the background, t-SNE,
which keeps neighbours together. A map stays as it is while records come and go: new ones are laid along its
directions, or between their nearest neighbours (`between`), and no other moves until a map is made anew.
"""

from store.maps.arranging import KIND
from store.maps.chart import LEAST, Map, Method
from store.maps.maps import Maps
from store.maps.spaces import SPACES, Space

__all__ = ["KIND", "LEAST", "SPACES", "Map", "Maps", "Method", "Space"]
