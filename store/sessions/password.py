"""The shared password: argon2id, and how many tries there are."""

import threading
import time
from collections import deque
from collections.abc import Callable

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

SHORTEST = 10  # characters
TRIES = 5  # a minute from one address
TRIES_OF_ALL = 60  # a minute
_MINUTE = 60.0
_LONGEST = 1_000  # characters; nobody types more

_hasher = PasswordHasher()  # RFC 9106's second recommendation: 64 MiB, three passes
_one_at_a_time = threading.Lock()  # each takes 64 MiB


def hashed(text: str) -> str:
    """What is stored of a password, with a salt of its own."""
    with _one_at_a_time:
        return _hasher.hash(text)


def matches(password_hash: str, text: str) -> bool:
    """Whether this password matches the hash; the time it takes does not depend on how near it is."""
    if len(text) > _LONGEST:
        return False
    try:
        with _one_at_a_time:
            return _hasher.verify(password_hash, text)
    except (VerificationError, InvalidHashError):
        return False


class Tries:
    """Counts the tries of the last minute, by address and all together."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tries: deque[tuple[float, str]] = deque()
        self._lock = threading.Lock()

    def wait(self, address: str) -> float:
        """Count a try of this address; returns 0, or the seconds after which it may try again."""
        now = self._clock()
        with self._lock:
            while self._tries and self._tries[0][0] <= now - _MINUTE:
                self._tries.popleft()
            own = [at for at, by in self._tries if by == address]
            if len(own) >= TRIES:
                return own[-TRIES] + _MINUTE - now
            if len(self._tries) >= TRIES_OF_ALL:
                return self._tries[-TRIES_OF_ALL][0] + _MINUTE - now
            self._tries.append((now, address))
        return 0.0

    def succeeded(self, address: str) -> None:
        """Forget the tries of an address that knows the password."""
        with self._lock:
            self._tries = deque((at, by) for at, by in self._tries if by != address)
