"""The newest coins of the library, to begin with."""

from components.grid import CAPTION, LIKE, go_to, show_cards
from store.filter import Filter
from store.library import Library

WAYS = {"like": go_to("pages/search.py", "like"), "caption": go_to("pages/captions.py", "address")}


def show(key: str, library: Library, *, limit: int) -> None:
    """Some pictures, each with the way to its caption and to others like it."""
    records = library.find(Filter(tier="library"), limit=limit)
    if records:
        show_cards(key, library, records, actions=[LIKE, CAPTION], handlers=WAYS)
