"""What a query's filter and words match, cached for as long as nothing changes."""

from store.catalog.catalog import Catalog
from store.catalog.filters import Filter
from store.catalog.listing import Listing
from store.catalog.words import NO_WORDS, WordShares, word_shares
from store.lru import LruCache
from store.search.query import Query, words_asked

_KEPT_WORDS = 64


class QueryMatches:
    """Searches recognise an answer by its identity; thread-safe."""

    def __init__(self, catalog: Catalog, listing: Listing) -> None:
        self._catalog = catalog
        self._listing = listing
        self._words: LruCache[tuple[str, int, int], WordShares] = LruCache(_KEPT_WORDS)

    def passing(self, filter: Filter) -> list[str]:
        """Records that match a filter; the same list object until other records do."""
        return self._listing.addresses(self._catalog, filter)

    def words(self, query: Query) -> WordShares:
        """The word shares; the same object until the library changes."""
        text = words_asked(query)
        if not text:
            return NO_WORDS
        key = text, self._number("generation"), self._number("derived")
        found = self._words.get(key)
        if found is None:
            with self._catalog.reading() as db:
                found = self._words[key] = word_shares(db, text)
        return found

    def _number(self, name: str) -> int:
        return int(self._catalog.meta(name) or 0)
