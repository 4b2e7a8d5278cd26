"""Maps in the catalog: t-SNE with its places, the directions of PCA, and positions of large maps."""

import sqlite3
from collections.abc import Sequence

import numpy as np

from store.catalog.catalog import Catalog
from store.embedding.arrays import Vector
from store.maps.chart import Map
from store.maps.neighbourhoods import Neighbourhood
from store.maps.spaces import Space


def arranged_at(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> float | None:
    """When the stored t-SNE was made; None if there is none of this model."""
    row = db.execute(
        "SELECT at FROM maps WHERE name = ? AND fingerprint = ?", [f"tsne {space}", fingerprint]
    ).fetchone()
    return float(row[0]) if row else None


def stored_tsne(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> Map | None:
    """The stored t-SNE; None if there is none of this model."""
    row = db.execute(
        "SELECT * FROM maps WHERE name = ? AND fingerprint = ?", [f"tsne {space}", fingerprint]
    ).fetchone()
    return row and Map(space, "tsne", tuple(row["addresses"].split("\n")), _points(row), at=row["at"])


def directions(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> tuple[Vector, float] | None:
    """The directions of a PCA map, and when they were computed."""
    row = db.execute(
        "SELECT * FROM maps WHERE name = ? AND fingerprint = ?", [f"pca {space}", fingerprint]
    ).fetchone()
    return row and (np.frombuffer(row["points"], "<f4").reshape(3, -1), row["at"])


def stored_pca(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> Map | None:
    """The positions of a PCA map when it was stored."""
    row = db.execute("SELECT * FROM maps WHERE name = ?", [f"flat {space}"]).fetchone()
    made_by, _, generation = row["fingerprint"].rpartition("@") if row else ("", "", "")
    if row is None or made_by != fingerprint:
        return None
    addresses = tuple(row["addresses"].split("\n"))
    return Map(space, "pca", addresses, _points(row), generation=int(generation))


def store(
    catalog: Catalog, name: str, points: Vector, *, fingerprint: str, addresses: Sequence[str] = (), at: float
) -> None:
    """Store a map, or a map's directions, replacing the earlier one."""
    with catalog.writing() as db:
        db.execute(
            "INSERT OR REPLACE INTO maps VALUES (?, ?, ?, ?, ?)",
            [name, fingerprint, at, "\n".join(addresses), points.astype("<f4").tobytes()],
        )


def neighbourhoods(
    db: sqlite3.Connection, space: Space, *, fingerprint: str
) -> tuple[Neighbourhood, ...] | None:
    """The neighbourhoods of the stored t-SNE; None if they were never looked for."""
    row = db.execute(
        "SELECT * FROM maps WHERE name = ? AND fingerprint = ?", [f"places {space}", fingerprint]
    ).fetchone()
    if row is None:
        return None
    numbers = np.frombuffer(row["points"], "<f4").reshape(-1, 4).tolist()  # x, y, level, coins
    return tuple(
        Neighbourhood(name, x, y, int(level), int(coins))
        for name, (x, y, level, coins) in zip(row["addresses"].split("\n"), numbers, strict=False)
    )


def store_neighbourhoods(
    catalog: Catalog, space: Space, found: Sequence[Neighbourhood], *, fingerprint: str, at: float
) -> None:
    """Store the neighbourhoods of a t-SNE, their names where other maps have addresses."""
    numbers = np.array([(one.x, one.y, one.level, one.coins) for one in found], np.float32)
    names = [one.name.replace("\n", " ") for one in found]
    store(catalog, f"places {space}", numbers, fingerprint=fingerprint, addresses=names, at=at)


def _points(row: sqlite3.Row) -> Vector:
    return np.frombuffer(row["points"], "<f4").reshape(-1, 2).copy()
