"""Work that is done one piece at a time, in the order in which it comes."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class FairLock:
    """Runs one worker at a time, so that page requests keep half of the interpreter's time."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()

    @contextmanager
    def acquire(self, *, unless: Callable[[], bool]) -> Iterator[None]:
        """Wait until all that came before are done, or until `unless` holds after `recheck`."""
        mine = object()
        with self._changed:
            self._waiting.append(mine)
            self._changed.wait_for(lambda: self._waiting[0] is mine or unless())
        try:
            yield
        finally:
            with self._changed:
                self._waiting.remove(mine)
                self._changed.notify_all()

    def recheck(self) -> None:
        """Let all that wait look again whether they still want to."""
        with self._changed:
            self._changed.notify_all()
