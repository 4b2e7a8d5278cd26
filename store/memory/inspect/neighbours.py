"""The neighbours of an entry: before and after it in its source, near it in meaning, and nearly the same."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from store.memory.engine.kind import Row
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
    vector = entries.resident().vectors([id]).get(id)
    if vector is None:
        return []
    found = [hit for hit in entries.nearest(vector, n=n + 1) if hit.id != id][:n]
    scores = {hit.id: hit.score for hit in found}
    return [(row, scores[row["id"]]) for row in entries.rows([hit.id for hit in found])]


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
