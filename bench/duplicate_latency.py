"""How long it takes to find the duplicates of one picture among many; called by `bench.duplicates`."""

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from store.catalog import rows as catalog_rows
from store.catalog.catalog import Catalog
from store.disk.files import Disk, content_hash
from store.disk.images import normalise
from store.duplicates import fingerprints
from store.duplicates.findings import suspects
from store.duplicates.fingerprints import Neighbours
from store.operations import State
from store.records import sidecar_bytes


def latency(pictures: Sequence[Path], count: int) -> None:
    """Latency for one picture among many: in memory only, and for opening its duplicates."""
    random = np.random.default_rng(0)
    seeds = [fingerprints.fingerprint(normalise(path)) for path in pictures]
    rows = fingerprints.hash_rows(seeds)

    def print_of() -> bytes:
        """A real fingerprint with a quarter of its bits flipped: as similar as real pictures."""
        noise = np.packbits(random.random((fingerprints.VIEWS, 256)) < 0.25, axis=1)
        print_: bytes = (rows[random.integers(len(rows))] ^ noise).tobytes()
        return print_

    with tempfile.TemporaryDirectory() as folder:
        catalog = Catalog(Path(folder) / "catalog.sqlite3", disk=Disk(), writable=True)
        with catalog.writing() as db:
            for number in range(count):
                put(db, number, print_of())
        found = Neighbours()
        with catalog.reading() as db:
            loading = timed(lambda: found.refresh(db))
            prints = [print_of() for _ in range(100)]
            alone = [timed(partial(found.near, print_)) for print_ in prints]
            addresses = [f"0x{int(number):040x}" for number in random.integers(0, count, 100)]

            def ask(address: str) -> None:
                suspects(db, address, near=found.unknown(db, address))

            whole = [timed(partial(ask, one)) for one in addresses]
        catalog.close()
    print(f"\n| among {count:,} records, milliseconds | median | 95th percentile |\n| --- | --- | --- |")
    for what, seconds in (("neighbours of one picture", alone), ("all duplicates of a new record", whole)):
        ranked = sorted(1000 * second for second in seconds)
        print(f"| {what} | {statistics.median(ranked):.0f} | {ranked[int(0.95 * len(ranked))]:.0f} |")
    print(f"| loading the fingerprints, once | {1000 * loading:.0f} | |")


def put(db: sqlite3.Connection, number: int, print_: bytes) -> None:
    """A pending record of this number, by its rows alone."""
    address = f"0x{number:040x}"
    sidecar = {
        "token_name": f"Coin {number % 40_000}",
        "ticker": f"C{number % 5_000}",
        "description": "",
        "token_address": address,
        "created_at": 1_700_000_000 + number,
    }
    content = sidecar_bytes(sidecar)
    db.execute("INSERT INTO sidecars VALUES (?, ?)", [content_hash(content), content.decode()])
    image_hash = content_hash(print_)
    db.execute("INSERT INTO fingerprints (image_hash, print) VALUES (?, ?)", [image_hash, print_])
    state = State("pending", content_hash(content), image_hash)
    catalog_rows.upsert(db, address, state, stats=("", ""), now=0.0, generation=number, embeddings={})


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
