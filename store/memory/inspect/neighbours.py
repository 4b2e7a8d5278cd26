"""The neighbours of an entry: before and after it in its source, and near it in meaning."""

from typing import Any

from store.memory.engine.kind import Row
from store.memory.kinds import MEMORIES
from store.memory.opened import OpenedMemory


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
