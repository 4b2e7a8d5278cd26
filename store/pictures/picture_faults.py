"""What is wrong with a picture, for `faults:`, and which pictures were not looked at yet.

    faults          blank, plain (nearly one colour), blurred, tiny (blurred as one enlarged from few pixels)
    PictureFaults   stores the faults of the pictures of a library

A picture is as sharp as its sharpest pixels are: the 300th largest value of its discrete Laplacian, as a
share of its contrast. Of the demo's pictures every one reaches .15; blurred by a Gaussian of 2 pixels their
median has .07, by 4 pixels .04; enlarged from 128 pixels .11, from 64 .05, from 48 .04. Where the size of
the original is known, that alone decides whether it was tiny.
"""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from store.catalog import picture_rows
from store.catalog.catalog import Catalog, current_generation, next_derived
from store.errors import MemedexError
from store.progress import Progress

if TYPE_CHECKING:
    from PIL import Image

Fault = Literal["blank", "plain", "blurred", "tiny"]

_FLAT = 4.0  # standard deviation of 255 below which there is nothing to see
_NEAR = 16  # of 255: a colour that looks the same
_SHARE = 0.95  # of a plain picture's pixels
_EDGE = 300  # pixels that are sharp in a sharp picture
_BLURRED, _TINY = 0.12, 0.047  # sharpness below these
_SMALL = 64  # pixels: an original whose longer side has fewer is tiny
_BATCH = 32  # pictures of one transaction


def faults(image: "Image.Image", *, original: int | None = None) -> set[Fault]:
    """What is wrong with a picture of the library; `original`: the pixels of its longer side, if known."""
    pixels = np.asarray(image.convert("RGB"), np.int16)[::4, ::4]
    luma = np.asarray(image.convert("L"), np.float32)
    found: set[Fault] = {"tiny"} if original is not None and original < _SMALL else set()
    if luma.std() < _FLAT:
        return found | {"blank"}
    usual = np.median(pixels.reshape(-1, 3), axis=0)
    if (np.abs(pixels - usual).max(axis=2) <= _NEAR).mean() >= _SHARE:
        found.add("plain")
    sharp = _sharpness(luma)
    found |= {"blurred"} if sharp < _BLURRED else set()
    return found | ({"tiny"} if original is None and sharp < _TINY else set())


def _sharpness(luma: NDArray[np.float32]) -> float:
    around = luma[:-2, 1:-1] + luma[2:, 1:-1] + luma[1:-1, :-2] + luma[1:-1, 2:]
    steps = np.abs(4 * luma[1:-1, 1:-1] - around).ravel()
    low, high = np.percentile(luma[::2, ::2], (0.1, 99.9))
    return float(np.partition(steps, -_EDGE)[-_EDGE] / max(high - low, 1.0))


class PictureFaults:
    """Looks at pictures that were not looked at yet."""

    def __init__(self, catalog: Catalog, *, picture: Callable[[str], Path]) -> None:
        self._catalog = catalog
        self._picture = picture  # where the picture of an address lies at this moment
        self._seen = 0  # the generation up to which every picture was looked at

    def look(self, *, progress: Progress) -> int:
        """Look at all that are new; returns how many. If cancelled, finished ones stay."""
        self._catalog.check_writable()
        with self._catalog.reading() as db:
            now = current_generation(db)
            unseen = list(picture_rows.without_faults(db, since=self._seen).items())
        found = 0
        for start in range(0, len(unseen), _BATCH):
            if progress.cancelled:
                return found
            looked = {one: self._faults(*of) for one, of in unseen[start : start + _BATCH]}
            with self._catalog.writing() as db:
                for image_hash, of in looked.items():
                    picture_rows.store_faults(db, image_hash, of)
                if start + _BATCH >= len(unseen):
                    next_derived(db)
            found += len(looked)
        self._seen = now
        return found

    def _faults(self, address: str, original: int | None) -> set[Fault]:
        from PIL import Image

        try:
            with Image.open(BytesIO(self._picture(address).read_bytes())) as image:
                return faults(image, original=original)
        except (OSError, ValueError, SyntaxError, MemedexError):  # the check of the library names it
            return set()
