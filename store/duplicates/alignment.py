"""Whether two pictures that look alike are one: the second is laid over the first, and places are compared.

    agreement      the share of two pictures that is the same
    is_covered     whether all but what lies below a sticker is the same
    Confirmation   confirms by them what fingerprints, details and vectors found alike

A copy agrees with its original nearly everywhere, however it was cropped, turned or written on; pictures of
one series, such as medals with the same rim, agree in their frame alone. The second picture is moved, turned
and stretched (an affine map, six numbers) until it fits the first best: Gauss-Newton on the pixels, each
weighted by how well it already fits, so that added letters pull nothing away. It begins on a small size from
several places at once, since the part that a crop left is far from where it was.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.catalog.catalog import Catalog
from store.duplicates.details import Box, PlacedPicture
from store.duplicates.fingerprints import NEAR, NearPrint, lightness, trimmed
from store.errors import BadPicture, MemedexError
from store.lru import LruCache

if TYPE_CHECKING:
    from PIL import Image

Pixels = NDArray[np.float64]

SCHEME = "aligned v3"
_SMALL, _LARGE = 32, 96  # pixels of a side: to begin on, and to compare on
_DECODED = 128
_STEPS = {_SMALL: 6, _LARGE: 8}
_FITS = 0.3  # correlation on the small size below which a finer look is a waste
_OVERLAP = 0.35  # of the first picture has to be covered
_STRETCH = (0.4, 2.5)  # how many times larger or smaller the second may become
_WINDOW = 13  # pixels around a place, of 96, that are compared there
_CONTENT = 6.0  # standard deviation of a place, of 255, below which there is nothing to compare
_FLAT = 1.0  # standard deviation, of 255, below which a picture has nothing that could be aligned
_AGREES = 0.8  # correlation of a place that is the same in both
_NOISE = 0.5  # of a standard deviation: pixels that differ by more pull less
_CERTAIN = 0.85  # a share that needs no second try …
_ALIGNED = 0.9  # … and a correlation of the whole that no other start improves
_MIDDLE = 0.64  # radius of the middle of a picture, where half its side is 1
_SOME = 20  # places of 96 × 96 that say something
_TONES = (0, 1)  # luma; and lightness, which a turned hue leaves as it was


@dataclass(frozen=True, slots=True)
class PictureViews:
    """A picture without its border, as luma and lightness, each small and large."""

    small: Pixels  # (2, _SMALL, _SMALL)
    large: Pixels  # (2, _LARGE, _LARGE)

    def mirrored(self) -> "PictureViews":
        """The same views, mirrored left to right."""
        return PictureViews(self.small[..., ::-1], self.large[..., ::-1])


def views(picture: bytes) -> PictureViews:
    """What is compared of one of the library's JPGs. Raises BadPicture if it cannot be read."""
    return _views(trimmed(_opened(picture, _DECODED)))


def _opened(picture: bytes, side: int) -> "Image.Image":
    from PIL import Image

    try:
        with Image.open(BytesIO(picture)) as image:
            image.draft("RGB", (side, side))
            return image.convert("RGB")
    except Exception as error:  # decoders raise anything at all on a damaged file
        raise BadPicture(f"the picture is damaged ({error})"[:200]) from error


def views_of_part(image: "Image.Image", part: Box) -> PictureViews:
    """What is compared of a part of an RGB picture."""
    left, top, right, bottom = (round(edge * side) for edge, side in zip(part, image.size * 2, strict=True))
    return _views(image.crop((left, top, max(right, left + 1), max(bottom, top + 1))))


def _views(image: "Image.Image") -> PictureViews:
    tones = image.convert("L"), lightness(image)
    return PictureViews(*(np.stack([_resized(tone, side) for tone in tones]) for side in (_SMALL, _LARGE)))


def agreement(one: PictureViews, other: PictureViews) -> float:
    """The share, 0 to 1, of the places with content where the pictures agree once they are aligned."""
    share = _agreement(one, other)
    return share if share >= _CERTAIN else max(share, _agreement(other, one))


