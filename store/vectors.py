"""The library's vectors in memory: what a search multiplies with.

Derived from the catalog, rebuilt on opening, kept current by `update` after each operation.

Rows lie in blocks and are written once, never again. A changed record gets a new row, a removed one loses
its row from the next snapshot only. A reader takes a snapshot (one attribute, replaced as a whole) and needs
no lock: whatever the writer does meanwhile happens in rows that this snapshot does not know. A block more
than half of whose rows are dead has its living rows copied to the end and is forgotten, so memory stays
below twice what is alive, and no change costs more than one block, however large the library.
"""

import threading
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from store.errors import InvalidRecord, UnknownRecord
from store.records import FACETS, Facet

Vector = NDArray[np.float32]
Mask = NDArray[np.bool_]
Vectors = Mapping[Facet, Vector | bytes | None]

BLOCK_ROWS = 4096  # 12.6 MB for each facet at 768 dimensions; untouched rows take no memory
_UNIT = 1e-3  # how far a squared length may be from 1


class _Block:
    """Rows of five matrices side by side, filled from the top."""

    def __init__(self, *, rows: int, dimensions: int) -> None:
        self.addresses: list[str] = []
        self.vectors = {facet: np.zeros((rows, dimensions), np.float32) for facet in FACETS}
        self.present = np.zeros((len(FACETS), rows), np.bool_)
        self.dead: set[int] = set()  # the writer's own; snapshots have `_Slab.rows`

    def own(self, row: int) -> dict[Facet, Vector]:
        return {
            facet: self.vectors[facet][row]
            for number, facet in enumerate(FACETS)
            if self.present[number, row]
        }


@dataclass(frozen=True, slots=True)
class _Slab:
    """What one snapshot sees of a block: its first `count` rows, or only `rows` of them."""

    block: _Block
    count: int
    rows: NDArray[np.intp] | None

    @property
    def size(self) -> int:
        return self.count if self.rows is None else len(self.rows)


