"""A library for `bench.sliders` whose every record looks like one of the demo's."""

from collections.abc import Iterable
from typing import Self
from zlib import crc32

from store.catalog.filters import Filter
from store.library import Library
from store.records import Record


class StagedLibrary(Library):
    """The demo's records, again and again, under any address."""

    _looks: list[Record]

    @classmethod
    def of(cls, library: Library) -> Self:
        """Shares everything with this library, like `Library.for_actor`."""
        staged = cls.__new__(cls)
        vars(staged).update(vars(library))
        staged._looks = library.find(Filter(tier="library"))
        return staged

    def records(self, addresses: Iterable[str]) -> list[Record]:
        """A record for each address, with the looks of one of the demo's."""
        return [self._record(address) for address in addresses]

    def _record(self, address: str) -> Record:
        look = self._looks[crc32(address.encode()) % len(self._looks)]
        sidecar = {**look.sidecar, "token_address": address}
        return Record(sidecar, look.tier, look.revision, look.image_hash, look.came_from)
