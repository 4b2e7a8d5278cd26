"""The whole library by how well the captions fit the picture: wrong captions show themselves."""

from components import suspicious
from components.frame import open_page

library = open_page("Suspicious captions")
suspicious.show(library)
