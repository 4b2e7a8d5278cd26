"""Maps as the catalog keeps them: arranged ones, a PCA's directions, and where a large one's records lie."""

import sqlite3
from collections.abc import Sequence

import numpy as np

from store.catalog import Catalog
from store.maps.chart import Map
from store.maps.spaces import Space
from store.search.blocks import Vector


def arranged_at(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> float | None:
    """When the t-SNE that is kept was made; None where there is none of this model."""
    row = db.execute(
        "SELECT at FROM maps WHERE name = ? AND fingerprint = ?", [f"tsne {space}", fingerprint]
    ).fetchone()
    return float(row[0]) if row else None


def arranged(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> Map | None:
    """The t-SNE that is kept; None where there is none of this model."""
    row = db.execute(
        "SELECT * FROM maps WHERE name = ? AND fingerprint = ?", [f"tsne {space}", fingerprint]
    ).fetchone()
    return row and Map(space, "tsne", tuple(row["addresses"].split("\n")), _points(row), at=row["at"])


def directions(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> tuple[Vector, float] | None:
    """The directions of a PCA, and when they were found."""
    row = db.execute(
        "SELECT * FROM maps WHERE name = ? AND fingerprint = ?", [f"pca {space}", fingerprint]
    ).fetchone()
    return row and (np.frombuffer(row["points"], "<f4").reshape(3, -1), row["at"])


def flat(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> Map | None:
    """Where a PCA's records were laid when it was kept."""
    row = db.execute("SELECT * FROM maps WHERE name = ?", [f"flat {space}"]).fetchone()
    made_by, _, generation = row["fingerprint"].rpartition("@") if row else ("", "", "")
    if row is None or made_by != fingerprint:
        return None
    addresses = tuple(row["addresses"].split("\n"))
    return Map(space, "pca", addresses, _points(row), generation=int(generation))


def keep(
    catalog: Catalog, name: str, points: Vector, *, fingerprint: str, addresses: Sequence[str] = (), at: float
) -> None:
    """A map, or a map's directions, in place of the earlier one."""
    with catalog.writing() as db:
        db.execute(
            "INSERT OR REPLACE INTO maps VALUES (?, ?, ?, ?, ?)",
            [name, fingerprint, at, "\n".join(addresses), points.astype("<f4").tobytes()],
        )


def _points(row: sqlite3.Row) -> Vector:
    return np.frombuffer(row["points"], "<f4").reshape(-1, 2).copy()
