"""Import and export: coins as files for other programs, and captions from files after a preview."""

from components.captions import import_captions
from components.exchange import export
from components.shell.page import open_page

library = open_page("Import & export")

export.show(library)
import_captions.show(library)
