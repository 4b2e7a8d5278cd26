"""Ids that are longer than Chroma Cloud takes: a hash stands for them, beside the id as a field."""

from abc import ABC
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from store.chroma.collections import Collections, Point
from store.disk.files import content_hash

_LIMIT = 128  # bytes of an id; https://docs.trychroma.com/cloud/quotas-limits
_FIELD = "memedex_id"
_HASHED = "sha256:"


class WithLongIds(Collections, ABC):
    """Collections whose ids may have any length, in a place that takes 128 bytes."""

    def put(self, name: str, points: Sequence[Point], *, gone: Sequence[str]) -> None:
        """As `Collections.put`."""
        super().put(name, [_shortened(point) for point in points], gone=[_short(id) for id in gone])

    def ids(self, name: str) -> set[str]:
        """As `Collections.ids`."""
        return set(self._given(name, super().ids(name)))

    def metadata(self, name: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """As `Collections.metadata`."""
        given = {_short(id): id for id in ids}
        found = super().metadata(name, list(given))
        return {
            given[id]: {key: fields[key] for key in fields if key != _FIELD} for id, fields in found.items()
        }

    def vectors(self, name: str, ids: Sequence[str]) -> dict[str, np.ndarray[Any, Any]]:
        """As `Collections.vectors`."""
        given = {_short(id): id for id in ids}
        return {given[id]: vector for id, vector in super().vectors(name, list(given)).items()}

    def nearest(self, name: str, vector: np.ndarray[Any, Any], *, n: int = 1) -> list[str]:
        """As `Collections.nearest`."""
        return self._given(name, super().nearest(name, vector, n=n))

    def _given(self, name: str, ids: Iterable[str]) -> list[str]:
        """The ids as they were given, in this order."""
        ids = list(ids)
        hashed = [id for id in ids if id.startswith(_HASHED)]
        fields = super().metadata(name, hashed)
        return [str(fields.get(id, {}).get(_FIELD, id)) for id in ids]


def _shortened(point: Point) -> Point:
    id = _short(point.id)
    return point if id == point.id else replace(point, id=id, metadata={**point.metadata, _FIELD: point.id})


def _short(id: str) -> str:
    content = id.encode()
    return id if len(content) <= _LIMIT else f"{_HASHED}{content_hash(content)}"
