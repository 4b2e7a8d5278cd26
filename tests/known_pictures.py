"""The tests add the same few pictures thousands of times; each process converts and fingerprints them once.

Both results depend on the bytes alone. Unreadable pictures are tried again each time.
"""

from functools import lru_cache
from pathlib import Path

from store.disk.images import normalise
from store.duplicates import fingerprints
from store.writing import intake

LARGEST = 50_000  # bytes; larger pictures are not kept
MANY = 1_000

_known = lru_cache(MANY)(normalise)


def _normalise(picture: bytes | Path) -> bytes:
    is_small = isinstance(picture, bytes) and len(picture) <= LARGEST
    return _known(picture) if is_small else normalise(picture)


intake.normalise = _normalise
fingerprints.fingerprint = intake.fingerprint = lru_cache(MANY)(fingerprints.fingerprint)
