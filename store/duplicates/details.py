"""Details that two pictures share, however little of one shows in the other, and where it lies there.

    details       the distinct places of one picture, each described by what surrounds it (SIFT, Lowe 2004)
    DetailIndex   the details of all pictures in memory, and the pictures that lie in a new one

A hash of the whole picture is lost with a third of it: in a crop, below a sticker, on a phone's screen.
Details are not: those that remain say together which picture it is, how large it is shown and where, and
`alignment.py` compares what both show there.

A detail is stored in 13 bytes: the nearest of 2,048 words, the signs of 64 projections of what is left
(Jégou et al. 2008, "Hamming embedding"), its place and size. Words and projections are made from open icons
and the demo's pictures (`scripts/make_detail_words.py`). Pictures stand upright, or nearly: descriptors are
not turned.
"""

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from store.disk.layout import RESOURCES
from store.errors import BadPicture

Floats = NDArray[np.float32]
Numbers = NDArray[np.intp]

SCHEME = "details v1"  # a new scheme reads every picture again
WORDS = RESOURCES / "models" / "details.npz"
_SIDE = 256  # pixels
_CONTRAST, _EDGE = 0.02, 20  # of SIFT: flat logos have few details, and most lie on edges
_ASKED, _KEPT = 300, 48  # details of a picture that is looked for, and of one that can be found
ROW = np.dtype([("word", "<u2"), ("signature", "<u8"), ("x", "u1"), ("y", "u1"), ("size", "u1")])
_SIZES = 24.0  # steps to an octave of the diameter, from 1/512 of the side

_TURNED = (4 - np.arange(8)) % 8  # directions of 45° each, mirrored left to right
_PROBES = 4  # words that a detail is looked for in
_ALIKE = 14  # of 64 signs that may differ
_SMALLEST, _LARGEST = -3.5, 1.6  # octaves between the sizes of the same detail in both
_FEW = 500  # pictures; among fewer, a detail that one of them has may still be a common one
_MISSED = 0.3  # what a detail costs that should show and does not, in the natural logarithm of a chance
_VISIBLE = 5 / _SIDE  # diameter below which it need not
PLACED = 8  # pictures found in one, the likeliest
_TRIED = 64  # pictures that are weighed exactly
_APART = 0.01  # squared distance of two details, of the side, from which they say where a third is
_AGREE = 0.02  # … and how far from there it may be


@dataclass(frozen=True, slots=True)
class Details:
    """Distinct places of one picture, the most telling first."""

    places: Floats  # (n, 3): x, y and diameter, of the picture's side
    descriptors: Floats  # (n, 128): square roots of SIFT's histograms, of length 1

    def mirrored(self) -> "Details":
        """The details of the mirrored picture: SIFT's 4 × 4 fields change sides, its 8 directions turn."""
        places = self.places * np.array((-1, 1, 1), np.float32) + np.array((1, 0, 0), np.float32)
        fields = self.descriptors.reshape(-1, 4, 4, 8)[:, :, ::-1, _TURNED]
        return Details(places, fields.reshape(-1, 128))


NONE = Details(np.zeros((0, 3), np.float32), np.zeros((0, 128), np.float32))
Box = tuple[float, float, float, float]  # left, top, right, bottom, of the picture's side


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """Where another picture seems to lie in this one; it may reach beyond it."""

    image_hash: str
    score: float  # the natural logarithm of how much likelier than by chance
    side: float  # of the other, as a share of this one's
    x: float  # of its middle
    y: float

    def overlap(self) -> tuple[Box, Box]:
        """What both show: as a part of this picture, and as a part of the other."""
        left, top = self.x - self.side / 2, self.y - self.side / 2
        mine = (max(left, 0), max(top, 0), min(left + self.side, 1), min(top + self.side, 1))
        theirs = tuple((edge - start) / self.side for edge, start in zip(mine, (left, top) * 2, strict=True))
        return mine, theirs  # type: ignore[return-value]  # a tuple of four


