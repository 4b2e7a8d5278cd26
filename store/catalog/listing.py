"""Pages of the records that match a filter, and how many there are, as quickly in a large library.

Kept in memory, by row number: who passes each condition (a byte for each record), and all records in each
order (four bytes). After a decision only the records that it changed are asked about and moved. What changes
without a trace in the records, such as suspected copies, is read for each page.
"""

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.catalog import advice
from store.catalog.catalog import REMOVALS, WORD_EDITS, Catalog
from store.catalog.filters import LARGEST, Filter, FilterCondition, field_name, parts
from store.catalog.rows import SELECT_RECORD, record_of
from store.errors import InvalidRecord
from store.lru import LruCache
from store.records import TIERS, Record

Numbers = NDArray[np.int32]  # of rows in `records`


@dataclass(frozen=True, slots=True)
class _Order:
    column: str
    terms: str  # of the index that begins with the tier
    key: Callable[[sqlite3.Row], Any]  # of the column, as the terms sort it


_ORDERS: Mapping[str, _Order] = {
    "newest": _Order("created_at", "created_at DESC, address", lambda row: -row["created_at"]),
    "oldest": _Order("created_at", "created_at, address", lambda row: row["created_at"]),
    "name": _Order("name", "name COLLATE NOCASE, address", lambda row: row["name"].encode().lower()),
    "moved": _Order("moved_at", "moved_at DESC, address", lambda row: -row["moved_at"]),
}
_STORED_ORDERS = tuple(_ORDERS)


def by_number(field: str) -> str:
    """The order by the largest number of a field of sidecars, as filters call it."""
    return BY_NUMBER + field_name(field)


def _in_order(sort: str) -> str:
    """A query for the row numbers of all records in this order: SQLite merges the tiers' indexes."""
    order = _ORDERS[sort]
    tiers = (f"SELECT id, {order.column}, address FROM records WHERE tier = '{tier}'" for tier in TIERS)
    return f"SELECT id FROM ({' UNION ALL '.join(tiers)} ORDER BY {order.terms})"


def _moved(db: sqlite3.Connection, known: Numbers, changed: list[int], sort: str) -> Numbers:
    """The order with these records, changed or new, where they belong now."""
    order = _ORDERS[sort]
    left = known[~np.isin(known, changed)]
    query = f"SELECT {order.column}, address FROM records WHERE id = ?"

    def key(number: int) -> tuple[Any, str]:
        row = db.execute(query, [int(number)]).fetchone()
        return order.key(row), row["address"]

    ordered = sorted(changed, key=key)
    return np.insert(left, [bisect_left(left, key(number), key=key) for number in ordered], ordered)


Mask = NDArray[np.bool_]  # by row number

SORTS = (*_STORED_ORDERS, "suspicious", "doubt")
# What is read for each page, the highest first and all other records after it: row number, figure.
_FIGURES = {
    "suspicious": "SELECT record, sure FROM suspicions WHERE record < ?",
    "doubt": "SELECT r.id, -abs(a.score - 0.5) FROM advice a CROSS JOIN records r ON r.address = a.address "
    "WHERE r.tier = 'pending' AND r.id < ? AND NOT is_blind(r.address)",  # what teaches the co-pilot most
}
BY_NUMBER = "number:"  # … and this with a field of sidecars, as `number:volume`: its largest first
_KEPT, _KEPT_ADDRESSES = 64, 8
_FEW = 1_000  # changed records that are asked about one by one …
_FEW_BY_WORDS = 16  # … of which each takes a millisecond
_FEW_LEFT = 20_000  # records of which texts are read one by one


_EVERY = FilterCondition("TRUE", is_listed=True)


@dataclass(frozen=True, slots=True)
class _Moment:
    """The catalog as one transaction sees it."""

    db: sqlite3.Connection
    generation: int
    removals: int
    word_edits: int
    size: int  # above every row number

    def changed_since(self, generation: int, *, most: int) -> list[int] | None:
        """Records that changed after this generation; None if there are more than so many."""
        query = "SELECT id FROM records WHERE generation > ? LIMIT ?"
        found = [row[0] for row in self.db.execute(query, [generation, most + 1])]
        return found if len(found) <= most else None


