"""Decide when to ask a server again, for all lanes together, so that it is not overloaded."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_FIRST = 1.0  # seconds after the first failure; doubled with each further one
_LONGEST = 60.0
_PROBE = 0.2  # seconds after which to look again while another lane asks
_UNSEEN = 6  # failures in a row after which a server that never answered is given up
_GIVE_UP = 6 * 3600.0  # seconds after which one that did answer is given up


class CircuitBreaker:
    """After a failure no lane asks for a while, longer each time; then one does. Thread-safe."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0
        self._failures = 0
        self._away_since = 0.0
        self._is_probing = False
        self._answers = 0

    @contextmanager
    def attempt(self) -> Iterator["Attempt"]:
        """An attempt to ask within the block, or how long to wait before one.

        However the block ends, the server counts as answering, unless `Attempt.failed` was called.
        """
        attempt = Attempt(self._wait(), self._failed)
        try:
            yield attempt
        finally:
            if not attempt.pause and not attempt.has_failed:
                self._succeeded()

    def _wait(self) -> float:
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

    def _succeeded(self) -> None:
        with self._lock:
            self._answers += 1
            self._failures, self._is_probing = 0, False

    def _failed(self, retry_after: float | None) -> None:
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


class Attempt:
    """One caller's request: sent now if `pause` is 0, otherwise not before so many seconds."""

    def __init__(self, pause: float, fail: Callable[[float | None], None]) -> None:
        self.pause = pause
        self.has_failed = False
        self._fail = fail

    def failed(self, *, retry_after: float | None) -> None:
        """Report that the server did not answer, or asked for a pause of `retry_after` seconds."""
        self.has_failed = True
        self._fail(retry_after)
