"""Does Chroma say what the catalog says? Asked in a process of its own: a broken index can crash its reader.

`python -m store.probe ROOT` prints a JSON list of faults; an empty one means all five collections agree.
"""

import json
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np

from store.catalog import Catalog
from store.collections import COLLECTIONS, Collections
from store.files import Disk
from store.layout import Layout
from store.listing import get
from store.records import FACETS, Facet, chroma_metadata

_SAMPLE = 50  # records of each collection whose vector and metadata are compared
_SELF_QUERIES = 10  # of these, as many are looked up through the index itself
_TIME_LIMIT = 300.0  # seconds; a damaged index has been seen to hang


def probe(root: Path) -> list[str]:
    """What is wrong with Chroma, in plain words, found without risking this process."""
    command = [sys.executable, "-m", "store.probe", str(root)]
    program = Path(__file__).resolve().parent.parent
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIME_LIMIT, cwd=program)
    except subprocess.TimeoutExpired:
        return [f"Chroma did not answer within {_TIME_LIMIT:.0f} seconds"]
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"it ended with status {done.returncode}"]
        return [f"Chroma cannot be opened: {last[0]}"]
    return [str(fault) for fault in json.loads(done.stdout)]


def compare(db: sqlite3.Connection, collections: Collections, *, model: str) -> list[str]:
    """Ids of every record, metadata and vectors of a sample, and that each sampled vector finds itself."""
    waiting = {row[0] for row in db.execute("SELECT address FROM chroma_queue")}
    faults = []
    if collections.models() != {model}:
        faults.append(
            f"the collections were made with {', '.join(sorted(collections.models()))}, not {model}"
        )
    for facet in FACETS:
        keys = dict(
            db.execute(
                "SELECT r.address, e.key FROM embeddings e JOIN records r ON r.id = e.record "
                "WHERE e.facet = ? AND r.tier = 'library'",
                [facet],
            ).fetchall()
        )
        found = collections.ids(facet) - waiting
        expected = keys.keys() - waiting
        name = COLLECTIONS[facet]
        if missing := expected - found:
            faults.append(f"{name} lacks {len(missing):,} records, such as {min(missing)}")
        if extra := found - expected:
            faults.append(f"{name} holds {len(extra):,} records too many, such as {min(extra)}")
        sample = random.sample(sorted(expected & found), min(_SAMPLE, len(expected & found)))
        faults += _compare_sample(db, collections, facet, {address: keys[address] for address in sample})
    return faults


def _compare_sample(
    db: sqlite3.Connection, collections: Collections, facet: Facet, keys: dict[str, str]
) -> list[str]:
    stored, fields = collections.vectors(facet, [*keys]), collections.metadata(facet, [*keys])
    wrong, other, lost = [], [], []
    for number, (address, key) in enumerate(keys.items()):
        row = db.execute("SELECT vector FROM vectors WHERE key = ?", [key]).fetchone()
        vector = np.frombuffer(row[0], np.float32)
        record = get(db, address)
        if address not in stored or not np.allclose(stored[address], vector, atol=1e-4):
            wrong.append(address)
        elif record and fields.get(address) != chroma_metadata(record):
            other.append(address)
        elif number < _SELF_QUERIES and not _finds_itself(collections, facet, vector):
            lost.append(address)
    faults = []
    for addresses, what in ((wrong, "another vector"), (other, "other metadata"), (lost, "no way to find")):
        if addresses:
            some = f"{len(addresses):,} of {len(keys):,} sampled records, such as {addresses[0]}"
            faults.append(f"{COLLECTIONS[facet]} has {what} for {some}")
    return faults


def _finds_itself(collections: Collections, facet: Facet, vector: np.ndarray) -> bool:
    """Whether the index leads to a vector equal to this one (copies may come first)."""
    nearest = collections.nearest(facet, vector)
    found = collections.vectors(facet, nearest)
    return any(float(row @ vector) > 0.999 for row in found.values())


def main(root: Path) -> None:
    layout = Layout(root)
    catalog = Catalog(layout.catalog, disk=Disk(), writable=False)
    model = catalog.meta("model") or ""
    collections = Collections(layout.chroma, model=model)
    with catalog.reading() as db:
        faults = compare(db, collections, model=model)
    collections.close()
    print(json.dumps(faults))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