@dataclass(frozen=True, slots=True)
class _List:
    value: NDArray[Any]  # never written to again
    generation: int
    edits: tuple[int, ...]  # what happened that no generation tells of


@dataclass(frozen=True, slots=True)
class _Addresses:
    found: list[str]
    mask: Mask
    generation: int
    removals: int


class Listing:
    """The lists of one catalog; thread-safe, and correct while other processes write."""

    def __init__(self) -> None:
        self._kept: LruCache[Hashable, _List] = LruCache(_KEPT)
        self._addresses: LruCache[Filter, _Addresses] = LruCache(_KEPT_ADDRESSES)

    def find(
        self,
        catalog: Catalog,
        filter: Filter,
        *,
        sort: str = "newest",
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Record]:
        """The records that match, in the order `sort`. Raises InvalidRecord for an unknown order."""
        if sort not in SORTS and not sort.startswith(BY_NUMBER):
            raise InvalidRecord(
                f"there is no order {sort!r}; there are {', '.join((*SORTS, BY_NUMBER))}FIELD"
            )
        with _moment(catalog) as now:
            ordered = self._ordered(now, filter, sort)
            return _records(now.db, ordered[offset : None if limit is None else offset + limit].tolist())

    def count(self, catalog: Catalog, filter: Filter) -> int:
        """How many records match."""
        with _moment(catalog) as now:
            return int(np.count_nonzero(self._passing(now, filter)))

    def addresses(self, catalog: Catalog, filter: Filter) -> list[str]:
        """Addresses of the records that match, in any order; the same object until they are others."""
        with _moment(catalog) as now:
            mask, known = self._passing(now, filter), self._addresses.get(filter)
            is_newer = known is not None and known.generation > now.generation
            if known is None or is_newer or known.removals != now.removals:
                before, found = np.zeros(now.size, np.bool_), []
            else:
                before, found = _of_size(now, known.mask), known.found
            changed = np.flatnonzero(before != mask)
            if known is None or len(changed):
                named = _addresses(now.db, changed[mask[changed]].tolist())
                if len(changed) > len(named):
                    gone = set(_addresses(now.db, changed[~mask[changed]].tolist()))
                    found = [address for address in found if address not in gone]
                found = found + named
            if not is_newer:
                self._addresses[filter] = _Addresses(found, mask, now.generation, now.removals)
            return found

    def sample(self, catalog: Catalog, filter: Filter, *, limit: int) -> list[str]:
        """Addresses of so many that match, by lots that each record keeps: a change replaces only its own."""
        with _moment(catalog) as now:
            found = np.flatnonzero(self._passing(now, filter))
            if len(found) > limit:
                lots = np.random.default_rng(0).random(now.size)[found]
                found = found[np.argpartition(lots, limit)[:limit]]
            return _addresses(now.db, found.tolist())

    def numbers(
        self, catalog: Catalog, filter: Filter, fields: Sequence[str]
    ) -> dict[str, tuple[float, ...]]:
        """The largest number of each field of the records that match and have all of them, by address."""
        with _moment(catalog) as now:
            values = np.stack([self._values(now, field_name(field)) for field in fields], axis=1)
            found = np.flatnonzero(self._passing(now, filter) & ~np.isnan(values).any(axis=1))
            addresses = _addresses(now.db, found.tolist())
            return dict(zip(addresses, map(tuple, values[found].tolist()), strict=True))

    def _ordered(self, now: _Moment, filter: Filter, sort: str) -> Numbers:
        order = self._order(now, sort if sort in _STORED_ORDERS else "newest")
        ordered = order[self._passing(now, filter)[order]]
        if sort.startswith(BY_NUMBER):
            values = self._values(now, sort.removeprefix(BY_NUMBER))
            return ordered[np.argsort(-values[ordered], kind="stable")]  # nan, for none, comes last
        if sort in _FIGURES:
            now.db.create_function("is_blind", 1, advice.is_blind, deterministic=True)
            figures = np.full(now.size, -np.inf)
            for number, figure in now.db.execute(_FIGURES[sort], [now.size]):
                figures[number] = figure
            ordered = ordered[np.argsort(-figures[ordered], kind="stable")]
        return ordered

    def _order(self, now: _Moment, sort: str) -> Numbers:
        """All records, of every tier."""
        return self._up_to_date(
            sort,
            now,
            make=lambda: _numbers(now.db, _in_order(sort)),
            renew=lambda known, changed: _moved(now.db, known, changed, sort),
            most=lambda known: _FEW_BY_WORDS + len(known) // _FEW,
        )

    def _values(self, now: _Moment, field: str) -> NDArray[np.float64]:
        """The largest number of this field in each record, by row number; nan for none."""

        def read(known: NDArray[Any], changed: Sequence[int] | None) -> NDArray[np.float64]:
            values = np.full(now.size, np.nan)
            values[: len(known)] = known
            among = "" if changed is None else " WHERE r.id IN (SELECT value FROM json_each(?))"
            query = f"SELECT r.id, {LARGEST} FROM records r{among}"
            for number, value in now.db.execute(
                query, [field, *([] if changed is None else [json.dumps(changed)])]
            ):
                values[number] = np.nan if value is None else value
            return values

        return self._up_to_date(
            (BY_NUMBER, field), now, make=lambda: read(np.empty(0), None), renew=read, most=lambda _: _FEW
        )

    def _passing(self, now: _Moment, filter: Filter) -> Mask:
        """Which records pass a filter."""
        given = parts(filter)
        own = tuple(part for part in given if part.is_own)
        mask = self._passing_own(now, own if filter.tier else (_EVERY, *own))
        others = [part for part in given if not part.is_own]
        for part in others:
            if part.is_listed:
                mask = mask & self._listed(now, part)
        return _read(now, mask, [part for part in others if not part.is_listed])

    def _passing_own(self, now: _Moment, own: tuple[FilterCondition, ...]) -> Mask:
        listed = [
            self._known(now, (part,), partial(self._listed, now, part)) for part in own if part.is_listed
        ]
        mask: Mask = reduce(np.logical_and, listed)
        texts = [part for part in own if not part.is_listed]
        return self._known(now, own, lambda: _read(now, mask, texts)) if texts else mask

    def _listed(self, now: _Moment, part: FilterCondition) -> Mask:
        if part.choices:
            mask = reduce(np.logical_or, [self._passing(now, choice) for choice in part.choices])
        else:
            selects = part.selects or (f"r.id FROM records r WHERE {part.sql}",)
            every = " UNION ALL ".join(f"SELECT {select}" for select in selects)
            mask = _mask(now, _numbers(now.db, every, part.values))
        return ~mask if part.denied else mask

    def _known(self, now: _Moment, own: tuple[FilterCondition, ...], make: Callable[[], Mask]) -> Mask:
        by_words = any(part.reads_words for part in own)
        return self._up_to_date(
            own,
            now,
            make=make,
            renew=lambda known, changed: _asked_again(now, known, changed, own),
            most=lambda _: _FEW_BY_WORDS if by_words else _FEW,
            edits=(now.word_edits,) if by_words else (),
        )

    def _up_to_date(
        self,
        key: Hashable,
        now: _Moment,
        *,
        make: Callable[[], NDArray[Any]],
        renew: Callable[[NDArray[Any], list[int]], NDArray[Any]],
        most: Callable[[NDArray[Any]], int],
        edits: tuple[int, ...] = (),
    ) -> NDArray[Any]:
        """The cached value, updated by up to `most` changed records; else recomputed."""
        known, edits = self._kept.get(key), (now.removals, *edits)
        if known and (known.generation, known.edits) == (now.generation, edits):
            return known.value
        value = None
        if known and known.edits == edits and known.generation < now.generation:
            changed = now.changed_since(known.generation, most=most(known.value))
            value = None if changed is None else renew(known.value, changed)
        if value is None:
            value = make()
        if known is None or known.generation <= now.generation:
            self._kept[key] = _List(value, now.generation, edits)
        return value


