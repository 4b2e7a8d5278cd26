"""When to ask a provider again: together for all who ask, so that one that is away is not hammered."""

import random
import threading
import time
from collections.abc import Callable

_FIRST = 1.0  # seconds after the first failure; doubled with each further one
_LONGEST = 60.0
_UNSEEN = 6  # failures in a row after which one that never answered is given up
_GIVE_UP = 6 * 3600.0  # seconds after which one that did answer is given up


class Patience:
    """After a failure only one caller asks, later each time, and the others wait for what it hears."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0
        self._failures = 0
        self._away_since = 0.0
        self._is_probing = False
        self.answers = 0

    def seconds(self) -> float:
        """How long the caller has to wait; 0: ask now, and tell how it went."""
        with self._lock:
            now = self._clock()
            if now < self._until:
                return self._until - now
            if not self._failures:
                return 0.0
            if self._is_probing:
                return 0.2
            self._is_probing = True
            return 0.0

    def answered(self) -> None:
        with self._lock:
            self.answers += 1
            self._failures, self._is_probing = 0, False

    def failed(self, *, retry_after: float | None) -> None:
        with self._lock:
            now = self._clock()
            if not self._failures:
                self._away_since = now
            if now >= self._until:  # several that were under way together are one failure
                self._failures += 1
            self._is_probing = False
            wait = retry_after
            if wait is None:
                wait = min(_LONGEST, _FIRST * 2 ** (self._failures - 1)) * random.uniform(0.75, 1.25)
            self._until = max(self._until, now + wait)

    @property
    def is_spent(self) -> bool:
        """Whether it is time to let a person look."""
        with self._lock:
            away = self._clock() - self._away_since if self._failures else 0.0
            return away > _GIVE_UP or (not self.answers and self._failures >= _UNSEEN)
