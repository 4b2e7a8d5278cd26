"""The neighbours of an entry: before and after it in its source, and near it in meaning."""

from typing import Any

from store.memory.engine.entries import Row
from store.memory.engine.passages import Passages


def around(passages: Passages, id: str, *, reach: int = 1) -> tuple[list[Row], list[Row]]:
    """The entries before and after this one in their source, in reading order."""
    kind, row = passages.kind, passages.get(id)
    place = ", ".join(kind.sequence)
    same = " AND ".join(["TRUE", *(f"{column} IS ?" for column in kind.siblings)])
    values: list[Any] = [row[column] for column in kind.siblings]

    def found(sign: str, direction: str) -> list[str]:
        order = ", ".join(f"{part} {direction}" for part in kind.sequence)
        with passages.database.reading() as db:
            rows = db.execute(
                f"SELECT id FROM {kind.table} WHERE {same} "
                f"AND ({place}) {sign} (SELECT {place} FROM {kind.table} WHERE id = ?) "
                f"ORDER BY {order} LIMIT ?",
                [*values, id, reach],
            )
            return [row[0] for row in rows]

    return passages.rows(found("<", "DESC")[::-1]), passages.rows(found(">", "ASC"))


def nearest_to(passages: Passages, id: str, *, n: int = 5) -> list[tuple[Row, float]]:
    """The entries of this kind whose vectors are nearest to this one's, best first, without itself."""
    vector = passages.vector(id)
    if vector is None or passages.get(id)["embedding_model"] != passages.model:
        return []
    found = [hit for hit in passages.nearest(vector, n=n + 1) if hit.id != id][:n]
    scores = {hit.id: hit.score for hit in found}
    return [(row, scores[row["id"]]) for row in passages.rows([hit.id for hit in found])]
