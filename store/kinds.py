"""Every kind of long work that a library can go on with after the end of the program."""

from store import moving, switching
from store.jobs import Kind

KINDS: tuple[Kind, ...] = (moving.KIND, switching.KIND)