def agreement_in_place(one: PictureViews, other: PictureViews) -> float:
    """The share, 0 to 1, of the places in the middle that agree, of two that lie nearly the same already.

    Of all places if there is nothing in the middle. Coins of one series share their frame, but hardly half of
    their signs.
    """
    shares = [0.0]
    for tone in _TONES:
        aligned, _ = _aligned(tone, one, other, _STARTS[:1])
        if aligned is not None:
            shares.append(_share(*_compared(one.large[tone], other.large[tone], aligned), part=_MIDDLE))
    return max(shares)


def _agreement(one: PictureViews, other: PictureViews) -> float:
    """The same with the second laid over the first, which may find another place than the reverse."""
    best = 0.0
    for starts in (_STARTS[:1], _STARTS[1:]):
        found = [_agreement_of(tone, one, other, starts) for tone in _TONES]
        best = max(best, *(share for share, _ in found))
        if best >= _CERTAIN or max(fit for _, fit in found) >= _ALIGNED:
            break
    return best


def _agreement_of(tone: int, one: PictureViews, other: PictureViews, starts: Pixels) -> tuple[float, float]:
    """The share of one tone, and how well the whole correlates."""
    found, fit = _aligned(tone, one, other, starts)
    return (0.0 if found is None else _share(*_compared(one.large[tone], other.large[tone], found))), fit


def _aligned(
    tone: int, one: PictureViews, other: PictureViews, starts: Pixels
) -> tuple[Pixels | None, float]:
    """The map that lays the second over the first, None if none fits; and how well the whole correlates."""
    maps, fits = _fitted(one.small[tone], other.small[tone], starts)
    if fits.max() < _FITS:
        return None, 0.0
    [found], [fit] = _fitted(one.large[tone], other.large[tone], maps[[fits.argmax()]])
    if fit <= 0 or not _STRETCH[0] < abs(np.linalg.det(found[:, :2])) < _STRETCH[1]:
        return None, 0.0
    return found, float(fit)


def _fitted(one: Pixels, other: Pixels, maps: Pixels) -> tuple[Pixels, Pixels]:
    """(n, 2, 3), (n,): the maps after some steps, and how well each correlates; -1 where little overlaps.

    A map takes a place of `one`, x and y from -1 to 1, to the place of `other` that lies there.
    """
    side = len(one)
    x, y = _grid(side)
    down, across = np.gradient(other)
    layers = np.stack([other, across * side / 2, down * side / 2])
    values = one.ravel()
    for _ in range(_STEPS[side]):
        seen, inside = _sampled(layers, maps, x, y)
        mine, _ = _standard(np.broadcast_to(values, inside.shape), inside)
        theirs, their_spread = _standard(seen[0], inside)
        rest = mine - theirs
        # The weight of Geman's and McClure's estimator.
        weight = inside / (1 + (rest / _NOISE) ** 2) ** 2
        slopes = seen[1:] / their_spread[None]
        jacobian = np.stack([slope * place for slope in slopes for place in (x, y, np.ones_like(x))], axis=-1)
        weighted = jacobian * weight[..., None]
        normal = weighted.transpose(0, 2, 1) @ jacobian + 1e-5 * side * side * np.eye(6)
        steps = np.linalg.solve(normal, weighted.transpose(0, 2, 1) @ rest[..., None])[..., 0]
        maps = maps + np.clip(steps, -0.15, 0.15).reshape(-1, 2, 3)
        if np.abs(steps).max() < 1e-3:
            break
    seen, inside = _sampled(layers[:1], maps, x, y)
    mine, _ = _standard(np.broadcast_to(values, inside.shape), inside)
    theirs, _ = _standard(seen[0], inside)
    covered = inside.sum(axis=1)
    fits = (mine * theirs).sum(axis=1) / np.maximum(covered, 1)
    return maps, np.where(covered < _OVERLAP * side * side, -1.0, fits)


def _sampled(layers: Pixels, maps: Pixels, x: Pixels, y: Pixels) -> tuple[Pixels, Pixels]:
    """(layers, n, places), (n, places): what lies at each place, and 1 where that is inside the picture."""
    from scipy.ndimage import map_coordinates

    side = layers.shape[1]
    across, down = (maps @ np.stack([x, y, np.ones_like(x)])).transpose(1, 0, 2)
    places = [(down + 1) * side / 2 - 0.5, (across + 1) * side / 2 - 0.5]
    seen = np.stack([map_coordinates(layer, places, order=1, mode="nearest") for layer in layers])
    return seen, ((np.abs(across) < 1) & (np.abs(down) < 1)).astype(np.float64)


