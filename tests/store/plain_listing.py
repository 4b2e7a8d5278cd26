"""Lists as SQL alone gives them: a second implementation of `store.catalog.listing`."""

from collections.abc import Iterable

from store.catalog.filters import Filter, conditions
from store.reading.reader import Reader

ORDERS = {
    "newest": "r.created_at DESC, r.address",
    "oldest": "r.created_at, r.address",
    "name": "r.name COLLATE NOCASE, r.address",
    "moved": "r.moved_at DESC, r.address",
    "suspicious": (
        "(SELECT sure FROM suspicions WHERE record = r.id) DESC NULLS LAST, r.created_at DESC, r.address"
    ),
}


def plain_list(reader: Reader, filter: Filter, *, sort: str = "newest") -> list[str]:
    """Addresses of the records that match, in order."""
    where, values = conditions(filter)
    with reader.catalog.reading() as db:
        rows = db.execute(f"SELECT r.address FROM records r WHERE {where} ORDER BY {ORDERS[sort]}", values)
        return [row[0] for row in rows]


def listed(reader: Reader, filter: Filter, *, sort: str = "newest") -> list[str]:
    """Addresses of the records that match, in order, as pages show them."""
    return [record.address for record in reader.find(filter, sort=sort)]


def lists_are_right(reader: Reader, *filters: Filter, sorts: Iterable[str] = ORDERS) -> None:
    """Check order and number of the records that pass these filters."""
    for filter in filters:
        for sort in sorts:
            assert listed(reader, filter, sort=sort) == plain_list(reader, filter, sort=sort), (filter, sort)
        assert sorted(reader._matches.passing(filter)) == sorted(plain_list(reader, filter)), filter
        assert reader.count(filter) == len(plain_list(reader, filter)), filter
