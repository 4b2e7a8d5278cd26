"""The whole library by how well captions fit their pictures, to find wrong captions."""

from components.search import caption_fit
from components.shell.page.frame import open_page

library = open_page("Caption QA")
caption_fit.show(library)
