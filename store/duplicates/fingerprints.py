"""Perceptual hashes of pictures that survive the usual ways to make copies.

Each fingerprint has nine hashes of 256 bits, as imagehash's `phash`: which low frequencies exceed their
median. Seven are of views of the picture's luma, so that a border or a crop of 5 % on any side leaves one of
them intact, and two of views of its lightness, which a change of hue does not affect. docs/duplicates.md has
the figures.
"""

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
    """The fingerprint of one of the library's JPGs: SIZE bytes, NOTHING for a plain one.

    Raises BadPicture if the picture cannot be read.
    """
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


def rows(fingerprints: list[bytes]) -> Bytes:
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
