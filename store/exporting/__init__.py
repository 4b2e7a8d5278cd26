"""Export records in formats that other programs read and that can be imported again.

export(records, library.picture, destination=path, format="imagefolder")     # at once, to a new place
start(library, addresses, format="txt", texts="entity")                     # in the background, as a zip
zipped(library, addresses, format="csv")                                    # a few at once, as bytes
"""

from store.captions.caption_text import JOINED
from store.exporting.formats import FORMATS, TEXTS, Exported, Format, export

__all__ = [
    "FORMATS",
    "JOINED",
    "TEXTS",
    "Exported",
    "Format",
    "export",
]
