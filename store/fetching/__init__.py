"""Pictures from the network, only when somebody asks: design section 10.

guard.py        which addresses may be connected to, and connecting to the very one that was checked
download.py     one picture, under limits of size, type and time
logos.py        those of a whole token list: a few at a time, politely, kept as a job that goes on
"""

from store.jobs import Kind, Shift


def _fetch(shift: Shift) -> None:
    from store.fetching.logos import fetch  # httpx comes along

    fetch(shift)


KIND = Kind("logos", _fetch, queue="network")
