"""The tests add the same few pictures thousands of times; each process converts and fingerprints them once.

Both results depend on the bytes alone. Unreadable pictures are tried again each time.
"""

from functools import lru_cache
from pathlib import Path

from store.disk.images import Original, with_original
from store.duplicates import fingerprints
from store.writing import intake

LARGEST = 50_000  # bytes; larger pictures are not kept
MANY = 1_000

_known = lru_cache(MANY)(with_original)


def _with_original(picture: bytes | Path) -> tuple[bytes, Original | None]:
    is_small = isinstance(picture, bytes) and len(picture) <= LARGEST
    return _known(picture) if is_small else with_original(picture)


intake.with_original = _with_original
fingerprints.fingerprint = intake.fingerprint = lru_cache(MANY)(fingerprints.fingerprint)
