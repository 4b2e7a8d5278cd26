"""In and out: coins as files for other programs, and captions back from them after a preview."""

from components import exporting, takeover
from components.frame import open_page

library = open_page("In and out")

exporting.show(library)
takeover.show(library)
