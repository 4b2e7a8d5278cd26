"""Compare Chroma with the catalog.

`python -m store.chroma.probe ROOT` prints a JSON list of faults; an empty one means that all five collections
agree.
"""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from store.catalog.catalog import Catalog
from store.catalog.rows import get
from store.chroma.collections import COLLECTIONS, Point, made_with
from store.chroma.comparison import Expected, answer, ask, compare
from store.chroma.server_place import collections_at
from store.disk.files import Disk
from store.disk.layout import Layout
from store.records import Facet, chroma_metadata


def probe(root: Path, *, begun: Callable[["subprocess.Popen[bytes]"], None] = lambda _: None) -> list[str]:
    """Faults of Chroma, one sentence each, found by a child process, which `begun` receives."""
    return ask("store.chroma.probe", str(root), begun=begun)


def _expected(db: sqlite3.Connection, facet: Facet, *, model: str) -> Expected:
    keys = dict(
        db.execute(
            "SELECT r.address, e.key FROM embeddings e JOIN records r ON r.id = e.record "
            "WHERE e.facet = ? AND r.tier = 'library'",
            [facet],
        ).fetchall()
    )
    waiting = {row[0] for row in db.execute("SELECT address FROM chroma_queue")}

    def point(address: str) -> Point | None:
        row = db.execute("SELECT vector FROM vectors WHERE key = ?", [keys[address]]).fetchone()
        record = get(db, address)
        return Point(address, row[0] if row else b"", chroma_metadata(record)) if record else None

    return Expected(COLLECTIONS[facet], model, "records", keys.keys(), waiting, point)


def faults(root: Path) -> list[str]:
    """Differences between the catalog and Chroma below this root, one sentence each."""
    layout = Layout(root)
    catalog = Catalog(layout.catalog, disk=Disk(), writable=False)
    model = catalog.meta("model")
    metadata = dict.fromkeys(COLLECTIONS.values(), made_with(model, catalog.owner))
    collections = collections_at(layout.chroma, metadata)
    with catalog.reading() as db:
        found = [
            fault
            for facet in COLLECTIONS
            for fault in compare(collections, _expected(db, facet, model=model))
        ]
    collections.close()
    return found


if __name__ == "__main__":
    answer(partial(faults, Path(sys.argv[1])))
