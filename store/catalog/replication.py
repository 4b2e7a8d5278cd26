"""How far a replica is behind: while Litestream copies a catalog, the writer stores the time in it."""

import time

from store.catalog.catalog import Catalog
from store.disk.sqlite import is_replica

EVERY = 5.0  # seconds
LATE = 60.0  # seconds behind, from which something is wrong
_KEY = "written_at"  # in `meta`, UNIX seconds by the writer's clock


def stamp(catalog: Catalog, *, now: float) -> bool:
    """Store the time for replicas; False, with nothing written, if Litestream does not copy this catalog."""
    is_copied = catalog.row("SELECT 1 FROM sqlite_master WHERE name = '_litestream_seq'")
    if is_copied:
        catalog.set_meta(_KEY, f"{now:.3f}")
    return bool(is_copied)


def seconds_behind(catalog: Catalog) -> float | None:
    """Seconds since the writer's last stamp that has arrived, by both machines' clocks; None for no replica.

    At least 0, at most EVERY more than what Litestream takes; infinite if no stamp has arrived yet.
    """
    if not is_replica(catalog.path):
        return None
    stamped = catalog.meta(_KEY)
    return max(0.0, time.time() - float(stamped)) if stamped else float("inf")
