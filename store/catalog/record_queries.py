"""Queries over the records of a catalog, which need no model.

    RecordLists      get, find, count, and list labels
    exactly_named    records found by what they are called: address, ticker, name
    label_counts     the tags and categories of records, and how many have each

Conditions come from `filters.py`, orders from `listing.py`.
"""

import json
import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from store.catalog import blockers, words
from store.catalog import rows as catalog_rows
from store.catalog.catalog import Catalog
from store.catalog.confusables import plain
from store.catalog.filters import Filter, conditions, matching
from store.catalog.history import UNDONE
from store.catalog.listing import SORTS, Listing, by_number
from store.catalog.rows import SELECT_RECORD, counts, record_of
from store.catalog.words import in_words
from store.disk.layout import Layout
from store.disk.sqlite import marks
from store.errors import UnknownRecord
from store.lru import LruCache
from store.records import ORIGINAL, REQUIRED_KEYS, TIERS, Facet, Record, Tier, as_stored

_NEWEST, _FIELDS = 300, 12  # records that are looked at, and fields that are named
# Numbers by which nobody orders coins.
_NO_MEASURES = (*REQUIRED_KEYS, "decimals", "chainId", "id")
_IS_NUMBER = (  # or a text that is nothing else, as tables have them: no date, address or version
    "(j.type IN ('integer', 'real') OR (j.type = 'text' AND ltrim(j.value, '-+') GLOB '*[0-9]*' "
    "AND ltrim(j.value, '-+') NOT GLOB '*[^0-9.]*' AND j.value NOT GLOB '*.*.*'))"
)


def exactly_named(db: sqlite3.Connection, text: str, filter: Filter, *, limit: int) -> list[Record]:
    """The record with this address; else records with this ticker, then records with this name.

    Ignores case, accents and a leading $; in an address, case is ignored only if it is an EVM one.
    """
    where, values = conditions(filter)
    address = text.strip()
    spelt = as_stored(address)
    meant = db.execute(f"{SELECT_RECORD} WHERE r.address = ? AND {where}", [spelt, *values]).fetchone()
    if meant:
        return [record_of(meant)]
    phrase = _bare(text)
    if not phrase:
        return []
    if any(character.isalnum() for character in phrase):
        found_in = (
            "words CROSS JOIN records r ON r.id = words.rowid"  # else SQLite looks at all records of a tier
        )
        among, parameters = f"{found_in} WHERE words MATCH ?", [_phrase(phrase)]
    else:  # characters alone, which the words do not hold
        among, parameters = "records r WHERE (r.name LIKE ? OR r.ticker LIKE ?)", [f"%{phrase}%"] * 2
    rows = db.execute(
        f"SELECT r.id, r.name, r.ticker FROM {among} AND {where} ORDER BY r.address",
        [*parameters, *values],
    ).fetchall()
    found = [row["id"] for row in rows if _bare(row["ticker"]) == phrase]
    found += [row["id"] for row in rows if _bare(row["name"]) == phrase and row["id"] not in found]
    records = [db.execute(f"{SELECT_RECORD} WHERE r.id = ?", [number]).fetchone() for number in found[:limit]]
    return [record_of(row) for row in records]


def with_words_or_named(db: sqlite3.Connection, words: str, filter: Filter, *, limit: int) -> list[Record]:
    """Exact matches, then records with all of these words by BM25; of an address its record alone."""
    first = exactly_named(db, words, filter, limit=limit)
    if [record.address for record in first] == [words.strip()]:
        return first
    where, values = conditions(filter)
    rows = db.execute(
        f"{SELECT_RECORD} JOIN words ON words.rowid = r.id WHERE words MATCH ? AND {where} "
        "ORDER BY bm25(words, 10, 10, 1, 1, 1, 1), r.address LIMIT ?",
        [matching(in_words(words.strip().removeprefix("$"))), *values, limit],
    )
    known = {record.address for record in first}
    return [*first, *(record for row in rows if (record := record_of(row)).address not in known)][:limit]


