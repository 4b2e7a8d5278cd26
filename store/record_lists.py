"""The records as the catalog lists, counts and finds them, whoever writes."""

from collections.abc import Iterable
from pathlib import Path

from store import listing, troubles
from store.catalog import Catalog
from store.errors import UnknownRecord
from store.filter import Filter
from store.layout import Layout
from store.records import TIERS, Facet, Record, Tier
from store.search.recent import Recent

_KEPT_COUNTS = 16


class RecordLists:
    """What can be asked about records without a model: one, some, how many, and with which labels."""

    def __init__(self, catalog: Catalog, layout: Layout) -> None:
        self.catalog = catalog
        self.layout = layout
        self._labels: Recent[tuple[str, Filter, int], dict[str, int]] = Recent(_KEPT_COUNTS)

    @property
    def generation(self) -> int:
        """Grows with every change; equal numbers mean equal content."""
        return int(self.catalog.meta("generation") or 0)

    def changed_since(self, generation: int) -> list[str]:
        """The records that a change after this one left here."""
        with self.catalog.reading() as db:
            return listing.changed_since(db, generation)

    def get(self, address: str) -> Record:
        """The record; UnknownRecord where there is none."""
        with self.catalog.reading() as db:
            record = listing.get(db, address)
        if record is None:
            raise UnknownRecord(f"no record has the address {address}")
        return record

    def records(self, addresses: Iterable[str]) -> list[Record]:
        """Those of these records that there are, in this order."""
        wanted = list(addresses)
        with self.catalog.reading() as db:
            found = listing.records(db, wanted)
        return [found[address] for address in wanted if address in found]

    def find(
        self, filter: Filter, *, sort: str = "newest", offset: int = 0, limit: int | None = None
    ) -> list[Record]:
        """The records that pass, in the order of one of listing.SORTS."""
        with self.catalog.reading() as db:
            return listing.find(db, filter, sort=sort, offset=offset, limit=limit)

    def addresses(self, filter: Filter) -> list[str]:
        """Only the keys of the records that pass, newest first."""
        with self.catalog.reading() as db:
            return listing.addresses(db, filter)

    def named(self, words: str, filter: Filter, *, limit: int) -> list[Record]:
        """The record of this very address; those that have all of these words, the exact ticker first, then
        the name, then the rest."""
        with self.catalog.reading() as db:
            return listing.named(db, words, filter, limit=limit)

    def count(self, filter: Filter) -> int:
        with self.catalog.reading() as db:
            return listing.count(db, filter)

    def counts(self) -> dict[Tier, int]:
        """How many records each tier holds."""
        with self.catalog.reading() as db:
            return listing.counts(db)

    def tag_counts(self, filter: Filter) -> dict[str, int]:
        """How many of the records that pass carry each tag, most frequent first."""
        return self._label_counts("tag", filter)

    def category_counts(self, filter: Filter) -> dict[str, int]:
        """How many of the records that pass belong to each category, most frequent first."""
        return self._label_counts("category", filter)

    def _label_counts(self, kind: str, filter: Filter) -> dict[str, int]:
        """Once for each state of the library: pages ask in every run, and 100,000 records cost 0.1 s."""
        asked = (kind, filter, self.generation)
        found = self._labels.get(asked)
        if found is None or filter.suspicious is not None:  # that changes outside operations too
            with self.catalog.reading() as db:
                found = listing.label_counts(db, kind, filter)
            self._labels.put(asked, found)
        return dict(found)

    def source_counts(self, filter: Filter) -> dict[str, int]:
        """How many of the records that pass were imported from where, most frequent first."""
        with self.catalog.reading() as db:
            return listing.source_counts(db, filter)

    def labels(self, kind: str) -> list[tuple[str, str]]:
        """The address of every library record with each of its tags (kind "tag") or categories."""
        with self.catalog.reading() as db:
            return listing.labels(db, kind)

    def created(self) -> dict[str, int]:
        """When the library's records were created, by address."""
        with self.catalog.reading() as db:
            return listing.created(db)

    def came_since(self, addresses: Iterable[str], moment: float) -> int:
        """How many of these were not in their tier at a moment (UNIX seconds); who left and came back was."""
        with self.catalog.reading() as db:
            return listing.came_since(db, list(addresses), moment)

    def troubles(self, addresses: Iterable[str]) -> dict[str, str]:
        """Why those of these approved records that cannot go on cannot."""
        with self.catalog.reading() as db:
            return troubles.of(db, addresses)

    def embedded_facets(self, address: str) -> list[Facet]:
        """The facets that have a vector in the library."""
        with self.catalog.reading() as db:
            rows = db.execute(
                "SELECT e.facet FROM embeddings e JOIN records r ON r.id = e.record WHERE r.address = ?",
                [address],
            ).fetchall()
        return [row[0] for row in rows]

    def spelling_of(self, address: str) -> str | None:
        """How an address that differs at most in case is written here."""
        with self.catalog.reading() as db:
            row = db.execute("SELECT address FROM records WHERE folded = ?", [address.lower()]).fetchone()
        return row[0] if row else None

    def picture(self, address: str) -> Path:
        """The record's JPG, also while an operation moves it."""
        tier = self.get(address).tier
        places = [self.layout.image(tier, address), *(self.layout.image(other, address) for other in TIERS)]
        return next((place for place in places if place.exists()), places[0])

    def picture_by_hash(self, image_hash: str) -> Path | None:
        """The JPG with this SHA-256, of whichever record has it."""
        with self.catalog.reading() as db:
            row = db.execute("SELECT address FROM records WHERE image_hash = ?", [image_hash]).fetchone()
        return self.picture(row[0]) if row else None
