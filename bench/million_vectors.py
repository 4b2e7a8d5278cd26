"""Vectors made up as those of captions are, any number of them, in pieces.

Measured on the demo library (207 and more captioned coins, the `offline` model): two records' vectors of
one facet have a cosine of .15 to .31 on average with a deviation of .10, of two facets .11 to .18; one
record's own entity is .16 closer to its context than to another's, .11 to its visual, .05 to its emotions.
The cosines of a question with two facets correlate by .26 (entity and context), .15 (entity and visual) and
.01 to .09 (all others). `captions` has these figures by a mean direction, a spectrum of falling weights, and
a share of each facet that the whole record has in common; `random` has none of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.records import FACETS, Facet

DIMENSIONS = 768
PIECE = 16_384  # records made at once
SUBJECTS = 500  # of which each record has one, and each question as well

Array = NDArray[np.float32]
Mask = NDArray[np.bool_]

_MISSING = {"visual": 1 / 3, "emotions": 1 / 3}
_MEAN = {"image": 0.54, "entity": 0.42, "context": 0.36, "visual": 0.52, "emotions": 0.50}
_COMMON = {"image": 0.05, "entity": 0.54, "context": 0.40, "visual": 0.30, "emotions": 0.22}
_OF_SUBJECT = 0.5  # share of what a record's facets have in common that its subject has in common


@dataclass(frozen=True, slots=True)
class Piece:
    """Some records: by facet (n, d) unit vectors, zeros where it is missing, and whether it is there."""

    vectors: dict[Facet, Array]
    present: dict[Facet, Mask]


def pieces(kind: str, *, size: int) -> Iterator[Piece]:
    """So many records of the kind `captions` or `random`, always the same ones."""
    world = _World()
    for start in range(0, size, PIECE):
        random = np.random.default_rng([size, start])
        count = min(PIECE, size - start)
        common = world.around(random, count)
        vectors: dict[Facet, Array] = {}
        present: dict[Facet, Mask] = {}
        for facet in FACETS:
            own = random.standard_normal((count, DIMENSIONS), dtype=np.float32)
            if kind == "captions":
                own = world.facet(facet, common, _unit(own * world.spectrum))
            present[facet] = random.random(count) >= _MISSING.get(facet, 0.0)
            vectors[facet] = _unit(own)
            vectors[facet][~present[facet]] = 0
        yield Piece(vectors, present)


def questions(kind: str, *, count: int) -> Array:
    """(count, d): questions as one would ask about such records."""
    world, random = _World(), np.random.default_rng(7)
    own = random.standard_normal((count, DIMENSIONS), dtype=np.float32)
    if kind == "captions":
        own = world.facet("entity", world.around(random, count), _unit(own * world.spectrum))
    return _unit(own)


class _World:
    """What all records share."""

    def __init__(self) -> None:
        random = np.random.default_rng(20)
        # Some hundred directions hold most of the variance, as in the demo (128 of them: 93 to 98 %).
        falling = np.exp(-np.arange(DIMENSIONS, dtype=np.float32) / 100)
        self.spectrum = random.permutation(falling).astype(np.float32)
        middle = random.standard_normal((1, DIMENSIONS), dtype=np.float32)
        apart = random.standard_normal((len(FACETS), DIMENSIONS), dtype=np.float32)
        self.means = _unit(_unit(middle) + 0.6 * _unit(apart))
        self.subjects = _unit(
            random.standard_normal((SUBJECTS, DIMENSIONS), dtype=np.float32) * self.spectrum
        )

    def around(self, random: np.random.Generator, count: int) -> Array:
        """What each of so many records says in all its facets: some of its subject, some of its own."""
        subjects = self.subjects[random.integers(0, SUBJECTS, count)]
        own = _unit(random.standard_normal((count, DIMENSIONS), dtype=np.float32) * self.spectrum)
        return _unit(np.float32(_OF_SUBJECT) * subjects + np.float32(1 - _OF_SUBJECT) * own)

    def facet(self, facet: Facet, common: Array, own: Array) -> Array:
        """The facet's vectors of records that have this in common, before they are given unit length."""
        mean, shared = _MEAN[facet], _COMMON[facet]
        rest = np.float32((1 - mean**2 - shared**2) ** 0.5)
        made: Array = np.float32(mean) * self.means[FACETS.index(facet)] + np.float32(shared) * common
        made += rest * own
        return made


def _unit(rows: Array) -> Array:
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows
