"""The neighbours of an entry: before and after it in its source, near it in meaning, and nearly the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.memory.engine.kind import Row
from store.memory.engine.resident import TEXT
from store.memory.kinds import MEMORIES
from store.memory.opened import OpenedMemory
from store.progress import Progress

NEARLY = 0.95  # cosine from which two entries count as near-duplicates
MOST = 500  # pairs
_ROWS, _COLUMNS = 1024, 8192  # compared at once: 32 MB


def around(
    memory: OpenedMemory, id: str, *, kind: str = MEMORIES, reach: int = 1
) -> tuple[list[Row], list[Row]]:
    """The entries before and after one in their source, in reading order."""
    entries = memory.entries(kind)
    of, row = entries.kind, entries.get(id)
    place = ", ".join(of.sequence)
    same = " AND ".join(["TRUE", *(f"{column} IS ?" for column in of.siblings)])
    values: list[Any] = [row[column] for column in of.siblings]

    def found(sign: str, direction: str) -> list[str]:
        order = ", ".join(f"{part} {direction}" for part in of.sequence)
        with entries.database.reading() as db:
            rows = db.execute(
                f"SELECT id FROM {of.table} WHERE {same} "
                f"AND ({place}) {sign} (SELECT {place} FROM {of.table} WHERE id = ?) "
                f"ORDER BY {order} LIMIT ?",
                [*values, id, reach],
            )
            return [row[0] for row in rows]

    return entries.rows(found("<", "DESC")[::-1]), entries.rows(found(">", "ASC"))


def nearest(memory: OpenedMemory, id: str, *, kind: str = MEMORIES, n: int = 5) -> list[tuple[Row, float]]:
    """The entries of its kind that are nearest to one in meaning, best first, with their cosines."""
    entries = memory.entries(kind)
    vector = entries.resident().of([id], TEXT).get(id)
    if vector is None:
        return []
    found = entries.nearest(vector, n=n + 1)
    others = [other for other in found if other != id][:n]
    return [(row, found[row["id"]]) for row in entries.rows(others)]


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two entries and their cosine."""

    one: str
    other: str
    cosine: float


def near_duplicates(
    memory: OpenedMemory,
    kind: str = MEMORIES,
    *,
    floor: float = NEARLY,
    most: int = MOST,
    progress: Progress | None = None,
) -> list[DuplicatePair]:
    """Pairs of entries with at least this cosine, most similar first, from a comparison of all pairs.

    100,000 entries of 384 numbers take about a minute and a half on two cores.
    """
    progress = progress or Progress()
    snapshot = memory.entries(kind).resident()
    ids, matrix = snapshot.addresses, snapshot.rows(np.arange(len(snapshot)), TEXT)
    found: list[DuplicatePair] = []
    for top, left, cosines in cosines_with_earlier(matrix, progress):
        for row, column in np.argwhere(cosines >= floor).tolist():
            found.append(DuplicatePair(ids[left + column], ids[top + row], float(cosines[row, column])))
        if len(found) > 20 * most:
            found = _best(found, most)
    return _best(found, most)


def cosines_with_earlier(
    matrix: NDArray[np.float32], progress: Progress
) -> Iterator[tuple[int, int, NDArray[np.float32]]]:
    """The cosines of all unit rows with those before them, in blocks with the first row and column of each.

    Any other pair of a block has -2. Ends early if cancelled.
    """
    progress.what, progress.total = "comparing entries", len(matrix)
    for top in range(0, len(matrix), _ROWS):
        if progress.cancelled:
            return
        block = matrix[top : top + _ROWS]
        bottom = top + len(block)
        for left in range(0, bottom, _COLUMNS):
            columns = matrix[left : min(left + _COLUMNS, bottom)]
            cosines = block @ columns.T
            if left + len(columns) > top:
                earlier = np.arange(left, left + len(columns)) < np.arange(top, bottom)[:, None]
                cosines[~earlier] = -2
            yield top, left, cosines
        progress.done = bottom


def _best(pairs: list[DuplicatePair], most: int) -> list[DuplicatePair]:
    return sorted(pairs, key=lambda pair: (-pair.cosine, pair.one, pair.other))[:most]
