"""The health of a library, as pages show it."""

from dataclasses import dataclass

from store.catalog import rows
from store.catalog.catalog import Catalog
from store.embedding.active_model import ActiveModel


@dataclass(frozen=True, slots=True)
class Status:
    """The library's health, in words for a page."""

    model: str
    model_status: str
    can_write: bool
    chroma_behind: int  # records
    applying: tuple[str, ...]  # addresses in operations that are decided and not finished
    generation: int
    chroma_fault: str = ""  # "" while Chroma follows
    chroma_place: str = ""  # "off", a server, or "" for the library's folder
    stuck: str = ""  # why a decided operation is not finished; "" when all are
    faults: tuple[str, ...] = ()  # files that cannot be taken in
    moved_aside: tuple[str, ...] = ()  # what others left in the way, and where it lies now
    comparing: tuple[int, int] | None = None  # files compared with the catalog, of how many; None: all
    unreadable: tuple[str, ...] = ()  # pictures that cannot be embedded; they are tried again
    seconds_behind: float | None = None  # of a replica, behind the writer


def waiting_for_vectors(catalog: Catalog, model: ActiveModel, count: int | None = None) -> str:
    """How many coins of the library wait for vectors, and why, as a sentence; "" if none does.

    `count` is how many, if that is known; else they are counted, two seconds for a million.
    """
    if count is None:
        with catalog.reading() as db:
            count = rows.without_vectors(db)
    if not count:
        return ""
    coins = "1 coin of the library waits" if count == 1 else f"{count:,} coins of the library wait"
    if model.status.startswith("unavailable"):
        return f"{coins} for vectors, because the model is {model.status}"
    return f"{coins} for vectors by {model.name}: doctor --repair (System status: Repair) computes them"
