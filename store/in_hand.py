"""Which vectors are being computed at this moment, so that none is computed twice."""

import threading
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager


class InHand:
    """Keys of vectors in the hands of people's decisions, and those in the hands of the background."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._decided: Counter[str] = Counter()
        self._aside: set[str] = set()

    @contextmanager
    def decided(self, keys: Collection[str]) -> Iterator[None]:
        """These are computed inside, where they are not known by then; what the background has begun with
        is waited for, and it begins with none of them."""
        with self._change:
            self._change.wait_for(lambda: self._aside.isdisjoint(keys))
            self._decided.update(keys)
        try:
            yield
        finally:
            with self._change:
                self._decided -= Counter(keys)

    @contextmanager
    def aside(self, keys: Collection[str]) -> Iterator[set[str]]:
        """Those of these that the background, one thread, may compute inside; it waits for nobody."""
        with self._change:
            self._aside = set(keys) - self._decided.keys()
        try:
            yield self._aside
        finally:
            with self._change:
                self._aside = set()
                self._change.notify_all()
