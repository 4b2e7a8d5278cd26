"""Decide when to ask a server again, for all lanes together, so that it is not overloaded."""

import random
import threading
import time
from collections.abc import Callable

_FIRST = 1.0  # seconds after the first failure; doubled with each further one
_LONGEST = 60.0
_PROBE = 0.2  # seconds after which to look again while another lane asks
_UNSEEN = 6  # failures in a row after which a server that never answered is given up
_GIVE_UP = 6 * 3600.0  # seconds after which one that did answer is given up


class CircuitBreaker:
    """After a failure nobody asks for a while, longer each time; then one lane asks while the others wait.

    Thread-safe. A caller that was let through must report `succeeded` or `failed`.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0
        self._failures = 0
        self._away_since = 0.0
        self._is_probing = False
        self._answers = 0

    def wait(self) -> float:
        """The seconds that the caller has to wait; 0 means: ask now, and report the result."""
        with self._lock:
            now = self._clock()
            if now < self._until:
                return self._until - now
            if not self._failures:
                return 0.0
            if self._is_probing:
                return _PROBE
            self._is_probing = True
            return 0.0

    def succeeded(self) -> None:
        """Report that the server answered, even with a refusal."""
        with self._lock:
            self._answers += 1
            self._failures, self._is_probing = 0, False

    def failed(self, *, retry_after: float | None) -> None:
        """Report that the server did not answer, or asked for a pause of `retry_after` seconds."""
        with self._lock:
            now = self._clock()
            if not self._failures:
                self._away_since = now
            if now >= self._until:  # several that were under way together are one failure
                self._failures += 1
            self._is_probing = False
            grown = min(_LONGEST, _FIRST * 2 ** (self._failures - 1)) * random.uniform(1, 1.25)
            self._until = max(self._until, now + (grown if retry_after is None else max(retry_after, _FIRST)))

    @property
    def is_given_up(self) -> bool:
        """Whether it is time for a person to look at it."""
        with self._lock:
            away = self._clock() - self._away_since if self._failures else 0.0
            return away > _GIVE_UP or (not self._answers and self._failures >= _UNSEEN)
