"""Every kind of long work that a library can go on with after the end of the program."""

from store import drafting, fetching, maps, moving, switching, tagging, takeovers
from store.jobs import Kind

KINDS: tuple[Kind, ...] = (
    drafting.KIND,
    fetching.KIND,
    maps.KIND,
    moving.KIND,
    switching.KIND,
    tagging.KIND,
    takeovers.KIND,
)
