"""Small WebP copies of pictures for the pages; derived, so they may be deleted at any time.

Stored pictures have no transparency (they are JPGs). A round logo on one pale colour, as transparency on
white becomes, gets it back in the copy, so that it has no pale corners on a dark page.
"""

import os
import threading
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from store.disk.images import SIDE, decode
from store.disk.layout import Layout
from store.errors import BadPicture

TINY = 64  # pixels: on the map
SIZES = (TINY, 320, 512)  # of the longer side: the map, a card on a sharp screen, the panel of a coin
_QUALITY = {TINY: 82, 320: 78, 512: 88}
_EFFORT = 2  # of libwebp's 0 to 6: its usual 4 takes twice as long for 3 % less bytes and the same error
LOOK = 2  # part of a copy's name and URL; rises when copies look different
_PALE = 210  # the least of red, green and blue around a round logo
_CLOSE = 14  # … and by how much the pixels there may differ, as JPG blurs them
_RADII = range(180, 263, 2)  # pixels; JPG blurs the edge by three

# A processor is left to decisions and pages while people scroll through pictures nobody has seen yet.
_making = threading.Semaphore(max(1, (os.cpu_count() or 2) - 1))


def thumbnail(layout: Layout, picture: Path, image_hash: str, *, size: int) -> Path:
    """The path of the picture's copy of `size` pixels, by its hash, made if missing. Raises BadPicture."""
    if size not in SIZES:
        raise BadPicture(f"there are no copies of {size} pixels, only of {' and '.join(map(str, SIZES))}")
    path = layout.thumbnails / image_hash[:2] / f"{image_hash}-{size}-{LOOK}.webp"
    if not path.exists():
        with _making:
            if not path.exists():  # another browser asked for it at the same time
                _write(path, _without_corners(decode(picture)), size=size)
    return path


def _without_corners(image: Image.Image) -> Image.Image:
    """The picture, transparent around a centred disc if all around it is of one pale colour."""
    if image.size != (SIDE, SIDE):
        return image
    pixels = np.asarray(image)
    ground = np.median(np.concatenate([pixels[:8, :8], pixels[-8:, -8:]]).reshape(-1, 3), axis=0)
    if ground.min() < _PALE:
        return image
    lowest, highest = np.ceil(ground - _CLOSE), np.floor(np.minimum(ground + _CLOSE, 255))
    is_ground = np.ones((SIDE, SIDE), bool)
    for channel, low, high in zip(image.split(), lowest, highest, strict=True):
        values = np.asarray(channel)
        is_ground &= (values >= low.astype(np.uint8)) & (values <= high.astype(np.uint8))
    distance = _distances()
    # Pixels in each ring of one pixel around the centre, and how many of them have the ground's colour.
    rings = np.ceil(distance).astype(np.intp).ravel()
    those, ground_there = np.bincount(rings), np.bincount(rings, is_ground.ravel())
    for radius in _RADII:
        if ground_there[radius + 1 :].sum() > 0.998 * those[radius + 1 :].sum():
            edge = slice(radius - 15, radius - 5)
            is_edge_ground = ground_there[edge].sum() >= 0.05 * those[edge].sum()
            return image if is_edge_ground else _cut(image, radius - 4)
    return image


def _cut(image: Image.Image, radius: int) -> Image.Image:
    """The picture, transparent outside of the centred circle of this radius, with a smooth edge."""
    alpha = np.clip(radius + 0.5 - _distances(), 0, 1) * 255
    image = image.convert("RGBA")
    image.putalpha(Image.fromarray(alpha.round().astype(np.uint8)))
    return image


@cache
def _distances() -> NDArray[np.float64]:
    """How many pixels each pixel of a stored picture is from its centre, shape (512, 512)."""
    across = np.arange(SIDE) - (SIDE - 1) / 2
    distances: NDArray[np.float64] = np.hypot(across, across[:, None])
    return distances


def _write(path: Path, image: Image.Image, *, size: int) -> None:
    image.thumbnail((size, size), Image.Resampling.LANCZOS)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Own name for each writer: two browsers asking at once must not write into one file.
    temporary = path.with_name(f".{path.stem}.{os.getpid()}-{threading.get_ident()}")
    try:
        image.save(temporary, "WEBP", quality=_QUALITY[size], method=_EFFORT)
        temporary.replace(path)  # no fsync: a copy lost in a power cut is made again
    finally:
        temporary.unlink(missing_ok=True)
