"""The text of scanned pages, recognised from their pictures by RapidOCR (the extra `eyes`).

A page is turned if its lines stand upright or upside down, and its lines are put in the order in which
columns are read. Each line keeps its rectangle, so that a passage is found on its page.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

import numpy as np

from store.memory.documents.readings import PageReading, Place, Rectangle

ALPHABETS = "Latin, Greek, Chinese and Japanese letters"
LONGEST_SIDE = 1_800  # pixels of a page that is recognised; A4 has 154 dots an inch then
_SURE = 0.5  # confidence of a line, 0 to 1, from which it counts
_CLEAR = 0.8  # mean confidence of a page that is not tried upside down
_TALL = 1.5  # times the width: a line that stands upright
_FEWEST = 4  # lines of a column
_CROSSING = 0.25  # of the lines, at most, run across the gap between two columns
_WIDE = 0.25  # of the text's width that the lines of a column have; cells of tables are narrower

Pixels = np.ndarray[Any, Any]  # (height, width, 3) of bytes, BGR


@dataclass(frozen=True, slots=True)
class Line:
    """A recognised line: its text, its rectangle on the page, and how sure it is."""

    text: str
    place: Rectangle
    score: float = 1.0


def recognised(pixels: Pixels) -> PageReading:
    """The text of a page's picture, in reading order; "" if there is none."""
    tried = {0: _lines(pixels)}
    height, width = pixels.shape[:2]
    tall = sum(_height(one) * height > _TALL * _width(one) * width for one in tried[0])
    if 2 * tall > len(tried[0]):
        tried |= {turn: _lines(np.rot90(pixels, turn)) for turn in (1, 3)}
        del tried[0]
    elif tried[0] and sum(one.score for one in tried[0]) < _CLEAR * len(tried[0]):
        tried[2] = _lines(np.rot90(pixels, 2))
    turn = max(tried, key=lambda one: sum(line.score * len(line.text) for line in tried[one]))
    return _reading([*in_reading_order(tried[turn])], turn=turn)


def _lines(pixels: Pixels) -> list[Line]:
    found = _recogniser()(np.ascontiguousarray(pixels))
    if found.boxes is None or found.txts is None:
        return []
    size = np.array(pixels.shape[1::-1])
    lines = []
    for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        (left, top), (right, bottom) = box.min(axis=0) / size, box.max(axis=0) / size
        if text.strip() and score >= _SURE:
            lines.append(
                Line(text.strip(), (float(left), float(top), float(right), float(bottom)), float(score))
            )
    return lines


@cache
def _recogniser() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.text_score": 0.0,
            "Global.use_cls": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": LONGEST_SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        }
    )


def in_reading_order(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines of a page, columns one after the other; a line across both columns parts what is above it."""
    lines = sorted(lines, key=lambda one: (one.place[1], one.place[0]))
    gap = _gap(lines)
    if gap is None:
        yield from _by_rows(lines)
        return
    band = list[Line]()
    for line in [*lines, None]:
        if line is not None and not _crosses(line, gap):
            band.append(line)
            continue
        yield from in_reading_order([one for one in band if one.place[2] <= gap])
        yield from in_reading_order([one for one in band if one.place[0] >= gap])
        band = []
        if line is not None:
            yield line


def _gap(lines: Sequence[Line]) -> float | None:
    """Where on the page two columns part, from its left; None if there is one column."""
    if len(lines) < 2 * _FEWEST:
        return None
    across = max(one.place[2] for one in lines) - min(one.place[0] for one in lines)
    best: tuple[int, float] | None = None
    for at in sorted({one.place[2] for one in lines}):
        beside = [one for one in lines if one.place[2] <= at], [one for one in lines if one.place[0] >= at]
        crossing = len(lines) - len(beside[0]) - len(beside[1])
        is_column = all(
            len(side) >= _FEWEST and median(map(_width, side)) >= _WIDE * across for side in beside
        )
        if is_column and crossing <= _CROSSING * len(lines) and (best is None or crossing < best[0]):
            best = crossing, at
    return best[1] if best else None


def _by_rows(lines: Sequence[Line]) -> Iterator[Line]:
    """From top to bottom, those in one row from left to right and as one line each."""
    row = list[Line]()
    for line in lines:
        if row and _middle(line) > row[0].place[3]:
            yield from sorted(row, key=lambda one: one.place[0])
            row = []
        row.append(line)
    yield from sorted(row, key=lambda one: one.place[0])


def _reading(lines: Sequence[Line], *, turn: int) -> PageReading:
    """The lines as a text: words that a line's end cut are joined, and pieces of one row are one line."""
    text, places = "", list[Place]()
    for before, line in zip([None, *lines], lines, strict=False):
        if before is not None:
            is_cut = before.text[-1:] == "-" and before.text[-2:-1].isalpha() and line.text[:1].islower()
            is_beside = before.place[2] <= line.place[0] and before.place[1] < _middle(line) < before.place[3]
            text = text[:-1] if is_cut else f"{text} " if is_beside else f"{text}\n"
        places.append((len(text), len(text) + len(line.text), _turned_back(line.place, turn)))
        text += line.text
    return PageReading(text, places)


def _turned_back(place: Rectangle, turn: int) -> Rectangle:
    """The rectangle on the page before it was turned to the left by so many quarters."""
    for _ in range(turn):
        left, top, right, bottom = place
        place = (1 - bottom, left, 1 - top, right)
    return place


def _crosses(line: Line, at: float) -> bool:
    return line.place[0] < at < line.place[2]


def _width(line: Line) -> float:
    return line.place[2] - line.place[0]


def _height(line: Line) -> float:
    return line.place[3] - line.place[1]


def _middle(line: Line) -> float:
    return (line.place[1] + line.place[3]) / 2
