"""The colours of a picture: the share of its pixels that is closest to each of eleven named ones.

The names are the basic colour terms of English (Berlin and Kay 1969). Distances are those of CIELAB (D65).
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Floats = NDArray[np.float64]

COLOURS = {
    "red": (220, 30, 30), "orange": (245, 140, 20), "yellow": (250, 225, 40), "green": (60, 160, 60),
    "blue": (50, 90, 210), "purple": (130, 60, 170), "pink": (245, 150, 190), "brown": (120, 75, 40),
    "white": (250, 250, 250), "grey": (135, 135, 135), "black": (15, 15, 15),
}  # fmt: skip
_SIDE = 48  # pixels that a picture is looked at with
_TO_XYZ = np.array([[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]])  # sRGB
_WHITE = np.array([0.9505, 1, 1.089])


def shares(picture: Image.Image) -> Floats:
    """(11,): the share of each colour, in the order of COLOURS; they add up to 1."""
    small = np.asarray(picture.resize((_SIDE, _SIDE), Image.Resampling.BOX)).reshape(-1, 3)
    distances = ((_lab(small)[:, None] - _lab(np.array(list(COLOURS.values())))) ** 2).sum(axis=-1)
    return np.bincount(distances.argmin(axis=1), minlength=len(COLOURS)) / len(small)


def _lab(rgb: NDArray[np.integer]) -> Floats:
    """(n, 3) CIELAB of (n, 3) sRGB bytes."""
    values = rgb / 255
    linear = np.where(values > 0.04045, ((values + 0.055) / 1.055) ** 2.4, values / 12.92)
    relative = linear @ _TO_XYZ / _WHITE
    root = np.where(relative > 0.008856, np.cbrt(relative), 7.787 * relative + 16 / 116)
    x, y, z = root.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)
