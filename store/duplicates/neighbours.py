"""Find similar pictures: all fingerprints in memory, compared bit by bit.

Among 100,000 pictures it takes some twenty milliseconds: first 64 bits of each view that can match, then all
256 bits of those that pass.
"""

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.duplicates import fingerprints
from store.duplicates.fingerprints import CORNERS, LIGHT, LIGHT_MIDDLE, MIDDLE, TRIMMED, VIEWS, WHOLE

Words = NDArray[np.uint64]

# Chosen on planted copies (docs/duplicates.md): differing bits up to which two pictures count as near …
NEAR = 64  # … of 256
_COARSE = 14  # … of the 64 lowest frequencies
MOST = 100  # neighbours of one picture that are kept, the nearest

_PARTS = (MIDDLE, *CORNERS)
_PAIRS = (  # views that a copy and its original can share: two parts of pictures say nothing about the rest
    *((mine, other) for mine in (WHOLE, TRIMMED) for other in (WHOLE, TRIMMED, *_PARTS)),
    *((part, whole) for part in _PARTS for whole in (WHOLE, TRIMMED)),
    (LIGHT, LIGHT),
    (LIGHT, LIGHT_MIDDLE),
    (LIGHT_MIDDLE, LIGHT),
)
_FAR = 256


@dataclass(frozen=True, slots=True)
class NearPrint:
    """A picture that looks like another one."""

    image_hash: str
    distance: int  # differing bits of 256
    is_mirrored: bool


class Neighbours:
    """The fingerprints of a catalog; many threads may ask while one updates them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0  # the number of the newest fingerprint here
        self._hashes: list[str] = []
        self._coarse: Words = np.empty((VIEWS, 0), np.uint64)
        self._fine: Words = np.empty((VIEWS, 0, 4), np.uint64)

    def __len__(self) -> int:
        return len(self._hashes)

    def clear(self) -> None:
        """Read everything again at the next refresh."""
        with self._lock:
            self._hashes, self._last = [], 0

    def refresh(self, db: sqlite3.Connection) -> None:
        """Read new fingerprints from the catalog, or all of them after `clear`."""
        with self._lock:
            (newest,) = db.execute("SELECT coalesce(max(number), 0) FROM fingerprints").fetchone()
            if newest < self._last:
                self._hashes, self._last = [], 0  # another process rebuilt them
            rows = db.execute(
                "SELECT number, image_hash, print FROM fingerprints WHERE number > ? ORDER BY number",
                [self._last],
            ).fetchall()
            seen = [row for row in rows if len(row["print"]) == fingerprints.SIZE]
            if seen:
                self._append([row["image_hash"] for row in seen], [row["print"] for row in seen])
            self._last = newest

    def unknown(self, db: sqlite3.Connection, address: str) -> list[NearPrint] | None:
        """Pictures similar to a record's, if the catalog does not have them yet; None if it does."""
        row = db.execute(
            "SELECT f.print FROM records r JOIN fingerprints f ON f.image_hash = r.image_hash "
            "WHERE r.address = ? AND NOT f.compared",
            [address],
        ).fetchone()
        if row is None:
            return None
        self.refresh(db)
        return self.near(row["print"])

    def near(self, print_: bytes) -> list[NearPrint]:
        """Pictures similar to the one with this fingerprint, itself included, nearest first."""
        if len(print_) != fingerprints.SIZE:
            return []
        with self._lock:  # arrays only grow at their end: what was there stays where it is
            hashes, coarse, fine = self._hashes, self._coarse, self._fine
            count = len(hashes)
        plain = fingerprints.rows([print_])
        straight = _distances(plain, coarse[:, :count], fine[:, :count])
        turned = _distances(fingerprints.mirrored(plain), coarse[:, :count], fine[:, :count])
        best = np.minimum(straight, turned)
        found = np.flatnonzero(best <= NEAR)
        order = found[np.argsort(best[found], kind="stable")][:MOST]
        return [
            NearPrint(hashes[place], int(best[place]), bool(turned[place] < straight[place]))
            for place in order
        ]

    def _append(self, hashes: Sequence[str], prints: list[bytes]) -> None:
        rows = fingerprints.rows(prints)
        start, end = len(self._hashes), len(self._hashes) + len(rows)
        if end > self._coarse.shape[1] or not start:
            room = max(1024, end + end // 4)
            coarse, fine = np.zeros((VIEWS, room), np.uint64), np.zeros((VIEWS, room, 4), np.uint64)
            coarse[:, :start], fine[:, :start] = self._coarse[:, :start], self._fine[:, :start]
            self._coarse, self._fine = coarse, fine
        self._coarse[:, start:end] = _lowest(rows).T
        self._fine[:, start:end] = _words(rows).transpose(1, 0, 2)
        self._hashes += hashes


def _distances(plain: fingerprints.Bytes, coarse: Words, fine: Words) -> NDArray[np.int16]:
    """(N,): the distance of each picture by the nearest of the views that can match; 256 means far."""
    best = np.full(coarse.shape[1], _FAR, np.int16)
    low, words = _lowest(plain)[0], _words(plain)[0]
    places = {(low[mine], words[mine].tobytes(), other): mine for mine, other in _PAIRS}
    for (key, _, other), mine in places.items():  # without a border, WHOLE and TRIMMED are the same
        close = np.flatnonzero(np.bitwise_count(coarse[other] ^ key) <= _COARSE)
        if len(close):
            bits = np.bitwise_count(fine[other, close] ^ words[mine]).sum(axis=1, dtype=np.int16)
            best[close] = np.minimum(best[close], bits)
    return best


def _words(rows: fingerprints.Bytes) -> Words:
    """As 64-bit words: (n, VIEWS, 4)."""
    return np.ascontiguousarray(rows).view(np.uint64)


def _lowest(rows: fingerprints.Bytes) -> Words:
    """(n, VIEWS): of each hash of 16 × 16 bits, the 8 × 8 of the lowest frequencies."""
    bits = rows.reshape(*rows.shape[:2], 16, 2)[:, :, :8, 0]
    return np.ascontiguousarray(bits).view(np.uint64)[..., 0]
