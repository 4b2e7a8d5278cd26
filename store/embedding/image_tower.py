"""The image half of `offline`: EfficientNet-Lite0 by ONNX Runtime, read in two ways.

Meaning is ConSE (Norouzi et al. 2013, "Zero-Shot Learning by Convex Combination of Semantic Embeddings"): the
most probable ImageNet classes, each represented by the MiniLM embedding of its name; and the picture's
colours, by those of their names. Looks are the network's pooled features. scripts/make_offline_models.py
makes the files `lite0.onnx` and `offline-heads.npz`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from store.disk.layout import RESOURCES
from store.embedding import colour_shares
from store.embedding.lazy_weights import Lazy, file_digest, fingerprint
from store.embedding.onnx import open_session
from store.embedding.windows import Matrix, unit
from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

NETWORK = RESOURCES / "models" / "lite0.onnx"
HEADS = RESOURCES / "models" / "offline-heads.npz"
SIZE = 224
CROP = 0.875  # of each side: what the network's own evaluation looks at
LONG = 1.1  # times the shorter side; both ends of such a picture are looked at as well
FRAME = 245  # from this brightness on, rows and columns at the edge are a white frame
TEMPERATURE = 2.0  # of the softmax; 1 to 4 gave no gain beyond chance (docs/models.md)
CLASSES = 100  # the most probable; 50 to 1,000 gave none either
COLOUR = 1.8  # the weight of the colours beside the classes: docs/models.md
BATCH = 16
VERSION = "vision-2"  # part of the fingerprint: views, temperature, number of classes, colours

# (11,): the square root of each colour's share, over their sum: the mean of 98 photographs and drawings.
USUAL_COLOURS = (0.028, 0.026, 0.021, 0.028, 0.019, 0.009, 0.022, 0.198, 0.149, 0.255, 0.243)


@dataclass(frozen=True, slots=True)
class _VisionParts:
    session: "InferenceSession"
    classes: Matrix  # (1000, 384) where each class lies in the sentence space
    colours: Matrix  # (11, 384) the direction of each colour in it, of those of COLOURS
    centre: Matrix  # (1280,) the mean of the square roots of the pooled features
    projection: Matrix  # (1280, 384)


class Vision:
    """Turns pictures into 384 numbers of meaning and 384 of looks; loads at first use; thread-safe."""

    def __init__(self) -> None:
        self._parts = Lazy("the picture model (EfficientNet-Lite0)", _load)

    @property
    def status(self) -> str:
        return self._parts.status

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(VERSION, *(file_digest(path) for path in (NETWORK, HEADS)))

    def warm(self) -> None:
        self.embed([Image.new("RGB", (SIZE, SIZE), "white")])

    def embed(self, images: Sequence[Image.Image]) -> tuple[Matrix, Matrix]:
        """Two matrices of shape (n, 384) with unit rows: meaning and looks."""
        meaning, looks = [], []
        for start in range(0, len(images), BATCH):
            pictures = [without_frame(image) for image in images[start : start + BATCH]]
            each = [views(picture) for picture in pictures]
            starts = np.cumsum([0, *(len(some) for some in each[:-1])])
            pixels = np.stack([view for some in each for view in some])
            logits, pooled = self._parts.get().session.run(None, {"pictures": pixels})
            meaning.append(self._meaning(np.asarray(logits), starts, pictures))
            looks.append(self._looks(np.asarray(pooled), starts))
        if not images:
            return np.zeros((0, 384), dtype=np.float32), np.zeros((0, 384), dtype=np.float32)
        return np.concatenate(meaning), np.concatenate(looks)

    def _meaning(
        self, logits: NDArray[np.float32], starts: NDArray[np.intp], pictures: Sequence[Image.Image]
    ) -> Matrix:
        parts = self._parts.get()
        scaled = np.exp((logits - logits.max(axis=1, keepdims=True)) / TEMPERATURE)
        probable = scaled / scaled.sum(axis=1, keepdims=True)
        least = np.partition(probable, -CLASSES, axis=1)[:, -CLASSES, None]
        likely = np.where(probable >= least, probable, 0)
        things = unit(np.add.reduceat(likely @ parts.classes, starts, axis=0))
        return unit(np.asarray(things + COLOUR * _unusual(pictures) @ parts.colours, dtype=np.float32))

    def _looks(self, pooled: NDArray[np.float32], starts: NDArray[np.intp]) -> Matrix:
        parts = self._parts.get()
        features = rooted(pooled[starts], pooled[starts + 1])
        return unit(np.asarray((features - parts.centre) @ parts.projection, dtype=np.float32))


@cache  # as the sentence model
def _load() -> _VisionParts:
    if not HEADS.exists():
        raise ModelUnavailable(
            f"{HEADS} is missing: it belongs to the program, fetch it from the repository again"
        )
    with np.load(HEADS) as heads:  # allow_pickle stays off: a matrix must not run code
        matrices = [heads[name].astype(np.float32) for name in ("classes", "colours", "centre", "projection")]
    return _VisionParts(open_session(NETWORK), *matrices)


def without_frame(image: Image.Image) -> Image.Image:
    """The picture on white, without the white rows and columns around it, as the library pads pictures."""
    picture = _on_white(image)
    box = picture.convert("L").point(lambda value: 255 * (value < FRAME)).getbbox()
    return picture.crop(box) if box else picture


def views(picture: Image.Image) -> list[NDArray[np.float32]]:
    """The whole picture squashed to a square, its centre and, of a long one, both ends.

    Values from -1 to 1, colour planes first.
    """
    width, height = picture.size
    shorter = min(picture.size)
    side = max(round(shorter * CROP), 1)
    left, top = (width - side) // 2, (height - side) // 2
    regions = [picture, picture.crop((left, top, left + side, top + side))]
    if max(picture.size) > LONG * shorter:
        regions.append(picture.crop((0, 0, shorter, shorter)))
        regions.append(picture.crop((width - shorter, height - shorter, width, height)))
    squares = (region.resize((SIZE, SIZE), Image.Resampling.BICUBIC) for region in regions)
    # Mean and deviation are both 0.5 (the weights' package says ImageNet's, and is wrong).
    return [(np.asarray(square, dtype=np.float32) / 127.5 - 1).transpose(2, 0, 1) for square in squares]


def rooted(whole: NDArray[np.float32], centre: NDArray[np.float32]) -> Matrix:
    """Unit rows of the square roots of both views' pooled features; a few strong ones must not dominate."""
    return unit(np.asarray(np.sqrt(np.maximum(whole, 0)) + np.sqrt(np.maximum(centre, 0)), np.float32))


def _unusual(pictures: Sequence[Image.Image]) -> Matrix:
    """(n, 11): how much more there is of each colour than usual; small areas count by their square root."""
    roots = np.sqrt([colour_shares.shares(picture) for picture in pictures])
    return np.asarray(roots / roots.sum(axis=1, keepdims=True) - USUAL_COLOURS, dtype=np.float32)


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode == "RGB":
        return image
    if "A" in image.getbands() or "transparency" in image.info:
        layered = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), layered).convert("RGB")
    return image.convert("RGB")
