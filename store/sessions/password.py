"""The shared password: argon2id, and how many tries there are."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

SHORTEST = 10  # characters
FREE = 5  # wrong passwords from one address that cost no time …
SLOWEST = 12.0  # … each further one twice as long as the one before, from a second up to this: 7,200 a day
FREE_OF_ALL = 60  # of all addresses together …
EACH_OF_ALL = 1.0  # … and then one each second: 86,400 a day
LONGEST_WAIT = 30.0  # seconds in a queue; who comes then is told to come again
_FORGOTTEN = 900.0  # seconds without a try of this address
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


@dataclass(slots=True)
class _Tries:
    """The tries from one address since the last right one."""

    count: int = 0
    free_at: float = 0.0  # when the next one has its turn


class Tries:
    """Slows tries down, by address and all together; whoever waits has their turn, with the right one too."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._by_address: dict[str, _Tries] = {}
        self._all_free_at = float("-inf")  # earlier by the tries of all that are free
        self._lock = threading.Lock()

    def turn(self, address: str, *, is_known: bool = False) -> float:
        """Count a try of this address; returns the seconds after which it has its turn.

        If they are more than LONGEST_WAIT, the try is not counted and has no turn. `is_known`: the address is
        a browser from which somebody has logged in; it does not wait for strangers.
        """
        now = self._clock()
        with self._lock:
            for old in [each for each, its in self._by_address.items() if its.free_at < now - _FORGOTTEN]:
                del self._by_address[old]
            own = self._by_address.get(address) or _Tries()
            at = max(now, own.free_at)
            if not is_known:
                at = max(at, self._all_free_at)
            if at - now > LONGEST_WAIT:
                return at - now
            own.count += 1
            own.free_at = at + (min(SLOWEST, 2.0 ** min(own.count - FREE, 10)) if own.count >= FREE else 0.0)
            self._by_address[address] = own
            if not is_known:
                self._all_free_at = max(self._all_free_at, now - FREE_OF_ALL * EACH_OF_ALL) + EACH_OF_ALL
        return at - now

    def succeeded(self, address: str) -> None:
        """Forget the tries of an address that knows the password."""
        with self._lock:
            self._by_address.pop(address, None)
