"""A picture inside a picture: what a screenshot shows in a window, or a photograph on a phone's screen.

Its four sides are straight edges that meet. Among the rows and columns of the picture with the longest edges,
those rectangles are tried whose sides are edges for the most part; the library's pictures are square, so
nearly square ones are.
"""

from io import BytesIO
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.errors import BadPicture

if TYPE_CHECKING:
    from PIL import Image

_SIDE = 256  # pixels on which edges are looked for
_STEP = 14  # of 255: by how much neighbouring pixels differ at an edge
_LINES = 12  # rows, and columns, that are tried
_LEAST, _WHOLE = 0.3, 0.96  # of the picture's side: shorter ones show too little, longer ones all of it
_SQUARE = 0.93  # the shorter side, of the longer
_COVERED = 0.3  # of each side has to be an edge …
_WELL = 0.6  # … and of all four together
SCHEME = "inner v1"  # a new scheme compares every picture again
NEAR = 50  # of 256 bits: less than for whole pictures, as several parts of one are tried
MOST = 5  # rectangles of one picture

Edges = NDArray[np.float64]


def inner_pictures(picture: bytes) -> list[bytes]:
    """The nearly square pictures inside one of the library's JPGs, best first, as JPGs; at most MOST.

    Raises BadPicture if the picture cannot be read.
    """
    from PIL import Image

    try:
        with Image.open(BytesIO(picture)) as image:
            whole = image.convert("RGB")
    except Exception as error:  # decoders raise anything at all on a damaged file
        raise BadPicture(f"the picture is damaged ({error})"[:200]) from error
    scale = whole.width / _SIDE
    small = np.asarray(whole.resize((_SIDE, _SIDE), 2), np.int16)
    boxes = np.rint(scale * np.array(_rectangles(small), float).reshape(-1, 4)).tolist()
    return [_jpg(whole.crop((left, top, right, bottom))) for left, top, right, bottom in boxes]


def _rectangles(pixels: NDArray[np.int16]) -> list[tuple[int, int, int, int]]:
    """Left, top, right, bottom of the best rectangles."""
    down, across = _edges(pixels), _edges(pixels.transpose(1, 0, 2))  # along rows, along columns
    rows, columns = _longest(down), _longest(across)
    # Sums along each line up to a place: how much of a side is an edge follows from two of them.
    by_row, by_column = (np.pad(edges.cumsum(axis=1), ((0, 0), (1, 0))) for edges in (down, across))
    found = []
    for left, right in _pairs(columns):
        for top, bottom in _pairs(rows):
            width, height = right - left, bottom - top
            if min(width, height) < _SQUARE * max(width, height):
                continue
            sides = [(by_row[at, right] - by_row[at, left]) / width for at in (top, bottom)]
            sides += [(by_column[at, bottom] - by_column[at, top]) / height for at in (left, right)]
            if min(sides) >= _COVERED and sum(sides) >= 4 * _WELL:
                found.append((sum(sides), (left, top, right, bottom)))
    best: list[tuple[int, int, int, int]] = []
    for _, box in sorted(found, reverse=True):
        if all(max(abs(a - b) for a, b in zip(box, other, strict=True)) > 4 for other in best):
            best.append(box)
    return best[:MOST]


def _edges(pixels: NDArray[np.int16]) -> Edges:
    """(_SIDE + 1, _SIDE): 1 where a pixel differs from that of the row before, or of the one next to it."""
    steps = np.abs(np.diff(pixels, axis=0)).max(axis=2) > _STEP
    edges = np.zeros((_SIDE + 1, _SIDE), bool)
    edges[1:_SIDE] = steps
    wide = edges.copy()
    wide[1:] |= edges[:-1]
    wide[:-1] |= edges[1:]
    return wide.astype(np.float64)


def _longest(edges: Edges) -> list[int]:
    """The lines with the most edges, none beside another one."""
    lengths = edges.sum(axis=1)
    chosen: list[int] = []
    for line in np.argsort(-lengths, kind="stable").tolist():
        if lengths[line] < _COVERED * _LEAST * _SIDE or len(chosen) == _LINES:
            break
        if all(abs(line - other) > 3 for other in chosen):
            chosen.append(line)
    return sorted(chosen)


def _pairs(lines: list[int]) -> list[tuple[int, int]]:
    return [
        (first, last)
        for first, last in combinations(lines, 2)
        if _LEAST * _SIDE <= last - first <= _WHOLE * _SIDE
    ]


def _jpg(image: "Image.Image") -> bytes:
    file = BytesIO()
    image.save(file, "JPEG", quality=90)
    return file.getvalue()
