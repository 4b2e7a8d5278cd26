"""Import and export: coins as files for other programs, captions and other programs' data after a preview."""

from components.captions import import_captions
from components.exchange import adopt, export
from components.shell.page import open_page

library = open_page("Import & export")

export.show(library)
import_captions.show(library)
adopt.show(library)
