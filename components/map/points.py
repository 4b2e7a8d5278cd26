"""The points that a page has drawn; they keep their number while the library changes."""

import base64
import secrets
from collections.abc import Callable, Hashable, Mapping, Sequence
from hashlib import blake2b
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from components.map.colours import Colours

_AT_REST = 1e-6  # of the map's units: less is no movement

_drawn: "WeakValueDictionary[str, PointTable]" = WeakValueDictionary()  # each as long as its session


class PointTable:
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
        self.colouring = ""  # identifies the colours
        self.colours = b""  # of each row, the number of its colour
        self.times = np.empty(0, np.uint32)  # when each row's coin came into the library, UNIX seconds
        self.selected = b""  # a bit for each row, as the browser drew its lasso last
        self._given = self._points = np.empty((0, 2), np.float32)
        self._changed = np.empty(0, np.int32)  # with which version each row last did
        self._row_of: dict[str, int] = {}
        _drawn[self.name] = self

    def update(
        self,
        addresses: Sequence[str],
        points: NDArray[np.float32],
        *,
        changed: Sequence[str],
        joined: Callable[[], Mapping[str, int]] = dict,
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
        rests = (np.abs(now - was) < _AT_REST).all(axis=1) | (np.isnan(now[:, 0]) & np.isnan(was[:, 0]))
        moved[:before] = ~rests
        moved[[self._row_of[address] for address in changed if address in self._row_of]] = True
        self._points = places
        times = joined()  # 0.1 s for 100,000 coins, and needed only now
        self.times = np.array([times.get(address, 0) for address in self.addresses], np.uint32)
        self._changed = np.append(self._changed, np.zeros(len(places) - before, np.int32))
        if moved.any():
            self._changed[moved] = self.version + 1
            self.version += 1  # last: the browser may request the points meanwhile

    def rows(self, addresses: Sequence[str]) -> NDArray[np.intp]:
        """The row numbers of these addresses, which must be on the sheet."""
        return np.array([self._row_of[address] for address in addresses], np.intp)

    def standing(self, row: int) -> bool:
        """Whether there is such a row, and its coin exists."""
        return 0 <= row < len(self._points) and not np.isnan(self._points[row, 0])

    def colour(self, colours: Colours) -> None:
        """Give these coins their colours; all others get the first."""
        values = np.zeros(len(self.addresses), np.uint8)
        values[self.rows(colours.addresses)] = colours.values
        self.colours = values.tobytes()
        self.colouring = blake2b(self.colours + self.name.encode(), digest_size=8).hexdigest()

    def select(self, bits: str) -> None:
        """Select the rows of these bits, in base64; what cannot be read selects none."""
        try:
            self.selected = base64.b64decode(bits, validate=True)
        except ValueError:
            self.selected = b""

    def chosen(self) -> list[str]:
        """The selected coins that exist."""
        chosen = np.flatnonzero(np.unpackbits(np.frombuffer(self.selected, np.uint8))).tolist()
        return [self.addresses[row] for row in chosen if self.standing(row)]

    def since(self, version: int) -> tuple[NDArray[np.uint32], NDArray[np.float32], NDArray[np.uint32]]:
        """What a browser with this version needs: changed rows, ascending, their places and times."""
        rows = np.flatnonzero(self._changed > version)
        return rows.astype(np.uint32), self._points[rows], self.times[rows]


def drawn_table(name: str) -> PointTable | None:
    """The sheet of an open page with this name."""
    return _drawn.get(name)
