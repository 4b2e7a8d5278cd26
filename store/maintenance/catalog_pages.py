"""Checks of the catalog's pages and vectors, in batches."""

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from store.catalog import pages
from store.catalog.catalog import Catalog
from store.embedding.validation import are_usable
from store.errors import CatalogDamaged
from store.maintenance.checked_batches import CheckedBatches
from store.maintenance.interruption import ended_by
from store.maintenance.record_checks import catalog_state
from store.maintenance.repair import Damage
from store.progress import Progress

_BLOCK = 4_000  # vectors: what an interruption waits for and loses


def damaged_pages(catalog: Catalog, *, checked: CheckedBatches, progress: Progress) -> Iterator[str]:
    """What SQLite finds wrong with the pages, those of many vectors excepted; stops early if cancelled."""
    state = catalog_state(catalog)
    with catalog.reading() as db:
        parts = pages.parts(db)
    for part in parts:
        if progress.cancelled:
            return
        progress.what = f"reading the catalog: {part}" if part else "reading the catalog"
        faults = list[str]()
        with ended_by(progress, catalog):
            faults += checked.faults(("pages", part, state), partial(_page_faults, catalog, part))
        yield from faults


def damaged_vectors(catalog: Catalog, *, checked: CheckedBatches, progress: Progress) -> Iterator[Damage]:
    """Records with a vector that cannot be searched with, and vectors that cannot be read.

    Stops early if cancelled.
    """
    progress.what = "reading the vectors"
    state = catalog_state(catalog)
    count = count_vectors(catalog)
    for first in range(0, count, _BLOCK):
        if progress.cancelled:
            return
        yield from checked.faults(("vectors", first, state), partial(_unusable, catalog, first))
        progress.done += min(_BLOCK, count - first)


def count_vectors(catalog: Catalog) -> int:
    """How many vectors are stored at most, by the last row's number; 1 if that cannot be read."""
    with suppress(CatalogDamaged), catalog.reading() as db:
        return int(db.execute("SELECT coalesce(max(rowid), 0) FROM vectors").fetchone()[0])
    return 1


def _page_faults(catalog: Catalog, part: str) -> list[str]:
    with catalog.reading() as db:
        return pages.faults(db, part)


def _unusable(catalog: Catalog, first: int) -> list[Damage]:
    try:
        with catalog.reading() as db:
            rows = db.execute(
                "SELECT key, vector FROM vectors WHERE rowid BETWEEN ? AND ?", [first + 1, first + _BLOCK]
            ).fetchall()
            usable = are_usable([row["vector"] for row in rows])
            keys = [row["key"] for row, good in zip(rows, usable, strict=True) if not good]
            if not keys:
                return []
            users = db.execute(  # reads all embeddings
                "SELECT DISTINCT r.address FROM embeddings e JOIN records r ON r.id = e.record "
                "WHERE e.key IN (SELECT value FROM json_each(?)) ORDER BY r.id",
                [json.dumps(keys)],
            )
            return [Damage("a vector", row["address"]) for row in users]
    except CatalogDamaged as error:
        return [Damage(f"vectors from row {first + 1:,} on: {error.__cause__}")]
