"""The points that a page has drawn; they keep their number while the library changes."""

import secrets
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from components.map.colours import Colours

_STANDS = 1e-6  # of the map's units: less is no movement


class Sheet:
    """Rows are only added; one whose coin is gone has no position (NaN) until the coin is back.

    So a row means the same coin to browser and server, whichever is behind, and the browser only needs what
    changed since its version.
    """

    def __init__(self, topic: Hashable) -> None:
        self.topic = topic  # another map or question is another sheet
        self.name = secrets.token_hex(6)
        self.version = 0
        self.generation = 0  # of the library that it shows
        self.addresses: list[str] = []
        self.shown: Sequence[str] = ()  # of the addresses, those that are not gone
        self.coloured: tuple[object, Colours] | None = None  # by what, and how
        self._given = self._points = np.empty((0, 2), np.float32)
        self._changed = np.empty(0, np.int32)  # with which version each row last did
        self._row_of: dict[str, int] = {}

    def update(
        self, addresses: Sequence[str], points: NDArray[np.float32], *, changed: Sequence[str]
    ) -> None:
        """Replace the points; of what `changed`, name or picture may differ."""
        if not changed and addresses is self.shown and points is self._given:
            return
        self.shown, self._given = addresses, points
        before = len(self.addresses)
        for address in addresses:
            if address not in self._row_of:
                self._row_of[address] = len(self.addresses)
                self.addresses.append(address)
        places = np.full((len(self.addresses), 2), np.nan, np.float32)
        places[self.rows(addresses)] = points
        moved = np.ones(len(places), np.bool_)
        was, now = self._points, places[:before]
        stands = (np.abs(now - was) < _STANDS).all(axis=1) | (np.isnan(now[:, 0]) & np.isnan(was[:, 0]))
        moved[:before] = ~stands
        moved[[self._row_of[address] for address in changed if address in self._row_of]] = True
        self._points = places
        self._changed = np.append(self._changed, np.zeros(len(places) - before, np.int32))
        if moved.any():
            self.version += 1
            self._changed[moved] = self.version

    def rows(self, addresses: Sequence[str]) -> NDArray[np.intp]:
        """The row numbers of these addresses, which must be on the sheet."""
        return np.array([self._row_of[address] for address in addresses], np.intp)

    def standing(self, row: int) -> bool:
        """Whether there is such a row, and its coin exists."""
        return 0 <= row < len(self._points) and not np.isnan(self._points[row, 0])

    def since(self, known: object) -> pa.Table | None:
        """What a browser with this version needs to be up to date; None if it is."""
        version = 0
        if isinstance(known, Mapping) and known.get("sheet") == self.name:
            told = known.get("version")
            version = told if type(told) is int else 0  # it comes from a browser
        rows = np.flatnonzero(self._changed > version)
        if not len(rows):
            return None
        return pa.table(
            {"row": rows.astype(np.uint32), "x": self._points[rows, 0], "y": self._points[rows, 1]}
        )
