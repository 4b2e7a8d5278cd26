"""Which vectors are being computed now, so that none is computed twice."""

import threading
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager


class InFlight:
    """Keys of the vectors that foreground decisions and the background worker are computing."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._foreground: Counter[str] = Counter()
        self._background: set[str] = set()

    @contextmanager
    def foreground(self, keys: Collection[str]) -> Iterator[None]:
        """Reserve keys for a foreground decision, until the block ends.

        Waits for the background worker to finish any of them; it will not start on the rest.
        """
        with self._change:
            self._change.wait_for(lambda: self._background.isdisjoint(keys))
            self._foreground.update(keys)
        try:
            yield
        finally:
            with self._change:
                self._foreground -= Counter(keys)

    @contextmanager
    def background(self, keys: Collection[str]) -> Iterator[set[str]]:
        """Reserve those of these keys that the background worker may compute, until the block ends.

        Never waits.
        """
        with self._change:
            self._background = set(keys) - self._foreground.keys()
        try:
            yield self._background
        finally:
            with self._change:
                self._background = set()
                self._change.notify_all()
