"""Entries that say nearly the same."""

from dataclasses import dataclass

import numpy as np

from store.memory.kinds import MEMORIES
from store.memory.opened import OpenedMemory
from store.progress import Progress

NEARLY = 0.95  # cosine from which two entries count as near-duplicates
MOST = 500  # pairs
_ROWS, _COLUMNS = 1024, 8192  # compared at once: 32 MB


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
    ids, matrix = memory.entries(kind).resident().copied()
    progress.what, progress.total = "comparing entries", len(ids)
    found: list[DuplicatePair] = []
    for top in range(0, len(ids), _ROWS):
        if progress.cancelled:
            break
        block = matrix[top : top + _ROWS]
        for left in range(top, len(ids), _COLUMNS):
            cosines = block @ matrix[left : left + _COLUMNS].T
            for row, column in np.argwhere(cosines >= floor).tolist():
                if left + column > top + row:
                    pair = DuplicatePair(ids[top + row], ids[left + column], float(cosines[row, column]))
                    found.append(pair)
        if len(found) > 20 * most:
            found = _best(found, most)
        progress.done = min(top + _ROWS, len(ids))
    return _best(found, most)


def _best(pairs: list[DuplicatePair], most: int) -> list[DuplicatePair]:
    return sorted(pairs, key=lambda pair: (-pair.cosine, pair.one, pair.other))[:most]
