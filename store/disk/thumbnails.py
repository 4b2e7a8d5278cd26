"""Small WebP copies of pictures for the pages; derived, so they may be deleted at any time.

Stored pictures have no transparency (reference 1: JPG). A round logo on one pale colour, as transparency on
white becomes, gets it back in the copy, so that it has no pale corners on a dark page.
"""

import os
import threading
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from store.disk.images import decode
from store.disk.layout import Layout
from store.errors import BadPicture

TINY = 64  # pixels: on the map
SIZES = (TINY, 320, 512)  # of the longer side: the map, a card on a sharp screen, the large view
_QUALITY = {TINY: 82, 320: 78, 512: 88}
LOOK = 2  # part of a copy's name and URL; rises when copies look different
_PALE = 210  # the least of red, green and blue around a round logo
_CLOSE = 14  # … and by how much the pixels there may differ, as JPG blurs them
_RADII = range(180, 263, 2)  # pixels of 512; JPG blurs the edge by three
_OVERSAMPLED = 4

# A processor is left to decisions and pages while people scroll through pictures nobody has seen yet.
_making = threading.Semaphore(max(1, (os.cpu_count() or 2) - 1))


def thumbnail(layout: Layout, picture: Path, image_hash: str, *, size: int) -> Path:
    """The path of the picture's copy whose longer side is `size` pixels, made if it is missing.

    `image_hash` is the SHA-256 of the picture and names the copy, so a copy never becomes stale.
    Raises BadPicture if the picture cannot be read, or if `size` is not one of SIZES.
    """
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
    if image.size != (512, 512):
        return image
    pixels = np.asarray(image).astype(np.int16)
    ground = np.median(np.concatenate([pixels[:8, :8], pixels[-8:, -8:]]).reshape(-1, 3), axis=0)
    if ground.min() < _PALE:
        return image
    is_ground = np.abs(pixels - ground).max(axis=2) <= _CLOSE
    across = np.arange(512) - 255.5
    distance = np.hypot(across, across[:, None])
    for radius in _RADII:
        if is_ground[distance > radius].mean() > 0.998:
            edge = is_ground[(distance > radius - 16) & (distance <= radius - 6)]
            return _cut(image, radius - 4) if edge.mean() < 0.05 else image
    return image


def _cut(image: Image.Image, radius: int) -> Image.Image:
    """The picture, transparent outside of the centred circle of this radius."""
    side = image.width * _OVERSAMPLED  # for a smooth edge
    mask = Image.new("L", (side, side))
    centre = side / 2
    ImageDraw.Draw(mask).circle((centre, centre), radius * _OVERSAMPLED, fill=255)
    image = image.convert("RGBA")
    image.putalpha(mask.resize(image.size, Image.Resampling.LANCZOS))
    return image


def _write(path: Path, image: Image.Image, *, size: int) -> None:
    image.thumbnail((size, size), Image.Resampling.LANCZOS)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Own name for each writer: two browsers asking at once must not write into one file.
    temporary = path.with_name(f".{path.stem}.{os.getpid()}-{threading.get_ident()}")
    try:
        image.save(temporary, "WEBP", quality=_QUALITY[size], method=4)
        temporary.replace(path)  # no fsync: a copy lost in a power cut is made again
    finally:
        temporary.unlink(missing_ok=True)