def details(picture: bytes) -> Details:
    """The details of one of the library's JPGs. Raises BadPicture if it cannot be read."""
    import cv2
    from PIL import Image

    try:
        with Image.open(BytesIO(picture)) as image:
            image.draft("L", (_SIDE, _SIDE))
            pixels = np.asarray(image.convert("L").resize((_SIDE, _SIDE), Image.Resampling.BILINEAR))
    except Exception as error:  # decoders raise anything at all on a damaged file
        raise BadPicture(f"the picture is damaged ({error})"[:200]) from error
    sift = cv2.SIFT.create(contrastThreshold=_CONTRAST, edgeThreshold=_EDGE)
    found: dict[tuple[int, int, int], cv2.KeyPoint] = {}  # a place with several directions is one detail
    for key in sift.detect(pixels, None):
        found.setdefault((round(key.pt[0] * 2), round(key.pt[1] * 2), round(np.log2(key.size) * 2)), key)
    keys = sorted(found.values(), key=lambda key: -key.response * key.size**0.5)[:_ASKED]
    for key in keys:
        key.angle = 0.0
    if not keys:
        return NONE
    described, histograms = sift.compute(pixels, keys)
    shares = histograms / np.maximum(histograms.sum(axis=1, keepdims=True), 1e-9)
    places = np.array([(*key.pt, key.size) for key in described]) / _SIDE
    return Details(places.astype(np.float32), np.sqrt(shares).astype(np.float32))


def packed(found: Details) -> bytes:
    """What is stored of a picture's details."""
    places, descriptors = found.places[:_KEPT], found.descriptors[:_KEPT]
    rows = np.zeros(len(places), ROW)
    if len(rows):
        rows["word"] = _nearest_words(descriptors, 1)[:, 0]
        rows["signature"] = _signatures(descriptors, rows["word"])
        rows["x"], rows["y"] = np.rint(places[:, :2].clip(0, 1) * 255).T
        rows["size"] = np.rint((np.log2(places[:, 2]) + 9).clip(0, 10) * _SIZES)
    return rows.tobytes()


@cache
def _words() -> tuple[Floats, Floats]:
    """(2048, 128), (128, 64): the words, and the directions whose signs are kept."""
    with np.load(WORDS) as stored:
        return stored["words"].astype(np.float32) / 255, stored["directions"].astype(np.float32)


def _nearest_words(descriptors: Floats, count: int) -> Numbers:
    """(n, count): the nearest words of each, in no order."""
    words, _ = _words()
    far = (words**2).sum(axis=1) / 2 - descriptors @ words.T
    return np.argpartition(far, count - 1, axis=1)[:, :count]


def _signatures(descriptors: Floats, words: NDArray[np.integer]) -> NDArray[np.uint64]:
    known, directions = _words()
    signs = (descriptors - known[words]) @ directions > 0
    return np.packbits(signs, axis=1).view(np.uint64)[:, 0]


@dataclass(frozen=True, slots=True)
class _Level:
    """The numbers of some details, ordered by their words."""

    order: NDArray[np.int32]
    starts: Numbers  # (words + 1,): where each word's begin

    @classmethod
    def of(cls, rows: NDArray[np.void], *, first: int) -> "_Level":
        order = np.argsort(rows["word"], kind="stable")
        starts = np.searchsorted(rows["word"][order], np.arange(len(_words()[0]) + 1))
        return cls((order + first).astype(np.int32), starts)


