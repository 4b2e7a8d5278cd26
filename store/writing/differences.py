"""Which records' files differ from the catalog, by size and time alone.

A walk over all files finds suspects without a lock, so that the library can be used meanwhile. What differs
in truth is then found for each suspect alone, while nobody changes it.
"""

import json
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from store.catalog.catalog import Catalog
from store.disk.layout import Layout
from store.disk.sidecars import CoinFiles, Kind, blocked, files_of, listed
from store.progress import Progress
from store.records import TIERS, Tier

LARGE = 20_000  # records; the files of fewer are compared in less than half a second
_KINDS: tuple[Kind, ...] = ("sidecar", "image")
_ROWS = 20_000  # read at once, so that no transaction keeps SQLite's log from being emptied


@dataclass(frozen=True, slots=True)
class LostFolder:
    """The folder of a tier that is gone, or in whose place a file lies."""

    tier: Tier
    path: Path
    records: int  # how many have their files there
    is_taken: bool  # whether something else lies there


@dataclass(slots=True)
class Suspects:
    """What a walk over all files found."""

    addresses: set[str] = field(default_factory=set)  # whose files may differ
    lost: list[LostFolder] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Differences:
    """The records whose files are not as the catalog knows them."""

    rows: dict[str, sqlite3.Row]  # of those that the catalog knows, by address
    files: dict[str, dict[Tier, CoinFiles]]  # of those that have files, these by tier


def is_large(catalog: Catalog) -> bool:
    """Whether comparing all files would keep people waiting."""
    (last,) = catalog.row("SELECT max(id) FROM records")
    return (last or 0) > LARGE


def find_suspects(catalog: Catalog, layout: Layout, *, progress: Progress | None = None) -> Suspects:
    """Compare all files with the catalog, sidecars and pictures in turn; nobody if cancelled."""
    progress = progress or Progress()
    progress.what = "comparing the files"
    (count,) = catalog.row("SELECT count(*) FROM records")
    progress.total = len(_KINDS) * count
    found = Suspects()
    absent: set[int] = set()
    for kind in _KINDS:
        expected = _expected(catalog, kind)
        for tier in TIERS:
            for name, stat in listed(layout, tier, kind):
                if progress.cancelled:
                    return Suspects()
                if expected.pop(hash((tier, name, stat)), None) is None:
                    found.addresses.add(name)
                progress.done += 1
        absent.update(expected.values())
    rows = _addresses(catalog, absent)
    lost = blocked(layout)
    # Records whose whole folder is gone are not taken for removed one by one: it may come back.
    waiting = {(tier, one) for tier, one in rows if tier in lost and tier not in files_of(layout, one)}
    for tier, (path, is_taken) in lost.items():
        count = sum(of == tier for of, _ in waiting)
        if count or is_taken:
            found.lost.append(LostFolder(tier, path, count, is_taken))
    found.addresses.update(address for _, address in rows - waiting)
    return found


def find_differences(catalog: Catalog, layout: Layout, addresses: Collection[str]) -> Differences:
    """Compare these records' files with the catalog; those in an unfinished operation are left out."""
    rows: dict[str, sqlite3.Row] = {}
    files: dict[str, dict[Tier, CoinFiles]] = {}
    with catalog.one_moment() as db:
        left = set(addresses) - _busy(db)
        known = {row["address"]: row for row in _rows(db, left)}
        lost = blocked(layout)
        for address in sorted(left):
            row, there = known.get(address), files_of(layout, address)
            if row and not there and row["tier"] in lost:
                continue
            pair = CoinFiles(row["sidecar_stat"], row["image_stat"]) if row else None
            if row and pair and "" not in pair and there == {row["tier"]: pair}:
                continue
            if row:
                rows[address] = row
            if there:
                files[address] = there
    return Differences(rows, files)


def _expected(catalog: Catalog, kind: Kind) -> dict[int, int]:
    """The row number of each record by a hash of tier, address, and the size and time of its file."""
    found: dict[int, int] = {}
    last = 0
    while True:
        with catalog.reading() as db:
            rows = db.execute(
                f"SELECT id, tier, address, {kind}_stat FROM records WHERE id > ? ORDER BY id LIMIT {_ROWS}",
                [last],
            )
            rows.row_factory = None
            some = rows.fetchall()
        if not some:
            return found
        found.update((hash((tier, address, stat)), number) for number, tier, address, stat in some)
        last = some[-1][0]


def _addresses(catalog: Catalog, numbers: Collection[int]) -> set[tuple[Tier, str]]:
    with catalog.reading() as db:
        rows = db.execute(
            "SELECT tier, address FROM records WHERE id IN (SELECT value FROM json_each(?))",
            [json.dumps(list(numbers))],
        )
        rows.row_factory = None
        return set(rows.fetchall())


def _rows(db: sqlite3.Connection, addresses: Collection[str]) -> sqlite3.Cursor:
    return db.execute(
        "SELECT * FROM records WHERE address IN (SELECT value FROM json_each(?)) ORDER BY id",
        [json.dumps(list(addresses))],
    )


def _busy(db: sqlite3.Connection) -> set[str]:
    """Records of unfinished operations, whose files may be anywhere."""
    operations = db.execute("SELECT operation FROM journal").fetchall()
    return {change["address"] for row in operations for change in json.loads(row[0])["changes"]}
