"""Queries over the records of a catalog."""

from collections.abc import Iterable
from pathlib import Path

from store.catalog import blockers, by_name, label_rows, spelling
from store.catalog import rows as catalog_rows
from store.catalog.catalog import Catalog
from store.catalog.filters import Filter
from store.catalog.label_rows import Tagged
from store.catalog.listing import SORTS, Listing
from store.disk.layout import Layout
from store.errors import UnknownRecord
from store.lru import LruCache
from store.records import TIERS, Facet, Record, Tier

_KEPT_COUNTS = 16


class RecordLists:
    """Queries that need no model: get, find, count, and list labels."""

    def __init__(self, catalog: Catalog, layout: Layout) -> None:
        self.catalog = catalog
        self.layout = layout
        self._listing = Listing()
        self._labels: LruCache[tuple[str, Filter, int, int], dict[str, int]] = LruCache(_KEPT_COUNTS)

    @property
    def actor_name(self) -> str:
        """The name of the current actor."""
        return self.catalog.actor.name

    @property
    def can_write(self) -> bool:
        """Whether this library is open for writing, and this actor may change it."""
        return self.catalog.can_write

    @property
    def generation(self) -> int:
        """A number that grows with every change of a record; equal numbers mean equal records."""
        return int(self.catalog.meta("generation") or 0)

    @property
    def derived(self) -> int:
        """A number that grows when derived rows, such as suspected copies, change."""
        return int(self.catalog.meta("derived") or 0)

    def changed_since(self, generation: int) -> list[str]:
        """Addresses of the records in the catalog that changed after this generation."""
        with self.catalog.reading() as db:
            return catalog_rows.changed_since(db, generation)

    def get(self, address: str) -> Record:
        """The record with this address. Raises UnknownRecord if there is none."""
        with self.catalog.reading() as db:
            record = catalog_rows.get(db, address)
        if record is None:
            raise UnknownRecord(f"no record has the address {address}")
        return record

    def records(self, addresses: Iterable[str]) -> list[Record]:
        """Those of these records that exist, in this order."""
        ordered = list(addresses)
        with self.catalog.reading() as db:
            found = catalog_rows.records(db, ordered)
        return [found[address] for address in ordered if address in found]

    def with_picture(self, image_hash: str) -> list[str]:
        """The addresses of the records with this picture, as it is stored."""
        with self.catalog.reading() as db:
            found = db.execute("SELECT address FROM records WHERE image_hash = ?", [image_hash])
            return [row[0] for row in found]

    def find(
        self, filter: Filter, *, sort: str = "newest", offset: int = 0, limit: int | None = None
    ) -> list[Record]:
        """The records that match, in one of the orders of `listing.SORTS`."""
        return self._listing.find(self.catalog, filter, sort=sort, offset=offset, limit=limit)

    def prepare_lists(self) -> None:
        """List all records in each order, so that the first page of an order does not wait."""
        for sort in SORTS:
            self.find(Filter(), sort=sort, limit=0)

    def addresses(self, filter: Filter) -> list[str]:
        """Addresses of the records that match, newest first."""
        with self.catalog.reading() as db:
            return catalog_rows.addresses(db, filter)

    def exact_matches(self, texts: Iterable[str], filter: Filter, *, limit: int) -> list[Record]:
        """Records whose address, ticker or name equals one of these texts, in that order."""
        found: dict[str, Record] = {}
        with self.catalog.reading() as db:
            for text in dict.fromkeys(texts):
                exact = by_name.exact(db, text, filter, limit=limit)
                found |= {record.address: record for record in exact if record.address not in found}
        return list(found.values())[:limit]

    def corrections(self, text: str) -> dict[str, str]:
        """For each word that occurs in no record, the nearest word of the library, if one is near."""
        with self.catalog.reading() as db:
            return spelling.corrections(db, text)

    def named(self, words: str, filter: Filter, *, limit: int) -> list[Record]:
        """Exact matches, then records that contain all of these words."""
        with self.catalog.reading() as db:
            return by_name.with_words(db, words, filter, limit=limit)

    def count(self, filter: Filter) -> int:
        """How many records match."""
        return self._listing.count(self.catalog, filter)

    def counts(self) -> dict[Tier, int]:
        """How many records each tier has."""
        return {tier: self.count(Filter(tier=tier)) for tier in TIERS}

    def tag_counts(self, filter: Filter) -> dict[str, int]:
        """How many matching records have each tag, most frequent first."""
        return self._label_counts("tag", filter)

    def category_counts(self, filter: Filter) -> dict[str, int]:
        """How many matching records are in each category, most frequent first."""
        return self._label_counts("category", filter)

    def _label_counts(self, kind: str, filter: Filter) -> dict[str, int]:
        """Cached for each generation: every page run asks, and counting 100,000 records takes 0.1 s."""
        key = (kind, filter, self.generation, self.derived)
        found = self._labels.get(key)
        if found is None or filter.suspicious is not None:  # that changes outside operations too
            with self.catalog.reading() as db:
                found = label_rows.label_counts(db, kind, filter)
            self._labels[key] = found
        return dict(found)

    def tagged_sample(self, limit: int) -> dict[str, Tagged]:
        """So many of the library's tagged records, by address; a change replaces only what it concerns."""
        filter = Filter(tier="library", tags=("*",))
        addresses = self._listing.sample(self.catalog, filter, limit=limit)
        with self.catalog.reading() as db:
            return label_rows.tagged(db, addresses)

    def source_counts(self, filter: Filter) -> dict[str, int]:
        """How many matching records were imported from each source, most frequent first."""
        with self.catalog.reading() as db:
            return catalog_rows.source_counts(db, filter)

    def labels(self, kind: str) -> list[tuple[str, str]]:
        """The address of every library record with each of its tags (kind "tag") or categories."""
        with self.catalog.reading() as db:
            return label_rows.labels(db, kind)

    def created(self) -> dict[str, int]:
        """Creation time of the library's records (UNIX seconds), by address."""
        with self.catalog.reading() as db:
            return catalog_rows.created(db)

    def subjects(self) -> list[tuple[str, str]]:
        """The address of every library record with the category of its first tag."""
        with self.catalog.reading() as db:
            return catalog_rows.subjects(db)

    def approvers(self) -> dict[str, str]:
        """Who approved each library record last, by address; without those that came in approved."""
        with self.catalog.reading() as db:
            return catalog_rows.approvers(db)

    def came_since(self, addresses: Iterable[str], moment: float) -> int:
        """How many of these records entered their tier after a moment (UNIX seconds).

        Records that left the tier and came back count as not having entered.
        """
        with self.catalog.reading() as db:
            return catalog_rows.came_since(db, list(addresses), moment)

    def blockers(self, addresses: Iterable[str]) -> dict[str, str]:
        """Why approved records among these cannot be promoted, by address."""
        with self.catalog.reading() as db:
            return blockers.of(db, addresses)

    def embedded_facets(self, address: str) -> list[Facet]:
        """The facets that have at least one vector in the library."""
        with self.catalog.reading() as db:
            rows = db.execute(
                "SELECT e.facet FROM embeddings e JOIN records r ON r.id = e.record WHERE r.address = ?",
                [address],
            ).fetchall()
        return [row[0] for row in rows]

    def spelling_of(self, address: str) -> str | None:
        """The address as stored, for one that differs at most in case."""
        with self.catalog.reading() as db:
            row = db.execute("SELECT address FROM records WHERE folded = ?", [address.lower()]).fetchone()
        return row[0] if row else None

    def picture(self, address: str) -> Path:
        """The path of the record's JPG, even while an operation moves it. Raises UnknownRecord."""
        tier = self.get(address).tier
        places = [self.layout.image(tier, address), *(self.layout.image(other, address) for other in TIERS)]
        return next((place for place in places if place.exists()), places[0])

    def picture_by_hash(self, image_hash: str) -> Path | None:
        """The path of a JPG with this SHA-256."""
        with self.catalog.reading() as db:
            row = db.execute("SELECT address FROM records WHERE image_hash = ?", [image_hash]).fetchone()
        return self.picture(row[0]) if row else None
