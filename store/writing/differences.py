"""Which records' files differ from the catalog, by size and time alone."""

import json
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from store.catalog.catalog import Catalog
from store.disk.layout import Layout
from store.disk.sidecars import CoinFiles, blocked, scan
from store.records import Tier


@dataclass(frozen=True, slots=True)
class LostFolder:
    """The folder of a tier that is gone, or in whose place a file lies."""

    tier: Tier
    path: Path
    records: int  # how many have their files there
    is_taken: bool  # whether something else lies there


@dataclass(frozen=True, slots=True)
class Differences:
    """The files there are, and the records whose files are not as the catalog knows them."""

    files: dict[tuple[Tier, str], CoinFiles]
    addresses: set[str]  # whose files differ
    rows: dict[str, sqlite3.Row]  # of these records, by address
    lost: list[LostFolder]

    def places(self) -> dict[str, dict[Tier, CoinFiles]]:
        """For each record that differs and has files, these by tier."""
        places: dict[str, dict[Tier, CoinFiles]] = {}
        for (tier, address), pair in self.files.items():
            if address in self.addresses:
                places.setdefault(address, {})[tier] = pair
        return places


def find_differences(catalog: Catalog, layout: Layout) -> Differences:
    """Compare files and catalog; records in an operation that is not finished are left out."""
    with catalog.reading() as db:
        db.execute("BEGIN")  # all that is read here is of one moment
        try:
            busy = _busy(db)
            known, there = known_files(db), scan(layout)
            # Of a hundred thousand records few differ: only these are looked at one by one.
            odd = {key[1] for key, pair in there.items() if known.get(key) != pair or "" in pair}
            odd |= {address for _, address in known.keys() - there.keys()}
            odd -= busy
            # Records whose whole folder is gone are not taken for removed one by one: it may come back.
            lost = []
            for tier, (path, is_taken) in blocked(layout).items():
                waiting = {address for of, address in known if of == tier and (tier, address) not in there}
                odd -= waiting - {address for of, address in there if of != tier}
                if waiting or is_taken:
                    lost.append(LostFolder(tier, path, len(waiting), is_taken))
            return Differences(there, odd, {row["address"]: row for row in _rows(db, odd)}, lost)
        finally:
            db.execute("ROLLBACK")


def known_files(db: sqlite3.Connection) -> dict[tuple[Tier, str], CoinFiles]:
    """Size and time of every record's files, as the catalog knows them."""
    rows = db.execute("SELECT tier, address, sidecar_stat, image_stat FROM records")
    rows.row_factory = None
    return {(tier, address): CoinFiles(*stats) for tier, address, *stats in rows}


def _rows(db: sqlite3.Connection, addresses: Collection[str]) -> sqlite3.Cursor:
    return db.execute(
        "SELECT * FROM records WHERE address IN (SELECT value FROM json_each(?)) ORDER BY id",
        [json.dumps(list(addresses))],
    )


def _busy(db: sqlite3.Connection) -> set[str]:
    """Records of unfinished operations, whose files may be anywhere."""
    operations = db.execute("SELECT operation FROM journal").fetchall()
    return {change["address"] for row in operations for change in json.loads(row[0])["changes"]}
