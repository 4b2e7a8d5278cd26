"""Perceptual hashes of pictures that survive the usual ways to make copies, and similar pictures by them.

    fingerprint   nine hashes of 256 bits of one picture
    Neighbours    all fingerprints in memory, compared bit by bit

Each of the nine is as imagehash's `phash`: which low frequencies exceed their median. Seven are of views of
the picture's luma, so that a border or a crop of 5 % on any side leaves one of them intact, and two of views
of its lightness, which a change of hue does not affect. docs/duplicates.md has the figures.

Among 100,000 pictures a comparison takes some twenty milliseconds: first 64 bits of each view that can match,
then all 256 bits of those that pass.
"""

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.errors import BadPicture

if TYPE_CHECKING:
    from PIL import Image

Bytes = NDArray[np.uint8]

SCHEME = "phash16 v2"  # a new scheme recomputes every fingerprint
VIEWS = 9
WHOLE, TRIMMED, MIDDLE, LIGHT, LIGHT_MIDDLE = 0, 1, 2, 7, 8
CORNERS = (3, 4, 5, 6)  # what is left when a twentieth is cut off two sides that meet
_ROW = 32  # bytes of one hash
SIZE = VIEWS * _ROW

_CUT = 0.05
_SIDE = 128  # pixels; hashes see 64, and a JPG is decoded at a quarter of its size for next to nothing
_BORDER = 24  # how far a border's pixels may be from its own colour, of 255: JPG noise
_UNIFORM = 0.98  # of a border's line
_LEAST = 0.3  # of the side must be left after trimming
# Hashes of nothing all look alike, so one colour, bars and gradients have none:
_FLAT = 4.0  # standard deviation below which there is nothing to see
_DETAIL = 32  # of 256 low frequencies that must have a hundredth of the largest; bars have 15, a bare disc 61
_COSINES = np.cos(np.pi * np.outer(2 * np.arange(64) + 1, np.arange(16)) / 128)

NOTHING = b""  # the fingerprint of a picture without anything to see


def fingerprint(picture: bytes) -> bytes:
    """The fingerprint of a library's JPG: SIZE bytes, NOTHING for a plain one. Raises BadPicture."""
    from PIL import Image

    try:
        with Image.open(BytesIO(picture)) as image:
            image.draft("RGB", (_SIDE, _SIDE))
            small = image.convert("RGB")
    except Exception as error:  # decoders raise anything at all on a damaged file
        raise BadPicture(f"the picture is damaged ({error})"[:200]) from error
    inner = trimmed(small)
    luma = inner.convert("L")
    if _is_plain(luma):
        return NOTHING
    light = lightness(inner)
    far = 1 - _CUT
    views = [
        luma,
        _part(luma, _CUT, _CUT, far, far),
        _part(luma, 0, 0, far, far),
        _part(luma, _CUT, 0, 1, far),
        _part(luma, 0, _CUT, far, 1),
        _part(luma, _CUT, _CUT, 1, 1),
        light,
        _part(light, _CUT, _CUT, far, far),
    ]
    if inner is small:
        hashes = _hashes(views)
        return hashes[:_ROW] + hashes
    return _hashes([small.convert("L"), *views])


def hash_rows(fingerprints: list[bytes]) -> Bytes:
    """(n, VIEWS, 32): the hashes of these fingerprints, none of which is NOTHING."""
    return np.frombuffer(b"".join(fingerprints), np.uint8).reshape(-1, VIEWS, _ROW)


def mirrored(hashes: Bytes) -> Bytes:
    """The hashes of the mirrored picture: mirroring flips the sign of every second horizontal frequency."""
    turned = hashes[..., [WHOLE, TRIMMED, MIDDLE, 4, 3, 6, 5, LIGHT, LIGHT_MIDDLE], :]
    return turned ^ np.uint8(0b01010101)


def _is_plain(view: "Image.Image") -> bool:
    """Whether the view has too little content for a meaningful hash."""
    from PIL import Image

    pixels = np.asarray(view.resize((64, 64), Image.Resampling.BILINEAR), np.float64)
    spectrum = np.abs(_COSINES.T @ pixels @ _COSINES)
    spectrum[0, 0] = 0.0  # how bright it is
    return bool(pixels.std() < _FLAT or np.count_nonzero(spectrum > spectrum.max() / 100) < _DETAIL)


def _hashes(views: "list[Image.Image]") -> bytes:
    """The `phash` of each view, bit for bit as imagehash computes them one by one."""
    import scipy.fft
    from PIL import Image

    small = [np.asarray(view.resize((64, 64), Image.Resampling.LANCZOS)) for view in views]
    lines = scipy.fft.dct(np.stack(small).astype(np.float64), axis=1)[:, :16]
    low = scipy.fft.dct(lines, axis=2)[:, :, :16].reshape(len(views), 256)
    return np.packbits(low > np.median(low, axis=1, keepdims=True)).tobytes()


def _part(image: "Image.Image", left: float, top: float, right: float, bottom: float) -> "Image.Image":
    width, height = image.size
    return image.crop(
        (round(left * width), round(top * height), round(right * width), round(bottom * height))
    )