@contextmanager
def _moment(catalog: Catalog) -> Iterator[_Moment]:
    with catalog.one_moment() as db:
        query = "SELECT coalesce((SELECT value FROM meta WHERE key = ?), 0)"
        (size,) = db.execute("SELECT coalesce(max(id), 0) + 1 FROM records").fetchone()
        generation, removals, word_edits = (
            int(db.execute(query, [key]).fetchone()[0]) for key in ("generation", REMOVALS, WORD_EDITS)
        )
        yield _Moment(db, generation, removals, word_edits, size)


def _numbers(db: sqlite3.Connection, select: str, values: Sequence[Any] = ()) -> Numbers:
    """The row numbers that a query selects, in its order; read as one text, five times as fast as rows."""
    query = f"WITH found (number) AS ({select}) SELECT group_concat(number, ' ') FROM found"
    (text,) = db.execute(query, values).fetchone()
    return np.fromstring(text, np.int32, sep=" ") if text else np.empty(0, np.int32)


def _mask(now: _Moment, numbers: Numbers) -> Mask:
    mask = np.zeros(now.size, np.bool_)
    mask[numbers[numbers < now.size]] = True
    return mask


def _of_size(now: _Moment, known: Mask) -> Mask:
    """A copy for as many row numbers as there are now."""
    mask = np.zeros(now.size, np.bool_)
    mask[: len(known)] = known
    return mask