class DetailIndex:
    """The details of a catalog's pictures; many threads may ask while one updates them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Read everything again at the next refresh."""
        self._last = 0  # the number of the newest picture here
        self._hashes: list[str] = []
        self._starts = np.zeros(1, np.intp)  # where each picture's rows begin, and the end of all
        self._rows = np.zeros(0, ROW)
        self._levels: list[_Level] = []  # all but the newest, and these
        self._sorted = 0  # rows of the first level

    def refresh(self, db: sqlite3.Connection) -> None:
        """Read new details from the catalog, or all of them after `clear`."""
        with self._lock:
            (newest,) = db.execute("SELECT coalesce(max(number), 0) FROM picture_details").fetchone()
            if newest < self._last:
                self.clear()  # another process rebuilt them
            new = db.execute(
                "SELECT image_hash, details FROM picture_details WHERE number > ? ORDER BY number",
                [self._last],
            ).fetchall()
            self._last = newest
            if not new:
                return
            parts = [np.frombuffer(row["details"], ROW) for row in new]
            ends = len(self._rows) + np.cumsum([len(part) for part in parts])
            self._hashes += [row["image_hash"] for row in new]
            self._starts = np.concatenate([self._starts, ends])
            self._rows = np.concatenate([self._rows, *parts])
            recent = len(self._rows) - self._sorted
            if recent > self._sorted // _RECENT:
                self._levels, self._sorted = [_Level.of(self._rows, first=0)], len(self._rows)
            else:
                newer = _Level.of(self._rows[self._sorted :], first=self._sorted)
                self._levels = [self._levels[0], newer]

    def placed(self, asked: Details) -> list[PlacedPicture]:
        """The pictures of which a part seems to lie in this one, itself among them, the likeliest first."""
        with self._lock:  # each array is replaced as a whole
            snapshot = (self._hashes, self._starts, self._rows, self._levels)
        return _placed(asked, *snapshot) if len(asked.places) and snapshot[0] else []


_RECENT = 8  # of so many parts of all, one is ordered again with each refresh


def _matches(asked: Details, rows: NDArray[np.void], levels: Sequence[_Level]) -> tuple[Numbers, ...]:
    """(n,) each: details asked for, rows that are alike, and how many of their signs differ."""
    found = []
    for words in _nearest_words(asked.descriptors, _PROBES).T:
        signatures = _signatures(asked.descriptors, words)
        for level in levels:
            start, end = level.starts[words], level.starts[words + 1]
            count = end - start
            mine = np.repeat(np.arange(len(words)), count)
            theirs = level.order[np.arange(count.sum()) + np.repeat(start - np.cumsum(count) + count, count)]
            differ = np.bitwise_count(rows["signature"][theirs] ^ signatures[mine])
            alike = differ <= _ALIKE
            found.append((mine[alike], theirs[alike], differ[alike]))
    mine, theirs, differ = (np.concatenate(column) for column in zip(*found, strict=True))
    return mine, theirs, differ


def _placed(
    asked: Details, hashes: Sequence[str], starts: Numbers, rows: NDArray[np.void], levels: Sequence[_Level]
) -> list[PlacedPicture]:
    mine, theirs, differ = _matches(asked, rows, levels)
    places = _places(rows[theirs])
    larger = np.log2(asked.places[mine, 2] / places[:, 2])
    fits = (larger > _SMALLEST) & (larger < _LARGEST)
    mine, theirs, differ, places, larger = (a[fits] for a in (mine, theirs, differ, places, larger))
    if not len(mine):
        return []
    # A detail that many pictures have says little, and so does one that is hardly alike.
    common = np.bincount(mine, minlength=len(asked.places))[mine]
    weights = np.log1p(max(len(hashes), _FEW) / common / 2) * (1 - (differ / 20.0) ** 2)
    pictures = np.searchsorted(starts, theirs, side="right") - 1
    # Where the middle of the whole other picture would lie, if this detail is the same.
    middles = asked.places[mine, :2] + (0.5 - places[:, :2]) * 2 ** larger[:, None]
    found = []
    for members in _agreeing(pictures, larger, middles, weights):
        members = members[np.argsort(differ[members], kind="stable")]
        for column in (theirs, mine):  # each detail once
            members = members[np.sort(np.unique(column[members], return_index=True)[1])]
        if len(members) < 2:
            continue
        side, middle = _fitted(asked.places[mine[members], :2], places[members, :2], larger[members])
        picture = pictures[members[0]]
        own = _places(rows[starts[picture] : starts[picture + 1]])
        at = middle + (own[:, :2] - 0.5) * side
        seen = ((at > 0.02) & (at < 0.98)).all(axis=1) & (own[:, 2] * side > _VISIBLE)
        score = weights[members].sum() - _MISSED * max(0, int(seen.sum()) - len(members))
        found.append(PlacedPicture(hashes[picture], float(score), side, float(middle[0]), float(middle[1])))
    return sorted(found, key=lambda one: -one.score)[:PLACED]