def _standard(values: Pixels, inside: Pixels) -> tuple[Pixels, Pixels]:
    """The values inside with mean 0 and standard deviation 1, 0 elsewhere; and that deviation, (n, 1).

    Flat pictures stay flat: their noise is not amplified.
    """
    count = np.maximum(inside.sum(axis=1, keepdims=True), 1)
    centred = (values - (values * inside).sum(axis=1, keepdims=True) / count) * inside
    spread = np.maximum(np.sqrt((centred**2).sum(axis=1, keepdims=True) / count), _FLAT)
    return centred / spread, spread


def _compared(one: Pixels, other: Pixels, found: Pixels) -> tuple[Pixels, NDArray[np.bool_]]:
    """(side, side) each: how each place correlates, and whether either picture has content there."""
    from scipy.ndimage import uniform_filter

    def mean(values: Pixels) -> Pixels:
        averaged: Pixels = uniform_filter(values, _WINDOW)
        return averaged

    side = len(one)
    seen, inside = _sampled(other[None], found[None], *_grid(side))
    laid = seen[0, 0].reshape(side, side)
    whole = mean(inside[0].reshape(side, side)) > 0.999
    mine, theirs = mean(one), mean(laid)
    my_spread, their_spread = (
        np.sqrt(np.maximum(mean(image**2) - average**2, 1))
        for image, average in ((one, mine), (laid, theirs))
    )
    alike = (mean(one * laid) - mine * theirs) / (my_spread * their_spread)
    return alike, whole & (np.maximum(my_spread, their_spread) > _CONTENT)


def _share(alike: Pixels, counts: NDArray[np.bool_], *, part: float = 2.0) -> float:
    """The share of counting places, in a circle of this radius (half the side is 1), where both correlate."""
    inner = counts & (np.hypot(*_grid(len(alike))) < part).reshape(alike.shape)
    counts = inner if inner.sum() > _SOME else counts
    return float((alike[counts] > _AGREES).mean()) if counts.any() else 0.0


def _grid(side: int) -> tuple[Pixels, Pixels]:
    """(places,) each: x and y of the pixels' centres, from -1 to 1."""
    centres = (np.arange(side) + 0.5) * 2 / side - 1
    x, y = np.meshgrid(centres, centres)
    return x.ravel(), y.ravel()


_TILE = 64  # pixels of a side of a picture that may have a sticker on it
_OTHER_COLOUR = 24  # of 255, in red, green or blue
_LARGEST_COVER = 0.5  # of the picture
# Least shares that stayed: beside the sticker, and of the content in the middle there.
_SAME, _SAME_CONTENT = 0.97, 0.93
_SHOWS = 0.15  # of either picture's content
# The least share that changed below it, and the fewest places with content in the middle beside it.
_THING, _LETTERS = (0.75, 80), (0.57, 250)


def tile(picture: bytes) -> Pixels:
    """(64, 64, 3): the colours of one of the library's JPGs. Raises BadPicture if it cannot be read."""
    from PIL import Image

    return np.asarray(_opened(picture, _TILE).resize((_TILE, _TILE), Image.Resampling.BOX), np.float64)


def is_covered(one: Pixels, other: Pixels) -> bool:
    """Whether two pictures differ only where one thing lies on either: a sticker, or letters.

    Coins of one series have the same frame around another sign as well, but on the same ground: below a
    sticker hardly anything is as it was.
    """
    import cv2

    differs = np.abs(one - other).max(axis=2) >= _OTHER_COLOUR
    around = np.ones((3, 3), np.uint8)
    changed = cv2.findNonZero(cv2.morphologyEx(differs.astype(np.uint8), cv2.MORPH_OPEN, around))
    if changed is None:
        return False
    hull = cv2.fillConvexPoly(np.zeros(differs.shape, np.uint8), cv2.convexHull(changed), 1)
    cover = cv2.dilate(hull, around) > 0
    if cover.mean() > _LARGEST_COVER or differs[~cover].mean() > 1 - _SAME:
        return False
    contents = _has_content(one), _has_content(other)
    inner = np.hypot(*_grid(_TILE)).reshape(cover.shape) < _MIDDLE
    middle = (contents[0] | contents[1]) & inner & ~cover
    return bool(
        any(differs[cover].mean() >= share and middle.sum() >= places for share, places in (_THING, _LETTERS))
        and (middle & ~differs).sum() >= _SAME_CONTENT * middle.sum()
        and all((each & ~cover).sum() >= _SHOWS * each.sum() for each in contents)
    )


