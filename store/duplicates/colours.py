"""Whether one picture is another one in other colours."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from store.lru import LruCache

_SIDE = 8  # fields of a picture along each side
# Of 255, what the fields differ by on average: a hue turned by 127° 10 and more, crops up to 6.8.
_OTHER = 7.5

_swatches: LruCache[str, NDArray[np.float32]] = LruCache(4_096)  # by the picture's hash: 512 bytes each


def are_recoloured(one: tuple[str, Path], other: tuple[str, Path], *, mirrored: bool) -> bool:
    """Whether two pictures of one drawing, each by its hash and file, differ in colour.

    Brightness is ignored. False if one cannot be read.
    """
    try:
        own, theirs = _swatch(*one), _swatch(*other)
    except OSError:
        return False
    return float(np.abs(own - (theirs[:, ::-1] if mirrored else theirs)).mean()) > _OTHER


def _swatch(image_hash: str, path: Path) -> NDArray[np.float32]:
    """(8, 8, 2): the two colour differences (Cb, Cr) of each field."""
    from PIL import Image  # a tenth of a second

    found = _swatches.get(image_hash)
    if found is None:
        with Image.open(path) as image:
            image.draft("RGB", (8 * _SIDE, 8 * _SIDE))
            small = image.convert("YCbCr").resize((_SIDE, _SIDE), Image.Resampling.BOX)
        found = _swatches[image_hash] = np.asarray(small, np.float32)[..., 1:]
    return found