def _places(rows: NDArray[np.void]) -> Floats:
    """(n, 3): x, y and diameter."""
    places = np.empty((len(rows), 3), np.float32)
    places[:, 0], places[:, 1] = rows["x"] / np.float32(255), rows["y"] / np.float32(255)
    places[:, 2] = 2 ** (rows["size"] / np.float32(_SIZES) - 9)
    return places


def _agreeing(pictures: Numbers, larger: Floats, middles: Floats, weights: Floats) -> list[Numbers]:
    """For each of the likeliest pictures, the matches that agree best on its size and place.

    They are counted in boxes of an octave and a third of the picture's side, which overlap by half.
    """
    shifts = [(a, b, c) for a in (0, 0.5) for b in (0, 0.5) for c in (0, 0.5)]
    keys = []
    for number, (a, b, c) in enumerate(shifts):
        octave = np.floor(larger + a)
        unit = 0.3 * 2 ** (octave - a + 0.5)
        across, down = (np.floor(middles.T / unit + [[b], [c]]) + 64).clip(0, 127).astype(np.int64)
        of_shift = (pictures * 16 + octave.astype(np.int64) + 8) * 8 + number
        keys.append((of_shift * 128 + across) * 128 + down)
    boxes, box = np.unique(np.concatenate(keys), return_inverse=True)
    total = np.bincount(box, np.tile(weights, len(shifts)))
    total[np.bincount(box) < 2] = 0  # one detail is chance
    order = np.lexsort((-total, boxes >> 21))  # 4 + 3 + 7 + 7 bits below the picture
    best = order[np.flatnonzero(np.diff(boxes[order] >> 21, prepend=-1))]
    best = best[np.argsort(-total[best], kind="stable")][:_TRIED]
    members = np.argsort(box, kind="stable")
    ends = np.cumsum(np.bincount(box))
    return [
        members[ends[one] - count : ends[one]] % len(pictures)
        for one in best.tolist()
        if total[one] > 0 and (count := int(ends[one] - (ends[one - 1] if one else 0)))
    ]


def _fitted(mine: Floats, theirs: Floats, larger: Floats) -> tuple[float, Floats]:
    """The side of the other picture, and its middle: by least squares of the most details that agree.

    Every two that lie apart say where the others would be (Fischler and Bolles 1981, "RANSAC").
    """
    side = float(2 ** np.median(larger))
    one, two = np.triu_indices(len(mine), 1)
    apart = theirs[one] - theirs[two]
    far = (apart**2).sum(axis=1)
    sides = (apart * (mine[one] - mine[two])).sum(axis=1) / np.maximum(far, _APART)
    usable = (far > _APART) & (sides > 0.6 * side) & (sides < 1.6 * side)
    one, sides = one[usable], sides[usable]
    middles = mine[one] + (0.5 - theirs[one]) * sides[:, None]
    far_off = np.abs(middles[:, None] + (theirs - 0.5) * sides[:, None, None] - mine).max(axis=2)
    agree = max(far_off < _AGREE, key=np.count_nonzero, default=np.zeros(len(mine), bool))
    if np.count_nonzero(agree) < 3:
        return side, np.median(mine + (0.5 - theirs) * side, axis=0)
    mean, their_mean = mine[agree].mean(axis=0), theirs[agree].mean(axis=0)
    apart = theirs[agree] - their_mean
    side = float((apart * (mine[agree] - mean)).sum() / (apart**2).sum())
    return side, mean + side * (0.5 - their_mean)
