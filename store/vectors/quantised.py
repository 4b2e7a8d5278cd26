"""Vectors as bytes, with a bound on the error of their dot products.

A scan is as fast as memory is read, and bytes are a quarter of float32. A vector x is first rotated by a
fixed orthogonal matrix (random signs, then a Hadamard matrix on each group of its numbers), which changes no
dot product and leaves no number much larger than the others. Then x ≈ step · codes, with codes from -127 to
127, and the length of the remainder, ‖x - step · codes‖, is stored as its `error`. By Cauchy and Schwarz, for
a direction q treated alike,

    |q·x - step_q · step_x · codes_q·codes_x|  ≤  ‖q‖ · error_x + error_q · (‖x‖ + error_x)

so an approximation plus this bound proves which records cannot be among the best.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int8]
Vector = NDArray[np.float32]

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


def direction(vector: Vector) -> Direction:
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
