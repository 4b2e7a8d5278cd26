"""Export records in formats that other programs read and that can be imported again.

export(records, library.picture, destination=path, format="imagefolder")     # at once, to a new place

`store/tasks/export.py` makes a zip: `start` in the background, `zipped` as bytes for a few records.
"""

from store.captions.caption_text import JOINED
from store.exporting.formats import FORMATS, TEXTS, ExportReport, Format, export

__all__ = ["FORMATS", "JOINED", "TEXTS", "ExportReport", "Format", "export"]
