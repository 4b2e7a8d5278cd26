"""The image half of `offline`: EfficientNet-Lite0 by ONNX Runtime, read in two ways.

Meaning is ConSE (Norouzi et al. 2013, "Zero-Shot Learning by Convex Combination of Semantic Embeddings"): the
most probable ImageNet classes, each represented by the MiniLM embedding of its name. Looks are the network's
pooled features. scripts/make_offline_models.py makes the files `lite0.onnx` and `offline-heads.npz`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from store.disk.layout import RESOURCES
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
TEMPERATURE = 2.0
CLASSES = 100
BATCH = 16
VERSION = "vision-1"  # part of the fingerprint: views, temperature, number of classes


@dataclass(frozen=True, slots=True)
class _VisionParts:
    session: "InferenceSession"
    classes: Matrix  # (1000, 384) where each class lies in the sentence space
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
            pixels = np.stack([view for image in images[start : start + BATCH] for view in views(image)])
            logits, pooled = self._parts.get().session.run(None, {"pictures": pixels})
            meaning.append(self._meaning(np.asarray(logits)))
            looks.append(self._looks(np.asarray(pooled)))
        if not images:
            return np.zeros((0, 384), dtype=np.float32), np.zeros((0, 384), dtype=np.float32)
        return np.concatenate(meaning), np.concatenate(looks)

    def _meaning(self, logits: NDArray[np.float32]) -> Matrix:
        scaled = np.exp((logits - logits.max(axis=1, keepdims=True)) / TEMPERATURE)
        probable = scaled / scaled.sum(axis=1, keepdims=True)
        least = np.partition(probable, -CLASSES, axis=1)[:, -CLASSES, None]
        likely = np.where(probable >= least, probable, 0)
        return unit(_over_views(likely @ self._parts.get().classes))

    def _looks(self, pooled: NDArray[np.float32]) -> Matrix:
        parts = self._parts.get()
        return unit(np.asarray((rooted(pooled) - parts.centre) @ parts.projection, dtype=np.float32))


def _load() -> _VisionParts:
    if not HEADS.exists():
        raise ModelUnavailable(
            f"{HEADS} is missing: it belongs to the program, fetch it from the repository again"
        )
    with np.load(HEADS) as heads:  # allow_pickle stays off: a matrix must not run code
        matrices = [heads[name].astype(np.float32) for name in ("classes", "centre", "projection")]
    return _VisionParts(open_session(NETWORK), *matrices)


def views(image: Image.Image) -> list[NDArray[np.float32]]:
    """The whole picture squashed to a square, and its centre; values from -1 to 1, colour planes first."""
    picture = _on_white(image)
    side = round(min(picture.size) * CROP)
    left, top = ((length - side) // 2 for length in picture.size)
    regions = (picture, picture.crop((left, top, left + side, top + side)))
    squares = (region.resize((SIZE, SIZE), Image.Resampling.BICUBIC) for region in regions)
    # Mean and deviation are both 0.5 (the weights' package says ImageNet's, and is wrong).
    return [(np.asarray(square, dtype=np.float32) / 127.5 - 1).transpose(2, 0, 1) for square in squares]


def rooted(pooled: NDArray[np.float32]) -> Matrix:
    """Unit rows of the square roots of pooled features; a few strong ones must not dominate."""
    return unit(_over_views(np.sqrt(np.maximum(pooled, 0))))


def _over_views(rows: NDArray[Any]) -> Matrix:
    """The sum of each picture's two rows."""
    return np.asarray(rows[0::2] + rows[1::2], dtype=np.float32)


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode == "RGB":
        return image
    if "A" in image.getbands() or "transparency" in image.info:
        layered = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), layered).convert("RGB")
    return image.convert("RGB")