def lightness(image: "Image.Image") -> "Image.Image":
    """(max + min) / 2 of each pixel's RGB, 8 bits; unchanged by a change of hue."""
    from PIL import Image

    red, green, blue = np.moveaxis(np.asarray(image).astype(np.uint16), 2, 0)
    largest = np.maximum(np.maximum(red, green), blue)  # NumPy is slow along an axis of three
    smallest = np.minimum(np.minimum(red, green), blue)
    return Image.fromarray(((largest + smallest) // 2).astype(np.uint8))


def trimmed(image: "Image.Image") -> "Image.Image":
    """Without single-coloured lines at the sides, unless little would be left."""
    pixels = np.asarray(image)
    across = pixels.transpose(1, 0, 2)
    left, right = _border(across), _border(across[::-1])
    top, bottom = _border(pixels), _border(pixels[::-1])
    width, height = image.width - left - right, image.height - top - bottom
    if not (left or right or top or bottom) or width < _LEAST * image.width or height < _LEAST * image.height:
        return image
    return image.crop((left, top, left + width, top + height))


def _border(lines: Bytes) -> int:
    """How many of the first lines have one colour, the same in all of them."""
    colour = np.median(lines[0], axis=0)  # may end in .5; its neighbours as bytes are compared faster
    lowest = np.maximum(np.floor(colour - _BORDER) + 1, 0).astype(np.uint8)
    highest = np.minimum(np.ceil(colour + _BORDER) - 1, 255).astype(np.uint8)
    for start, end in ((0, 1), (1, 8), (8, len(lines))):  # most pictures have no border, or a narrow one
        near = (lines[start:end] >= lowest) & (lines[start:end] <= highest)
        plain = (near[..., 0] & near[..., 1] & near[..., 2]).mean(axis=1) >= _UNIFORM
        if not plain.all():
            return start + int(np.argmin(plain))
    return len(lines)


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
# Of a picture below a sticker, the same views are nearest; what lies there is compared (alignment.py).
_SAME = tuple((view, view) for view in (WHOLE, *CORNERS))
_NEAR_IN_PLACE, _COARSE_IN_PLACE, _IN_PLACE = 104, 26, 12
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
            seen = [row for row in rows if len(row["print"]) == SIZE]
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
        if len(print_) != SIZE:
            return []
        hashes, coarse, fine = self._snapshot()
        plain = hash_rows([print_])
        straight = _distances(plain, coarse, fine, _PAIRS, _COARSE)
        turned = _distances(mirrored(plain), coarse, fine, _PAIRS, _COARSE)
        best = np.minimum(straight, turned)
        found = np.flatnonzero(best <= NEAR)
        order = found[np.argsort(best[found], kind="stable")][:MOST]
        return [
            NearPrint(hashes[place], int(best[place]), bool(turned[place] < straight[place]))
            for place in order
        ]

    def in_place(self, print_: bytes) -> list[str]:
        """The pictures nearest view by view, some farther than `near`: a sticker may lie on one of them."""
        if len(print_) != SIZE:
            return []
        hashes, coarse, fine = self._snapshot()
        best = _distances(hash_rows([print_]), coarse, fine, _SAME, _COARSE_IN_PLACE)
        order = np.argsort(best, kind="stable")[:_IN_PLACE]
        return [hashes[place] for place in order if best[place] <= _NEAR_IN_PLACE]

    def _snapshot(self) -> tuple[list[str], Words, Words]:
        with self._lock:  # arrays only grow at their end: what was there stays where it is
            count = len(self._hashes)
            return self._hashes, self._coarse[:, :count], self._fine[:, :count]

    def _append(self, hashes: Sequence[str], prints: list[bytes]) -> None:
        rows = hash_rows(prints)
        start, end = len(self._hashes), len(self._hashes) + len(rows)
        if end > self._coarse.shape[1] or not start:
            room = max(1024, end + end // 4)
            coarse, fine = np.zeros((VIEWS, room), np.uint64), np.zeros((VIEWS, room, 4), np.uint64)
            coarse[:, :start], fine[:, :start] = self._coarse[:, :start], self._fine[:, :start]
            self._coarse, self._fine = coarse, fine
        self._coarse[:, start:end] = _lowest(rows).T
        self._fine[:, start:end] = _words(rows).transpose(1, 0, 2)
        self._hashes += hashes


def _distances(
    plain: Bytes, coarse: Words, fine: Words, pairs: Sequence[tuple[int, int]], most: int
) -> NDArray[np.int16]:
    """(N,): the distance of each picture by the nearest of these pairs of views; 256 means far.

    A pair of whose 64 lowest frequencies more than `most` differ is not looked at.
    """
    best = np.full(coarse.shape[1], _FAR, np.int16)
    low, words = _lowest(plain)[0], _words(plain)[0]
    places = {(low[mine], words[mine].tobytes(), other): mine for mine, other in pairs}
    for (key, _, other), mine in places.items():  # without a border, WHOLE and TRIMMED are the same
        close = np.flatnonzero(np.bitwise_count(coarse[other] ^ key) <= most)
        if len(close):
            bits = np.bitwise_count(fine[other, close] ^ words[mine]).sum(axis=1, dtype=np.int16)
            best[close] = np.minimum(best[close], bits)
    return best


def _words(rows: Bytes) -> Words:
    """As 64-bit words: (n, VIEWS, 4)."""
    return np.ascontiguousarray(rows).view(np.uint64)


def _lowest(rows: Bytes) -> Words:
    """(n, VIEWS): of each hash of 16 × 16 bits, the 8 × 8 of the lowest frequencies."""
    bits = rows.reshape(*rows.shape[:2], 16, 2)[:, :, :8, 0]
    return np.ascontiguousarray(bits).view(np.uint64)[..., 0]
