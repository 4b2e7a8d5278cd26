"""Import and export: coins as files for other programs, captions and other programs' data after a preview."""

from components.captions import import_captions
from components.exchange import adopt, export, import_coins
from components.shell.page.frame import open_page

library = open_page("Import & export")

import_coins.section(library)
export.show(library)
import_captions.show(library)
adopt.show(library)
