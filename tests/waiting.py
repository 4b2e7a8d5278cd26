"""Waiting for what comes true, where nothing tells of it."""

import threading
import time
from collections.abc import Callable


def eventually(holds: Callable[[], bool], *, within: float = 60.0, every: float = 0.05) -> bool:
    """Whether it comes true within so many seconds, looked at again and again."""
    tick, end = threading.Event(), time.monotonic() + within
    while not holds():
        if time.monotonic() > end:
            return False
        tick.wait(every)
    return True