def _bare(text: str) -> str:
    """A name or ticker without case, accents and a leading $."""
    spread = unicodedata.normalize("NFKD", plain(text.strip().removeprefix("$")))
    return "".join(character for character in spread if not unicodedata.combining(character))


def _phrase(text: str) -> str:
    """An FTS5 query for names and tickers that begin with this text."""
    return '{name ticker} : ^ "' + text.replace('"', '""') + '"'


class Tagged(NamedTuple):
    """The tags of a record, and the generation of its last change."""

    generation: int
    tags: frozenset[str]


def label_counts(db: sqlite3.Connection, kind: str, filter: Filter) -> dict[str, int]:
    """How many matching records have each tag (or category), most frequent first."""
    if filter.tier and filter == Filter(tier=filter.tier):
        sizes = counts(db)
        if 2 * sizes[filter.tier] > sum(sizes.values()):
            return _less_the_others(db, kind, filter.tier)
    return _label_counts(db, kind, *conditions(filter))


def _less_the_others(db: sqlite3.Connection, kind: str, tier: Tier) -> dict[str, int]:
    """The labels of most records, counted by an index alone, less those of the others."""
    found = dict(
        db.execute("SELECT label, count(*) FROM labels WHERE kind = ? GROUP BY label", [kind]).fetchall()
    )
    others = [other for other in TIERS if other != tier]
    for label, count in _label_counts(db, kind, f"r.tier IN ({marks(others)})", others).items():
        found[label] -= count
    ordered = sorted((-count, label) for label, count in found.items() if count)
    return {label: -count for count, label in ordered}


def _label_counts(db: sqlite3.Connection, kind: str, where: str, values: Sequence[Any]) -> dict[str, int]:
    rows = db.execute(
        # Not a join: it would look up a record for each of its labels, which takes six times as long.
        f"SELECT label, count(*) FROM labels WHERE kind = ? AND record IN "
        f"(SELECT r.id FROM records r WHERE {where}) GROUP BY label ORDER BY count(*) DESC, label",
        [kind, *values],
    )
    return dict(rows.fetchall())


_KEPT_COUNTS = 16


