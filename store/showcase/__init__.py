"""Coins as one HTML file, to be shown to people who have no Memedex.

page(reader, addresses, asked=Asked("sad frog", query))     # bytes; ranked in the browser by its sliders
"""

from store.showcase.page import MOST, Asked, asked, page
from store.showcase.scripts import bundled

__all__ = ["MOST", "Asked", "asked", "bundled", "page"]
