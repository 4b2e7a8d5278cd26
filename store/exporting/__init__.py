"""Records out of the library, in forms that other programs read and that can be imported again.

export(records, library.picture, destination=path, format="imagefolder")     # at once, to a new place
start(library, addresses, format="txt", texts="entity")                     # in the background, as a zip
zipped(library, addresses, format="csv")                                    # a few at once, as bytes
"""

from store.captions.joined import JOINED
from store.exporting.formats import FORMATS, TEXTS, Exported, Format, export
from store.exporting.job import AT_ONCE, KEPT, KIND, destination, remove, start, zipped

__all__ = [
    "AT_ONCE",
    "FORMATS",
    "JOINED",
    "KEPT",
    "KIND",
    "TEXTS",
    "Exported",
    "Format",
    "destination",
    "export",
    "remove",
    "start",
    "zipped",
]
