"""Pictures whose embeddings lie close together, where there are any: what a model takes for the same."""

import sqlite3
from pathlib import Path

import numpy as np

from store import embedded
from store.blocks import Vector
from store.embedding import OFFLINE, Embedder
from store.vectors import Matrices

# Measured for the offline model (docs/duplicates.md); others are given more distance until they are.
_CLOSE = {OFFLINE: 0.90}
_CLOSE_ELSEWHERE = 0.95
_LEAST, _MOST = 0.6, 0.95  # how sure the furthest and the closest are
_KEPT = 50


def picture_vector(db: sqlite3.Connection, address: str, *, embedder: Embedder) -> Vector | None:
    """The stored vector of a record's picture, in whatever tier it is; None where there is none."""
    row = db.execute("SELECT image_hash FROM records WHERE address = ?", [address]).fetchone()
    if row is None:
        return None
    sources = embedded.sources({}, picture=Path(), image_hash=row["image_hash"], embedder=embedder)
    stored = db.execute("SELECT vector FROM vectors WHERE key = ?", [sources["image"].key]).fetchone()
    return None if stored is None else np.frombuffer(stored["vector"], "<f4")


def similar(matrices: Matrices, vector: Vector, *, model: str) -> dict[str, float]:
    """Library records whose picture's embedding is close to this one, and how sure that makes each."""
    snapshot = matrices.snapshot()
    cosines = np.empty(len(snapshot), np.float32)
    snapshot.products("image", vector, out=cosines)
    least = _CLOSE.get(model, _CLOSE_ELSEWHERE)
    close = np.flatnonzero(cosines >= least)
    order = close[np.argsort(-cosines[close], kind="stable")][:_KEPT]
    steep = (_MOST - _LEAST) / (1 - least)
    return {
        snapshot.addresses[row]: min(_MOST, _LEAST + steep * float(cosines[row] - least)) for row in order
    }
