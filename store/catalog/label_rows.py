"""The tags and categories of records: who has which, and how many."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from store.catalog.filters import Filter, conditions
from store.catalog.rows import counts
from store.disk.sqlite_values import marks
from store.records import TIERS, Tier


class Tagged(NamedTuple):
    """The tags of a record, and the generation of its last change."""

    generation: int
    tags: frozenset[str]


def tagged(db: sqlite3.Connection, addresses: Iterable[str]) -> dict[str, Tagged]:
    """Those of these records that exist, by address."""
    rows = db.execute(
        "SELECT r.address, r.generation, (SELECT json_group_array(label) FROM labels "
        "WHERE record = r.id AND kind = 'tag') FROM json_each(?) one JOIN records r ON r.address = one.value",
        [json.dumps(list(addresses))],
    )
    return {address: Tagged(generation, frozenset(json.loads(tags))) for address, generation, tags in rows}


def labels(db: sqlite3.Connection, kind: str) -> list[tuple[str, str]]:
    """The address of every library record with each of its tags or categories."""
    return db.execute(
        "SELECT r.address, l.label FROM records r CROSS JOIN labels l ON l.record = r.id AND l.kind = ? "
        "WHERE r.tier = 'library'",
        [kind],
    ).fetchall()


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
