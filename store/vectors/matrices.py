"""Vectors in memory, for search: the library's, or those of one kind of text; `update` follows changes.

Rows are in blocks, and are written once. A changed record gets a new row, and a removed one is only missing
from the next snapshot. A reader takes a snapshot (one attribute, replaced as a whole) and needs no lock,
because the writer never changes a row that the snapshot has. Once more than half of a block's rows are dead,
its live rows are copied to the end and the block is dropped. So memory stays below twice the live data, and a
change costs at most one block, however large the library is.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import TypeGuard

import numpy as np

from store.embedding.protocol import Vector, are_unit
from store.progress import batches
from store.records import FACETS, Facet
from store.vectors.blocks import Segment, SegmentView, VectorSnapshot

_PLACES = 1 << 32  # rows that a block could have
Vectors = Mapping[Facet, Vector | bytes | None]

SEGMENT_ROWS = 4096  # 15.7 MB for each facet at 768 dimensions; untouched rows take no memory


class Matrices:
    """The vectors of many records, for each facet; one writer at a time, any number of readers."""

    def __init__(
        self,
        *,
        dimensions: int,
        facets: Sequence[Facet] = FACETS,
        block_rows: int = SEGMENT_ROWS,
        blocks: Iterable[Segment] = (),
        generation: int = 0,
    ) -> None:
        """Start empty, or with full blocks that are final."""
        self.dimensions = dimensions
        self._facets = facets
        self.unusable: list[tuple[str, Facet]] = []  # left out: wrong length, not finite, not unit
        self._block_rows = block_rows
        self._lock = threading.Lock()
        self._blocks: dict[int, Segment] = {}  # by number
        self._place: dict[str, int] = {}  # each record's row in its block, plus _PLACES times its number
        for block in blocks:
            self._add(block)
        self._snapshot = VectorSnapshot(dimensions)
        self._publish(generation)

    def snapshot(self) -> VectorSnapshot:
        """The matrices as they are now; stays valid for as long as the caller keeps it."""
        return self._snapshot

    def update(self, changes: Iterable[tuple[str, Vectors | None]], *, generation: int | None = None) -> None:
        """Replace or (None) remove records; readers see all of the changes or none.

        Vectors that cannot be used are left out, as in `load`. `generation` is the catalog's generation after
        these changes; by default one more than before.
        """
        rows = dict(changes)
        new = [(address, vectors) for address, vectors in rows.items() if vectors is not None]
        whole = len(new) - len(new) % self._block_rows
        with self._lock:
            for address in rows:
                self._tombstone(address)
            for some in batches(new[:whole], self._block_rows):
                self._seal(self._filled(some))
            for address, vectors in new[whole:]:
                self._append(address, self._usable(address, vectors))
            for block in [
                block for block in self._blocks.values() if 2 * len(block.dead) > len(block.errors)
            ]:
                self._move_out(block)
            self._publish(self._snapshot.generation + 1 if generation is None else generation)

    def _usable(self, address: str, vectors: Vectors) -> dict[Facet, Vector]:
        usable = dict[Facet, Vector]()
        for facet, own in vectors.items():
            if self._fits(own) and are_unit(row := np.frombuffer(bytes(own), "<f4")):
                usable[facet] = row
            elif own is not None:
                self.unusable.append((address, facet))
        return usable

    def _fits(self, vector: Vector | bytes | None) -> TypeGuard[Vector | bytes]:
        size = 4 * self.dimensions if isinstance(vector, bytes) else self.dimensions
        return vector is not None and len(vector) == size

    def _tombstone(self, address: str) -> None:
        place = self._place.pop(address, None)
        if place is not None:
            number, row = divmod(place, _PLACES)
            self._blocks[number].dead.add(row)

    def _append(self, address: str, vectors: Mapping[Facet, Vector]) -> None:
        block = self._last
        if block is None or block.is_full:
            block = self._add(self._empty())
        row = len(block.addresses)
        for number, (facet, matrix) in enumerate(block.vectors.items()):
            if (vector := vectors.get(facet)) is not None:
                matrix[row] = vector
                block.present[number, row] = True
        block.addresses.append(address)
        self._place[address] = _PLACES * block.number + row

    def _empty(self) -> Segment:
        return Segment.empty(rows=self._block_rows, dimensions=self.dimensions, facets=self._facets)

    def _filled(self, rows: Sequence[tuple[str, Vectors]]) -> Segment:
        """A new block of records that are not there yet: at once, which takes a fraction of the time."""
        block = self._empty()
        block.addresses += [address for address, _ in rows]
        for number, (facet, matrix) in enumerate(block.vectors.items()):
            found = [
                (row, own) for row, (_, vectors) in enumerate(rows) if (own := vectors.get(facet)) is not None
            ]
            fitting = {row: bytes(own) for row, own in found if self._fits(own)}
            self.unusable += [(block.addresses[row], facet) for row, _ in found if row not in fitting]
            places = [*fitting]
            matrix[places] = np.frombuffer(b"".join(fitting.values()), "<f4").reshape(-1, self.dimensions)
            block.present[number, places] = True
        return self._add(block)

    @property
    def _last(self) -> Segment | None:
        return next(reversed(self._blocks.values()), None)

    def _add(self, block: Segment) -> Segment:
        block.number = max(self._blocks, default=-1) + 1
        self._blocks[block.number] = block
        start = _PLACES * block.number
        self._place.update(zip(block.addresses, range(start, start + len(block.addresses)), strict=True))
        return block

    def _move_out(self, block: Segment) -> None:
        del self._blocks[block.number]
        for row, address in enumerate(block.addresses):
            if row not in block.dead:
                self._append(address, block.own(row))

    def _seal(self, block: Segment) -> None:
        """Leave out rows that are not of unit length, and quantise the rest."""
        count = len(block.addresses)
        for number, (facet, matrix) in enumerate(block.vectors.items()):
            rows = matrix[:count]
            for row in np.flatnonzero(block.present[number, :count] & ~are_unit(rows)).tolist():
                self.unusable.append((block.addresses[row], facet))
                block.present[number, row] = False
                rows[row] = 0
        block.seal()

    def _publish(self, generation: int) -> None:
        for block in self._blocks.values():
            block.seal()
        known = {id(view.segment): view for view in self._snapshot.segments}
        views = tuple(_view(block, known.get(id(block))) for block in self._blocks.values())
        if [id(view) for view in views] == [id(view) for view in self._snapshot.segments]:
            same = copy(self._snapshot)  # with the same `views`, by which a search knows that nothing changed
            object.__setattr__(same, "generation", generation)
            self._snapshot = same
        else:
            self._snapshot = VectorSnapshot(self.dimensions, generation, views)


def load(
    rows: Iterable[tuple[str, Vectors]],
    *,
    dimensions: int,
    facets: Sequence[Facet] = FACETS,
    generation: int = 0,
    block_rows: int = SEGMENT_ROWS,
) -> Matrices:
    """Make matrices of all these records; a vector that cannot be used is left out and listed in `unusable`.

    Vectors are the little-endian float32 bytes of the catalog, or arrays. A damaged vector must not keep a
    library from opening: its record is found by its other facets until `doctor` repairs it.
    """
    matrices = Matrices(dimensions=dimensions, facets=facets, block_rows=block_rows)
    # Reading and quantising take about as long as each other: side by side, on two cores.
    with ThreadPoolExecutor(1) as pool:
        settling = []
        for some in batches(rows, block_rows):
            settling.append(pool.submit(matrices._seal, matrices._filled(some)))
        for settled in settling:
            settled.result()
    matrices._publish(generation)
    return matrices


def _view(block: Segment, known: SegmentView | None) -> SegmentView:
    count = len(block.addresses)
    if known is not None and known.size == count - len(block.dead) and known.count == count:
        return known
    if not block.dead:
        return SegmentView(block, count, None, block.sums.copy())
    living, dead = np.ones(count, np.bool_), sorted(block.dead)
    living[dead] = False
    for facet in block.vectors:
        block.ask(np.array(dead), facet)
    gone = [matrix[dead].sum(axis=0, dtype=np.float64) for matrix in block.vectors.values()]
    return SegmentView(block, count, np.flatnonzero(living), block.sums - gone)
