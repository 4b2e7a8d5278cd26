"""Vectors of some records, read from the catalog, and their cosines with a query."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from store.embedding.arrays import Vector
from store.embedding.validation import are_unit
from store.records import FACETS, Facet

_AT_ONCE = 1_024  # records
_OF_ADDRESSES = (
    # In this order (CROSS JOIN), or SQLite may walk through the whole tier for a few addresses.
    "SELECT r.address, e.facet, v.vector FROM json_each(?) j CROSS JOIN records r ON r.address = j.value "
    "CROSS JOIN embeddings e ON e.record = r.id CROSS JOIN vectors v ON v.key = e.key "
    "WHERE +r.tier = 'library'"
)


def stored(
    db: sqlite3.Connection, addresses: Sequence[str], *, dimensions: int
) -> dict[str, dict[Facet, Vector]]:
    """The usable vectors of those of these records that are in the library."""
    found: dict[str, dict[Facet, Vector]] = {}
    for row in db.execute(_OF_ADDRESSES, [json.dumps(list(addresses))]):
        own = found.setdefault(row["address"], {})
        if len(row["vector"]) == 4 * dimensions:
            own[row["facet"]] = np.frombuffer(row["vector"], "<f4")
    return found


def cosines(
    db: sqlite3.Connection,
    addresses: Sequence[str],
    directions: Mapping[Facet, Vector],
    *,
    dimensions: int,
) -> tuple[list[str], Vector]:
    """Those of these records that are in the library, and their (5, n) cosines, NaN without a facet."""
    known: list[str] = []
    parts = [np.empty((len(FACETS), 0), np.float32)]
    for start in range(0, len(addresses), _AT_ONCE):
        some = stored(db, addresses[start : start + _AT_ONCE], dimensions=dimensions)
        known += some
        part = np.full((len(FACETS), len(some)), np.nan, np.float32)
        for facet, direction in directions.items():
            part[FACETS.index(facet)] = _cosines(some.values(), facet, direction)
        parts.append(part)
    return known, np.concatenate(parts, axis=1)


def _cosines(vectors: Iterable[Mapping[Facet, Vector]], facet: Facet, direction: Vector) -> Vector:
    """(n,): NaN without the facet, or with a vector that cannot be used."""
    nothing = np.zeros_like(direction)
    matrix = np.stack([own.get(facet, nothing) for own in vectors]) if vectors else nothing[None][:0]
    found: Vector = np.vecdot(matrix, direction)
    found[~are_unit(matrix)] = np.nan
    return found
