"""A map: records and their positions."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.embedding.arrays import Vector
from store.errors import InvalidRecord
from store.maps import spaces
from store.maps.spaces import Space
from store.vectors.blocks import VectorSnapshot

Method = Literal["pca", "tsne"]
Placement = Callable[[NDArray[np.intp]], Vector]  # rows of a snapshot → (n, 2), where they come to lie

LEAST = 3  # records that make a map


@dataclass(frozen=True, eq=False)
class Map:
    """The positions of the records that have the facet."""

    space: Space
    method: Method
    addresses: tuple[str, ...]
    points: Vector  # (n, 2), most within -1 … 1
    at: float = 0.0  # UNIX seconds of its layout: two with the same one have what is in both at one place
    generation: int = 0  # of the library that it shows


def updated_map(
    known: Map, snapshot: VectorSnapshot, placement: Placement, *, changed: Collection[str] = ()
) -> Map:
    """The map for this snapshot: without removed records, new or `changed` ones placed by `placement`."""
    rows = spaces.rows_with(snapshot, known.space)
    names = spaces.names(snapshot, rows)
    known = replace(known, generation=snapshot.generation)
    if not changed and names == known.addresses:
        return known
    there, changed = set(names), set(changed)
    stays = [name in there and name not in changed for name in known.addresses]
    kept = tuple(name for name, stay in zip(known.addresses, stays, strict=True) if stay)
    standing = set(kept)
    new = rows[np.array([name not in standing for name in names], np.bool_)]
    points = known.points[np.array(stays, np.bool_)]
    if len(new):
        points = np.concatenate([points, placement(new)])
    return replace(known, addresses=kept + spaces.names(snapshot, new), points=points)


def check_count(count: int) -> None:
    """Raises InvalidRecord if there are too few records for a map."""
    if count < LEAST:
        raise InvalidRecord(f"a map needs at least {LEAST} coins that have the facet")
