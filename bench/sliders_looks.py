"""A library for `bench.sliders` whose every record looks like one of the demo's."""

from typing import Any
from zlib import crc32

from store.catalog.filters import Filter
from store.library import Library
from store.records import Record


class Stage:
    """The demo's records, again and again, under any address."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._looks = library.find(Filter(tier="library"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def records(self, addresses: Any) -> list[Record]:
        return [self._record(address) for address in addresses]

    def _record(self, address: str) -> Record:
        look = self._looks[crc32(address.encode()) % len(self._looks)]
        sidecar = {**look.sidecar, "token_address": address}
        return Record(sidecar, look.tier, look.revision, look.image_hash, look.came_from)
