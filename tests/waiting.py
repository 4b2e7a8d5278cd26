"""Polling for a condition that no event announces."""

import threading
import time
from collections.abc import Callable


def eventually(holds: Callable[[], bool], *, within: float = 60.0, every: float = 0.05) -> bool:
    """Whether the condition becomes true within this many seconds."""
    tick, end = threading.Event(), time.monotonic() + within
    while not holds():
        if time.monotonic() > end:
            return False
        tick.wait(every)
    return True