def _has_content(colours: Pixels) -> NDArray[np.bool_]:
    from scipy.ndimage import uniform_filter

    luma = colours @ (0.299, 0.587, 0.114)
    spread = uniform_filter(luma**2, 5) - uniform_filter(luma, 5) ** 2
    return np.asarray(spread > _CONTENT**2)


def _resized(image: "Image.Image", side: int) -> Pixels:
    from PIL import Image

    filter = Image.Resampling.BOX if side == _SMALL else Image.Resampling.BILINEAR
    return np.asarray(image.resize((side, side), filter), np.float64)


def _starts() -> Pixels:
    """(11, 2, 3): as it is, and each picture as a part of the other, cut in the middle or at a corner."""
    maps = [(1.0, 0.0, 0.0)]
    for scale in (0.88, 1 / 0.88):
        rest = 1 - scale
        maps += [(scale, rest * x, rest * y) for x, y in ((0, 0), (-1, -1), (-1, 1), (1, -1), (1, 1))]
    return np.array([[[scale, 0.0, x], [0.0, scale, y]] for scale, x, y in maps])


_STARTS = _starts()


# Chosen on half of the demo's pictures (docs/duplicates.md).
LEAST_AGREEMENT = 0.68  # share of two pictures that agrees, from which one is a copy of the other
_CERTAIN_BITS = 32  # of 256: nearer fingerprints were never wrong
_CERTAIN_COSINE = 0.95  # nor were closer vectors
_PRINTS, _VECTORS = 8, 2  # of one picture, the nearest that are looked at, 0.05 s each; no further ones count
# Chosen on half of the real logos (docs/duplicates.md): the score of the details, times the share that agrees
# in the middle, of a copy; and either alone. What agrees everywhere needs little else: plain logos have few.
_EVIDENCE, _LEAST_SCORE, _LEAST_SHARE = 14.0, 6.0, 0.4
_EVERYWHERE = 0.9
_LEAST_PART = 0.01  # of this picture has to show the other one …
_NEARLY_WHOLE = 0.7  # … and nearly all of either: two parts say nothing about the rest
_PARTS_DECODED = 256
_SURER = 24  # bits that a part is nearer if all of it agrees: it counts as a fingerprint 40 to 57 bits apart
_KEPT = 64  # pictures whose views are kept, 0.2 MB each


