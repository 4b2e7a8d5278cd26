"""Vectors as bytes, and how far a product of two of them can be from the true one.

A scan is as fast as memory is read, and bytes are a quarter of float32. A vector x is first turned by a fixed
orthogonal matrix (signs, then a Hadamard matrix on each group of its numbers), which changes no dot product
and leaves no number much larger than the others; then x ≈ step · codes, the codes from -127 to 127, and the
length of what is left over, ‖x - step · codes‖, is kept as its `error`. By Cauchy and Schwarz, for a
direction q treated alike,

    |q·x - step_q · step_x · codes_q·codes_x|  ≤  ‖q‖ · error_x + error_q · (‖x‖ + error_x)

so whoever adds this to an approximation has a bound that proves what it leaves out.
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
    """What is asked, once as it is and once as codes."""

    exact: Vector  # (d,)
    codes: Codes  # (1, d)
    step: float
    length: float
    error: float

    def slope(self) -> float:
        """How much of a row's error an approximate product can be wrong by …"""
        return self.length + self.error

    def offset(self) -> float:
        """… and what comes on top, whatever the row; its length may be 1.001."""
        return 1.001 * self.error + ROUNDING * max(1.0, self.length)


def quantise(rows: Vector) -> Quantised:
    """Every row of (n, d) for itself, so that it does not matter which others there are."""
    count, dimensions = rows.shape
    codes = np.empty((count, dimensions), np.int8)
    steps, errors = np.empty(count, np.float32), np.empty(count, np.float32)
    for start in range(0, count, _ROWS):
        some = slice(start, start + _ROWS)
        turned = _turned(rows[some])
        step = np.abs(turned).max(axis=1, initial=0) / np.float32(LARGEST)
        scaled = turned / np.where(step, step, 1)[:, None]
        codes[some] = rounded = np.rint(scaled, out=scaled)
        rounded *= step[:, None]
        turned -= rounded
        steps[some], errors[some] = step, np.linalg.norm(turned, axis=1)
    return Quantised(codes, steps, errors)


def direction(vector: Vector) -> Direction:
    """A vector of any length, to ask with."""
    own = quantise(vector[None])
    return Direction(
        vector, own.codes, float(own.steps[0]), float(np.linalg.norm(vector)), float(own.errors[0])
    )


def products(codes: Codes, asked: Direction) -> NDArray[np.float64]:
    """Each row's codes · the direction's codes, in whole numbers; times both steps, the dot products."""
    import numkong  # uses what the processor has for bytes; NumPy does not, and is ten times slower

    return np.asarray(numkong.cdist(asked.codes, codes, "dot"))[0] if len(codes) else np.empty(0)


def _turned(rows: Vector) -> Any:
    group, signs, matrix = _turn(rows.shape[1])
    turned = (rows * signs).reshape(-1, group) @ matrix
    return turned.reshape(rows.shape)


@lru_cache(maxsize=8)
def _turn(dimensions: int) -> tuple[int, Vector, Vector]:
    """Signs and Hadamard matrix by Sylvester's construction; the same for ever, since codes are stored."""
    group = math.gcd(dimensions, _GROUP)
    matrix = np.ones((1, 1), np.float32)
    while len(matrix) < group:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    signs = np.random.RandomState(5).randint(0, 2, dimensions) * 2 - 1  # RandomState's numbers never change
    return group, signs.astype(np.float32), matrix / np.float32(math.sqrt(group))