@dataclass(frozen=True)
class Snapshot:
    """The matrices as they were at one moment; nothing in it changes any more."""

    dimensions: int
    generation: int = 0
    slabs: tuple[_Slab, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return sum(slab.size for slab in self.slabs)

    @cached_property
    def addresses(self) -> tuple[str, ...]:
        """The record of each row."""
        found: list[str] = []
        for slab in self.slabs:
            own = slab.block.addresses[: slab.count]
            found += own if slab.rows is None else [own[row] for row in slab.rows.tolist()]
        return tuple(found)

    @cached_property
    def present(self) -> Mask:
        """(5, N): whether the record has the facet, in the order of FACETS."""
        found = np.empty((len(FACETS), len(self)), np.bool_)
        end = 0
        for slab in self.slabs:
            start, end = end, end + slab.size
            own = slab.block.present[:, : slab.count]
            found[:, start:end] = own if slab.rows is None else own[:, slab.rows]
        return found

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {address: row for row, address in enumerate(self.addresses)}

    def products(self, facet: Facet, direction: Vector, *, out: Vector) -> None:
        """Into `out` (N,): the dot product of each record's facet with a direction; 0 where it has none."""
        end = 0
        for slab in self.slabs:
            start, end = end, end + slab.size
            matrix = slab.block.vectors[facet][: slab.count]
            # Row by row, as fast as a matrix product (memory is the limit), whose last digits depend on where
            # a row stands: copies of one picture would be ranked by chance.
            if slab.rows is None:
                np.vecdot(matrix, direction, out=out[start:end])
            else:
                out[start:end] = np.vecdot(matrix, direction)[slab.rows]

    def vectors(self, address: str) -> dict[Facet, Vector]:
        """The stored vectors of one record; UnknownRecord when the library has none of that address."""
        row = self._row_of.get(address)
        if row is None:
            raise UnknownRecord(f"{address} is not in the library; only promoted records have stored vectors")
        for slab in self.slabs:
            if row < slab.size:
                return slab.block.own(row if slab.rows is None else int(slab.rows[row]))
            row -= slab.size
        raise AssertionError("a row beyond the last slab")

    def mask(self, addresses: Iterable[str]) -> Mask:
        """(N,): true for the rows of these addresses; those that are not in the library are passed over."""
        found = np.zeros(len(self), np.bool_)
        rows = [self._row_of.get(address, -1) for address in addresses]
        found[[row for row in rows if row >= 0]] = True
        return found


class Matrices:
    """The vectors of the library tier; one writer at a time, any number of readers."""

    def __init__(self, *, dimensions: int, block_rows: int = BLOCK_ROWS) -> None:
        self.dimensions = dimensions
        self.unusable: list[tuple[str, Facet]] = []  # left out on loading: wrong length, not finite, not unit
        self._block_rows = block_rows
        self._lock = threading.Lock()
        self._blocks: list[_Block] = []
        self._place: dict[str, tuple[_Block, int]] = {}
        self._snapshot = Snapshot(dimensions)

    def snapshot(self) -> Snapshot:
        """The matrices as they are now, for as long as the caller likes."""
        return self._snapshot

    def put(self, address: str, vectors: Vectors) -> None:
        """Add or replace one record."""
        self.update([(address, vectors)])

    def remove(self, address: str) -> None:
        """Forget one record; nothing happens when it is not there."""
        self.update([(address, None)])

    def update(self, changes: Iterable[tuple[str, Vectors | None]], *, generation: int | None = None) -> None:
        """Replace or (None) remove records; readers see all of it or none, InvalidRecord changes nothing.

        `generation` is the catalog's, that this brings the matrices up to; one more than before by default.
        """
        rows = [
            (address, None if vectors is None else self._checked(address, vectors))
            for address, vectors in changes
        ]
        with self._lock:
            for address, row in rows:
                self._bury(address)
                if row is not None:
                    self._append(address, row)
            for block in [block for block in self._blocks if 2 * len(block.dead) > self._block_rows]:
                self._move_out(block)
            self._publish(self._snapshot.generation + 1 if generation is None else generation)

    def _checked(self, address: str, vectors: Vectors) -> dict[Facet, Vector]:
        usable, faulty = _usable(vectors, dimensions=self.dimensions)
        faulty += [f for f, v in usable.items() if not abs(float(np.vecdot(v, v)) - 1) < _UNIT]
        if faulty:
            raise InvalidRecord(
                f"{address}: the vector of {', '.join(faulty)} is not {self.dimensions} finite numbers of "
                "unit length; it was made by another model, or is damaged: run doctor"
            )
        return usable

    def _bury(self, address: str) -> None:
        if place := self._place.pop(address, None):
            block, row = place
            block.dead.add(row)

    def _append(self, address: str, vectors: Mapping[Facet, Vector]) -> None:
        block = self._blocks[-1] if self._blocks else None
        if block is None or len(block.addresses) == self._block_rows:
            block = _Block(rows=self._block_rows, dimensions=self.dimensions)
            self._blocks.append(block)
        row = len(block.addresses)
        for number, facet in enumerate(FACETS):
            if (vector := vectors.get(facet)) is not None:
                block.vectors[facet][row] = vector
                block.present[number, row] = True
        block.addresses.append(address)
        self._place[address] = block, row

    def _move_out(self, block: _Block) -> None:
        self._blocks.remove(block)
        for row, address in enumerate(block.addresses):
            if row not in block.dead:
                self._append(address, block.own(row))

    def _leave_out_unusable(self) -> None:
        for block in self._blocks:
            count = len(block.addresses)
            for number, facet in enumerate(FACETS):
                rows = block.vectors[facet][:count]
                with np.errstate(invalid="ignore", over="ignore"):
                    unit = np.abs(np.vecdot(rows, rows) - 1) < _UNIT
                for row in np.flatnonzero(block.present[number, :count] & ~unit).tolist():
                    self.unusable.append((block.addresses[row], facet))
                    block.present[number, row] = False
                    rows[row] = 0

    def _publish(self, generation: int) -> None:
        known = {id(slab.block): slab for slab in self._snapshot.slabs}
        slabs = tuple(_slab(block, known.get(id(block))) for block in self._blocks)
        if [id(slab) for slab in slabs] == [id(slab) for slab in self._snapshot.slabs]:
            same = copy(self._snapshot)  # with the same `slabs`, by which a search knows that nothing changed
            object.__setattr__(same, "generation", generation)
            self._snapshot = same
        else:
            self._snapshot = Snapshot(self.dimensions, generation, slabs)


def load(
    rows: Iterable[tuple[str, Vectors]], *, dimensions: int, generation: int = 0, block_rows: int = BLOCK_ROWS
) -> Matrices:
    """Matrices of all these records; a vector that cannot be used is left out and named in `unusable`.

    Vectors are the little-endian float32 bytes of the catalog, or arrays. One damaged vector must not keep a
    library from opening: the record is found by its other facets until `doctor` has repaired it.
    """
    matrices = Matrices(dimensions=dimensions, block_rows=block_rows)
    for address, vectors in rows:
        usable, faulty = _usable(vectors, dimensions=dimensions)
        matrices.unusable += [(address, facet) for facet in faulty]
        matrices._bury(address)
        matrices._append(address, usable)
    matrices._leave_out_unusable()
    matrices._publish(generation)
    return matrices


def _usable(vectors: Vectors, *, dimensions: int) -> tuple[dict[Facet, Vector], list[Facet]]:
    usable: dict[Facet, Vector] = {}
    faulty: list[Facet] = []
    for facet, vector in vectors.items():
        if isinstance(vector, bytes):
            if len(vector) == 4 * dimensions:
                usable[facet] = np.frombuffer(vector, "<f4")
            else:
                faulty.append(facet)
        elif vector is not None:
            if vector.shape == (dimensions,):
                usable[facet] = vector
            else:
                faulty.append(facet)
    return usable, faulty


def _slab(block: _Block, known: _Slab | None) -> _Slab:
    count = len(block.addresses)
    if known is not None and known.size == count - len(block.dead) and known.count == count:
        return known
    if not block.dead:
        return _Slab(block, count, None)
    living = np.ones(count, np.bool_)
    living[list(block.dead)] = False
    return _Slab(block, count, np.flatnonzero(living))
