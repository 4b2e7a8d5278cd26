"""Every kind of long work that a library can go on with after the end of the program."""

from store import drafting, exporting, fetching, inventing, maps, moving, reversing, switching, tagging
from store.captions import takeovers
from store.jobs import Kind

KINDS: tuple[Kind, ...] = (
    drafting.KIND,
    exporting.KIND,
    fetching.KIND,
    inventing.KIND,
    maps.KIND,
    moving.KIND,
    reversing.KIND,
    switching.KIND,
    tagging.KIND,
    takeovers.KIND,
)
