"""Rows of vectors: as bytes, with a bound on the error of their dot products, and read ahead from the disk.

    quantise, Quantised      rows of vectors as bytes
    quantised, Direction     a query vector alike, and `products` of both
    ReadAhead                rows of a mapped matrix, asked for together

A scan is as fast as memory is read, and bytes are a quarter of float32. A vector x is first rotated by a
fixed orthogonal matrix (random signs, then a Hadamard matrix on each group of its numbers), which changes no
dot product and leaves no number much larger than the others. Then x ≈ step · codes, with codes from -127 to
127, and the length of the remainder, ‖x - step · codes‖, is stored as its `error`. By Cauchy and Schwarz, for
a direction q treated alike,

    |q·x - step_q · step_x · codes_q·codes_x|  ≤  ‖q‖ · error_x + error_q · (‖x‖ + error_x)

so an approximation plus this bound proves which records cannot be among the best. A scan reads the bytes of
all records, and float32 rows only where the result must be exact.

Float32 rows that are not in memory are asked for together (`ReadAhead`): otherwise each is a wait of its own,
in which the system reads megabytes around it. 600 rows took 0.7 s, and take 10 ms; asking for one that is in
memory takes a microsecond, which is why it is not done where the last ones were there.
"""

import math
import mmap
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import Vector

Codes = NDArray[np.int8]
LARGEST = 127
ROUNDING = 1e-5  # float32 dot products and rotations of unit vectors differ by less from the true ones
_GROUP = 256  # numbers that one Hadamard matrix mixes
_ROWS = 512  # turned at once: little enough to stay in the processor's cache


@dataclass(frozen=True, slots=True)
class Quantised:
    """Rows of one matrix: (n, d) codes, (n,) steps and (n,) errors; a row of zeros has step and error 0."""

    codes: Codes
    steps: Vector
    errors: Vector


@dataclass(frozen=True, slots=True)
class Direction:
    """A query vector, as floats and as codes."""

    exact: Vector  # (d,)
    codes: Codes  # (1, d)
    step: float
    length: float
    error: float

    def error_slope(self) -> float:
        """The factor on a row's error in the bound of an approximate product."""
        return self.length + self.error

    def error_floor(self) -> float:
        """The part of the bound that does not depend on the row; assumes lengths up to 1.001."""
        return 1.001 * self.error + ROUNDING * max(1.0, self.length)


def quantise(rows: Vector) -> Quantised:
    """Quantise every row of (n, d) on its own, whichever other rows there are."""
    count, dimensions = rows.shape
    codes = np.empty((count, dimensions), np.int8)
    steps, errors = np.empty(count, np.float32), np.empty(count, np.float32)
    for start in range(0, count, _ROWS):
        some = slice(start, start + _ROWS)
        rotated = _rotated(rows[some])
        step = np.abs(rotated).max(axis=1, initial=0) / np.float32(LARGEST)
        scaled = rotated / np.where(step, step, 1)[:, None]
        codes[some] = rounded = np.rint(scaled, out=scaled)
        rounded *= step[:, None]
        rotated -= rounded
        steps[some], errors[some] = step, np.linalg.norm(rotated, axis=1)
    return Quantised(codes, steps, errors)


def quantised(vector: Vector) -> Direction:
    """Prepare a query vector of any length."""
    own = quantise(vector[None])
    return Direction(
        vector, own.codes, float(own.steps[0]), float(np.linalg.norm(vector)), float(own.errors[0])
    )


def products(codes: Codes, direction: Direction) -> NDArray[np.float64]:
    """The integer dot products of all rows' codes with the direction's; multiply by both steps."""
    import numkong  # uses what the processor has for bytes; NumPy does not, and is ten times slower

    return np.asarray(numkong.cdist(direction.codes, codes, "dot"))[0] if len(codes) else np.empty(0)


def _rotated(rows: Vector) -> Any:
    group, signs, matrix = _rotation(rows.shape[1])
    rotated = (rows * signs).reshape(-1, group) @ matrix
    return rotated.reshape(rows.shape)


@lru_cache(maxsize=8)
def _rotation(dimensions: int) -> tuple[int, Vector, Vector]:
    """Signs and Hadamard matrix (Sylvester's construction). Must never change, because codes are stored."""
    group = math.gcd(dimensions, _GROUP)
    matrix = np.ones((1, 1), np.float32)
    while len(matrix) < group:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    signs = np.random.RandomState(5).randint(0, 2, dimensions) * 2 - 1  # RandomState's numbers never change
    return group, signs.astype(np.float32), matrix / np.float32(math.sqrt(group))


_SMALL = 64_000_000  # bytes of a matrix that is asked for as a whole: a call for each row takes longer
_AGAIN = 10.0  # seconds after which is asked again, since the system may have dropped what was there
_FROM_MEMORY = 2e-6  # seconds for a row at most; one from a disk takes 5 and more


class ReadAhead:
    """Asks the operating system for rows of one matrix, unless they lately came without waiting."""

    def __init__(self, matrix: NDArray[Any]) -> None:
        """The matrix lies, whole rows one after the other, in a file that NumPy mapped."""
        base: Any = matrix
        while not isinstance(base, mmap.mmap):
            base = base.base
        self._map = base
        self._start = matrix.ctypes.data - np.frombuffer(base, np.uint8).ctypes.data
        self._size = matrix.itemsize * matrix.shape[1]
        self._bytes = matrix.nbytes
        self._there_until = -math.inf

    def ask(self, rows: NDArray[np.intp]) -> None:
        """Begin to read these rows (ascending), without waiting for them."""
        if not len(rows) or not hasattr(mmap, "MADV_WILLNEED"):  # Windows has nothing like it
            return
        if time.monotonic() < self._there_until:
            return
        if self._bytes <= _SMALL:
            self._there_until = time.monotonic() + _AGAIN
            self._ask(0, self._bytes)
            return
        breaks = np.flatnonzero(np.diff(rows) != 1) + 1
        firsts = rows[np.concatenate([[0], breaks])]
        lasts = rows[np.concatenate([breaks - 1, [len(rows) - 1]])]
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
            self._ask(first * self._size, (last + 1) * self._size)

    def came(self, rows: int, seconds: float) -> None:
        """Note how long it took to copy so many rows that were asked for."""
        is_there = seconds < _FROM_MEMORY * rows
        self._there_until = time.monotonic() + _AGAIN if is_there else -math.inf

    def _ask(self, first: int, end: int) -> None:
        start = self._start + first
        start -= start % mmap.PAGESIZE
        self._map.madvise(mmap.MADV_WILLNEED, start, self._start + end - start)
