"""Blocks of rows of the matrices, and what a snapshot sees of one.

Beside each float32 row is its form from `quantised`, a quarter as large: a scan of all records reads that,
and float32 rows only where the result must be exact. A text query with the usual weights compares the same
vector with four facets, and the sum of four products is the product with their sum. This sum, `combined`, is
stored as well, so that the most frequent query reads one row of bytes for each record instead of four. Blocks
are in memory or in mapped files (`matrix_files`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.embedding.arrays import Vector
from store.records import FACETS, Facet
from store.vectors import quantised
from store.vectors.quantised import Codes, Quantised
from store.vectors.read_ahead import ReadAhead
from store.vectors.weights import DEFAULT_WEIGHTS

Mask = NDArray[np.bool_]

_USUAL = np.array([DEFAULT_WEIGHTS["text"][facet] for facet in FACETS])
USUAL: NDArray[np.float64] = _USUAL / _USUAL.sum()  # (5,): the share of each facet in `combined`


@dataclass(eq=False)
class Segment:
    """Rows of five matrices side by side, filled from the top; the first `sealed` rows are final."""

    addresses: list[str]
    vectors: dict[Facet, Vector]  # (rows, d) each
    codes: dict[Facet, Codes]
    present: Mask  # (5, rows)
    steps: Vector  # (5, rows)
    errors: Vector  # (rows,): the largest of the five facets
    combined: (
        Quantised  # of each row's facets added up by their usual shares, nothing in a missing one's place
    )
    sums: NDArray[np.float64]  # (5, d): of all sealed rows
    sealed: int = 0
    read_ahead: Mapping[Facet, ReadAhead] = field(default_factory=dict)  # of vectors in mapped files
    dead: set[int] = field(default_factory=set)  # the writer's own; snapshots have `SegmentView.rows`
    number: int = 0  # the writer's own

    @classmethod
    def empty(cls, *, rows: int, dimensions: int) -> "Segment":
        """A segment with room for this many rows."""
        return cls(
            addresses=[],
            vectors={facet: np.zeros((rows, dimensions), np.float32) for facet in FACETS},
            codes={facet: np.zeros((rows, dimensions), np.int8) for facet in FACETS},
            present=np.zeros((len(FACETS), rows), np.bool_),
            steps=np.zeros((len(FACETS), rows), np.float32),
            errors=np.zeros(rows, np.float32),
            combined=Quantised(
                np.zeros((rows, dimensions), np.int8), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
            ),
            sums=np.zeros((len(FACETS), dimensions)),
        )

    @property
    def is_mapped(self) -> bool:
        """Whether it lies in files, so that the operating system may take its memory back."""
        return bool(self.read_ahead)

    @property
    def is_full(self) -> bool:
        """Whether it has no more room."""
        return len(self.addresses) == len(self.errors)

    def seal(self) -> None:
        """Quantise the new rows; they must be final now."""
        new = slice(self.sealed, len(self.addresses))
        if new.start == new.stop:
            return
        combined = np.zeros((new.stop - new.start, self.sums.shape[1]), np.float32)
        for number, facet in enumerate(FACETS):
            rows = self.vectors[facet][new]
            made = quantised.quantise(rows)
            self.codes[facet][new], self.steps[number, new] = made.codes, made.steps
            np.maximum(self.errors[new], made.errors, out=self.errors[new])
            self.sums[number] += rows.sum(axis=0, dtype=np.float64)
            if USUAL[number]:
                combined += rows * np.float32(USUAL[number])
        made = quantised.quantise(combined)
        self.combined.codes[new], self.combined.steps[new], self.combined.errors[new] = (
            made.codes,
            made.steps,
            made.errors,
        )
        self.sealed = new.stop

    def ask(self, rows: NDArray[np.intp], facet: Facet) -> None:
        """Begin to read a facet's vectors of these rows (ascending) from the disk, if they lie there."""
        if self.is_mapped:
            self.read_ahead[facet].ask(rows)

    def own(self, row: int) -> dict[Facet, Vector]:
        """The vectors of one row by facet, float32; facets that it lacks are left out."""
        return {
            facet: self.vectors[facet][row]
            for number, facet in enumerate(FACETS)
            if self.present[number, row]
        }


@dataclass(frozen=True)
class SegmentView:
    """A snapshot's view of a block: its first `count` rows, or only `rows` of them.

    Snapshots share it until the block changes, with what it has listed.
    """

    segment: Segment
    count: int
    rows: NDArray[np.intp] | None
    sums: NDArray[np.float64]  # (5, d): of its rows

    @property
    def size(self) -> int:
        """How many rows are visible."""
        return self.count if self.rows is None else len(self.rows)

    @property
    def living(self) -> slice | NDArray[np.intp]:
        """The positions of the visible rows."""
        return slice(self.count) if self.rows is None else self.rows

    @cached_property
    def addresses(self) -> list[str]:
        """The record of each visible row."""
        own = self.segment.addresses[: self.count]
        return own if self.rows is None else [own[row] for row in self.rows.tolist()]

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The visible row of each record."""
        return dict(zip(self.addresses, range(self.size), strict=True))

    def of(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Its part of a matrix of the block, along the last axis."""
        return matrix[..., self.living]