class RecordLists:
    """Queries that need no model: get, find, count, and list labels."""

    def __init__(self, catalog: Catalog, layout: Layout) -> None:
        self.catalog = catalog
        self.layout = layout
        self._listing = Listing()
        self._labels: LruCache[tuple[str, Filter, int, int], dict[str, int]] = LruCache(_KEPT_COUNTS)
        self._names: LruCache[int, list[str]] = LruCache(4)

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
        rows = self.catalog.rows(
            f"{SELECT_RECORD} WHERE r.address IN (SELECT value FROM json_each(?))", [json.dumps(ordered)]
        )
        found = {row["address"]: record_of(row) for row in rows}
        return [found[address] for address in ordered if address in found]

    def with_picture(self, image_hash: str) -> list[str]:
        """The addresses of the records with this picture, as it is stored."""
        found = self.catalog.rows("SELECT address FROM records WHERE image_hash = ?", [image_hash])
        return [row[0] for row in found]

    def find(
        self, filter: Filter, *, sort: str = "newest", offset: int = 0, limit: int | None = None
    ) -> list[Record]:
        """The records that match, in an order of `listing.SORTS`, or by a field as `number:volume`."""
        return self._listing.find(self.catalog, filter, sort=sort, offset=offset, limit=limit)

    def number_orders(self) -> dict[str, str]:
        """The orders by numbers of sidecars, by names such as volume; the most frequent of the newest.

        Where several fields hold a number of one name, such as h24, the name says of which: volume h24.
        """
        return {field: by_number(field) for field in self._number_fields()}

    def numbers(self, filter: Filter, field: str, *others: str) -> dict[str, tuple[float, ...]]:
        """The largest number of each of these fields, by address, of the matching records that have all."""
        return self._listing.numbers(self.catalog, filter, (field, *others))

    def _number_fields(self) -> list[str]:
        """Cached for each generation: every page with a grid asks."""
        generation = self.generation
        if (known := self._names.get(generation)) is not None:
            return known
        newest = "SELECT s.text FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash"
        found = self.catalog.rows(
            f"SELECT j.key, j.path FROM ({newest} ORDER BY r.id DESC LIMIT ?) one, json_tree(one.text) j "
            f"WHERE typeof(j.key) = 'text' AND j.path NOT LIKE '$.caption%' AND j.path NOT LIKE '%]%' "
            f"AND j.key NOT IN ({marks(_NO_MEASURES)}) AND {_IS_NUMBER} "
            f"GROUP BY j.key, j.path ORDER BY j.path LIKE '$%{ORIGINAL}%', count(*) DESC, j.key LIMIT ?",
            [_NEWEST, *_NO_MEASURES, _FIELDS],
        )
        keys = Counter(key for key, _ in found)
        self._names[generation] = names = [
            key if keys[key] == 1 else " ".join([*re.findall(r'[^$."]+', path), key]) for key, path in found
        ]
        return names

    def prepare_lists(self) -> None:
        """List all records in each order, so that the first page of an order does not wait."""
        for sort in SORTS:
            self.find(Filter(), sort=sort, limit=0)

    def addresses(self, filter: Filter) -> list[str]:
        """Addresses of the records that match, newest first."""
        where, values = conditions(filter)
        query = f"SELECT r.address FROM records r WHERE {where} ORDER BY r.created_at DESC, r.address"
        return [row[0] for row in self.catalog.rows(query, values)]

    def exact_matches(self, texts: Iterable[str], filter: Filter, *, limit: int) -> list[Record]:
        """Records whose address, ticker or name equals one of these texts, in that order."""
        found: dict[str, Record] = {}
        with self.catalog.reading() as db:
            for text in dict.fromkeys(texts):
                exact = exactly_named(db, text, filter, limit=limit)
                found |= {record.address: record for record in exact if record.address not in found}
        return list(found.values())[:limit]

    def corrections(self, text: str) -> dict[str, str]:
        """For each word that occurs in no record, the nearest word of the library, if one is near."""
        with self.catalog.reading() as db:
            return words.corrections(db, text)

    def named(self, words: str, filter: Filter, *, limit: int) -> list[Record]:
        """Exact matches, then records that contain all of these words."""
        with self.catalog.reading() as db:
            return with_words_or_named(db, words, filter, limit=limit)

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
        if (
            found is None or filter.suspicious is not None or filter.likeness
        ):  # that changes outside operations too
            with self.catalog.reading() as db:
                found = label_counts(db, kind, filter)
            self._labels[key] = found
        return dict(found)

    def tagged_sample(self, limit: int) -> dict[str, Tagged]:
        """So many of the library's tagged records, by address; a change replaces only what it concerns."""
        filter = Filter(tier="library", tags=("*",))
        addresses = self._listing.sample(self.catalog, filter, limit=limit)
        rows = self.catalog.rows(
            "SELECT r.address, r.generation, (SELECT json_group_array(label) FROM labels WHERE record = r.id "
            "AND kind = 'tag') FROM json_each(?) one JOIN records r ON r.address = one.value",
            [json.dumps(addresses)],
        )
        return {
            address: Tagged(generation, frozenset(json.loads(tags))) for address, generation, tags in rows
        }

    def source_counts(self, filter: Filter) -> dict[str, int]:
        """How many matching records were imported from each source, most frequent first."""
        where, values = conditions(filter)
        rows = self.catalog.rows(
            "SELECT h.reason, count(*) FROM history h JOIN records r ON r.address = h.address "
            f"WHERE h.verb = 'import' AND h.reason <> '' AND {where} "
            "GROUP BY h.reason ORDER BY count(*) DESC, h.reason",
            values,
        )
        return dict(rows)

    def labels(self, kind: str) -> list[tuple[str, str]]:
        """The address of every library record with each of its tags (kind "tag") or categories."""
        return self.catalog.rows(
            "SELECT r.address, l.label FROM records r CROSS JOIN labels l "
            "ON l.record = r.id AND l.kind = ? WHERE r.tier = 'library'",
            [kind],
        )

    def created(self) -> dict[str, int]:
        """Creation time of the library's records (UNIX seconds), by address."""
        rows = self.catalog.rows("SELECT address, created_at FROM records WHERE tier = 'library'")
        return dict(rows)

    def joined(self) -> dict[str, int]:
        """When each library record came into the library, else was created (UNIX seconds), by address."""
        rows = self.catalog.rows(
            "SELECT r.address, coalesce((SELECT CAST(min(h.at) AS INTEGER) FROM history h "
            "WHERE h.address = r.address AND json_extract(h.after, '$.tier') = 'library'), r.created_at) "
            "FROM records r WHERE r.tier = 'library'"
        )
        return dict(rows)

    def subjects(self) -> list[tuple[str, str]]:
        """The address of every library record with the category of its first tag: what people name first."""
        return self.catalog.rows(
            "SELECT r.address, json_extract(s.text, '$.tags_categories[0]') AS subject FROM records r "
            "JOIN sidecars s ON s.hash = r.sidecar_hash WHERE r.tier = 'library' AND subject IS NOT NULL"
        )

    def approvers(self) -> dict[str, str]:
        """Who approved each library record last, by address; without those that came in approved."""
        rows = self.catalog.rows(
            "SELECT h.address, h.who, max(h.id) FROM history h "
            f"WHERE h.verb = 'approve' AND h.decision NOT IN {UNDONE} "
            "AND h.address IN (SELECT address FROM records WHERE tier = 'library') GROUP BY h.address"
        )
        return {address: actor for address, actor, _ in rows}

    def came_since(self, addresses: Iterable[str], moment: float) -> int:
        """How many of these records entered their tier after a moment, and did not leave it before."""
        row = self.catalog.row(
            "SELECT count(*) FROM records r WHERE r.address IN (SELECT value FROM json_each(?)) "
            "AND r.moved_at > ? AND r.tier IS NOT (SELECT h.after ->> '$.tier' FROM history h "
            "WHERE h.address = r.address AND h.at <= ? ORDER BY h.id DESC LIMIT 1)",
            [json.dumps(list(addresses)), moment, moment],
        )
        return int(row[0])

    def blockers(self, addresses: Iterable[str]) -> dict[str, str]:
        """Why approved records among these cannot be promoted, by address."""
        with self.catalog.reading() as db:
            return blockers.of(db, addresses)

    def embedded_facets(self, address: str) -> list[Facet]:
        """The facets that have at least one vector in the library."""
        rows = self.catalog.rows(
            "SELECT e.facet FROM embeddings e JOIN records r ON r.id = e.record WHERE r.address = ?",
            [address],
        )
        return [row[0] for row in rows]

    def spelling_of(self, address: str) -> str | None:
        """The address as stored, for one that differs at most in case."""
        row = self.catalog.row("SELECT address FROM records WHERE folded = ?", [address.lower()])
        return row[0] if row else None

    def picture(self, address: str) -> Path:
        """The path of the record's JPG, even while an operation moves it. Raises UnknownRecord."""
        tier = self.get(address).tier
        places = [self.layout.image(tier, address), *(self.layout.image(other, address) for other in TIERS)]
        return next((place for place in places if place.exists()), places[0])

    def picture_by_hash(self, image_hash: str) -> Path | None:
        """The path of a JPG with this SHA-256."""
        row = self.catalog.row("SELECT address FROM records WHERE image_hash = ?", [image_hash])
        return self.picture(row[0]) if row else None