class Confirmation:
    """Compares pictures place by place; a picture that cannot be read is believed to be alike."""

    def __init__(self, catalog: Catalog, *, picture: Callable[[str], Path]) -> None:
        self._catalog = catalog
        self._picture = picture  # where the picture of an address lies at this moment
        self._views: LruCache[str, PictureViews] = LruCache(_KEPT)

    def near(self, content: bytes, found: Sequence[NearPrint]) -> list[NearPrint]:
        """Those of the pictures near this one (a JPG) that are the same, nearest first."""
        certain = [near for near in found if near.distance <= _CERTAIN_BITS]
        doubtful = [near for near in found if near.distance > _CERTAIN_BITS][:_PRINTS]
        if not doubtful or (mine := _views_of(content)) is None:
            return [*certain, *doubtful]
        both = {True: mine.mirrored(), False: mine}
        return certain + [
            near
            for near in doubtful
            if (theirs := self._of_picture(near.image_hash)) is None
            or agreement(both[near.is_mirrored], theirs) >= LEAST_AGREEMENT
        ]

    def near_record(self, address: str, found: Sequence[NearPrint]) -> list[NearPrint]:
        """Those of the pictures near a record's that are the same, nearest first."""
        try:
            return self.near(self._picture(address).read_bytes(), found)
        except (OSError, MemedexError):
            return list(found)

    def placed(self, content: bytes, found: Sequence[PlacedPicture], *, is_mirrored: bool) -> list[NearPrint]:
        """Those of the pictures that seem to lie in this one (a JPG) of which both show the same part.

        `is_mirrored`: in what this one is, mirrored.
        """
        likely = [one for one in found if one.score >= _LEAST_SCORE]
        if not likely:
            return []
        try:
            mine = _opened(content, _PARTS_DECODED)
        except BadPicture:
            return []
        if is_mirrored:
            from PIL import ImageOps

            mine = ImageOps.mirror(mine)
        same = []
        for one in likely:
            here, there = one.overlap()
            if _area(here) < _LEAST_PART or max(_area(here), _area(there)) < _NEARLY_WHOLE:
                continue
            try:
                theirs = _opened(self._content_of(one.image_hash), _PARTS_DECODED)
            except (OSError, MemedexError):
                continue
            share = agreement_in_place(views_of_part(theirs, there), views_of_part(mine, here))
            is_telling = share >= _LEAST_SHARE and share * one.score >= _EVIDENCE
            if share >= _EVERYWHERE or is_telling:
                same.append(NearPrint(one.image_hash, round(NEAR - _SURER * share), is_mirrored))
        return same

    def covered(self, content: bytes, found: Sequence[str]) -> list[NearPrint]:
        """Those of these pictures, by their hashes, that this one (a JPG) is with a sticker on it."""
        try:
            mine = tile(content)
        except BadPicture:
            return []
        same = []
        for image_hash in found:
            try:
                theirs = tile(self._content_of(image_hash))
            except (OSError, MemedexError):
                continue
            if is_covered(mine, theirs):
                same.append(NearPrint(image_hash, NEAR - _SURER, is_mirrored=False))
        return same

    def similar(self, address: str, cosines: Mapping[str, float]) -> dict[str, float]:
        """Those of these records, by their pictures' cosine, whose picture is the same as this one's."""
        return self.similar_to(lambda: self._of_record(address), cosines)

    def similar_to(
        self, picture: Callable[[], PictureViews | None], cosines: Mapping[str, float]
    ) -> dict[str, float]:
        """The same for a picture that is read if it has to be."""
        closest = sorted(cosines.items(), key=lambda pair: -pair[1])
        certain = {other: cosine for other, cosine in closest if cosine >= _CERTAIN_COSINE}
        doubtful = [pair for pair in closest if pair[0] not in certain][:_VECTORS]
        if not doubtful or (mine := picture()) is None:
            return certain | dict(doubtful)
        for other, cosine in doubtful:
            theirs = self._of_record(other)
            if theirs is None or any(
                agreement(one, theirs) >= LEAST_AGREEMENT for one in (mine, mine.mirrored())
            ):
                certain[other] = cosine
        return certain

    def _content_of(self, image_hash: str) -> bytes:
        row = self._catalog.row("SELECT address FROM records WHERE image_hash = ?", [image_hash])
        return self._picture(row["address"]).read_bytes() if row else b""

    def _of_picture(self, image_hash: str) -> PictureViews | None:
        row = self._catalog.row("SELECT address FROM records WHERE image_hash = ?", [image_hash])
        return self._read(image_hash, row["address"]) if row else None

    def _of_record(self, address: str) -> PictureViews | None:
        row = self._catalog.row("SELECT image_hash FROM records WHERE address = ?", [address])
        return self._read(row["image_hash"], address) if row else None

    def _read(self, image_hash: str, address: str) -> PictureViews | None:
        if (found := self._views.get(image_hash)) is not None:
            return found
        try:
            found = _views_of(self._picture(address).read_bytes())
        except (OSError, MemedexError):
            return None
        if found is not None:
            self._views[image_hash] = found
        return found


def _area(part: Box) -> float:
    return max(part[2] - part[0], 0) * max(part[3] - part[1], 0)


def _views_of(content: bytes) -> PictureViews | None:
    try:
        return views(content)
    except BadPicture:
        return None