def _read(now: _Moment, mask: Mask, texts: Sequence[FilterCondition]) -> Mask:
    """Those of these records that pass conditions for which each has to be read."""
    if not texts:
        return mask
    left = np.flatnonzero(mask)
    few = len(left) <= _FEW_LEFT
    found = _of_rows(now, texts, left.tolist() if few else None)
    return mask & _mask(now, found)


def _asked_again(now: _Moment, known: Mask, changed: list[int], own: Sequence[FilterCondition]) -> Mask:
    mask = _of_size(now, known)
    mask[changed] = False
    mask[_of_rows(now, own, changed, of_few=True)] = True
    return mask


def _of_rows(
    now: _Moment, conditions: Sequence[FilterCondition], among: list[int] | None, *, of_few: bool = False
) -> Numbers:
    """Which records pass all of these, among some or all."""
    made = [part.where(of_few=of_few) for part in conditions]
    where, values = " AND ".join(sql for sql, _ in made), [value for _, own in made for value in own]
    if among is None:
        return _numbers(now.db, f"SELECT r.id FROM records r WHERE {where}", values)
    rows = "json_each(?) one CROSS JOIN records r ON r.id = one.value"  # not by an index of a whole tier
    return _numbers(now.db, f"SELECT r.id FROM {rows} WHERE {where}", [json.dumps(among), *values])


def _records(db: sqlite3.Connection, numbers: list[int]) -> list[Record]:
    rows = db.execute(
        f"{SELECT_RECORD} WHERE r.id IN (SELECT value FROM json_each(?))", [json.dumps(numbers)]
    )
    found = {row["id"]: record_of(row) for row in rows}
    return [found[number] for number in numbers if number in found]


def _addresses(db: sqlite3.Connection, numbers: list[int]) -> list[str]:
    rows = "json_each(?) one CROSS JOIN records r ON r.id = one.value"
    query = f"SELECT group_concat(r.address, char(10)) FROM {rows}"
    (text,) = db.execute(query, [json.dumps(numbers)]).fetchone()
    return text.split("\n") if text else []
