"""The newest coins of the library, to start with."""

from components.grid.actions import CAPTION, LIKE
from components.grid.grid import show_cards
from store import Filter, Library


def show(key: str, library: Library, *, limit: int) -> None:
    """Some pictures, each with links to its caption and to similar coins."""
    records = library.find(Filter(tier="library"), limit=limit)
    if records:
        show_cards(key, library, records, actions=[LIKE, CAPTION])
