"""What people have open who have not logged in where they have to: so much from each address."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class OpenPlace:
    """A stranger's open page or unfinished body, until it has to give way to a newer one."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.gives_way = asyncio.Event()


class Strangers:
    """The open places of strangers, oldest first.

    Of more than `most` from one address its oldest gives way, so that a person behind the same address can
    still open the page to log in; of more than `most_of_all`, the oldest of the address that has most.
    """

    def __init__(self, *, most: int, most_of_all: int) -> None:
        self._most = most
        self._most_of_all = most_of_all
        self._open: dict[str, list[OpenPlace]] = {}

    @contextmanager
    def place(self, address: str) -> Iterator[OpenPlace]:
        """Take a place for the time of the block."""
        place = OpenPlace(address)
        own = self._open.setdefault(address, [])
        own.append(place)
        if len(own) > self._most:
            self._end(own[0])
        elif sum(map(len, self._open.values())) > self._most_of_all:
            self._end(max(self._open.values(), key=len)[0])
        try:
            yield place
        finally:
            self._forget(place)

    def _end(self, place: OpenPlace) -> None:
        place.gives_way.set()
        self._forget(place)

    def _forget(self, place: OpenPlace) -> None:
        own = self._open.get(place.address, [])
        if place in own:
            own.remove(place)
        if not own:
            self._open.pop(place.address, None)
