"""Does Chroma say what the catalog says? Asked in a process of its own: a broken index can crash its reader.

`python -m store.chroma.probe ROOT` prints a JSON list of faults; an empty one: all five collections agree.
"""

import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

from store.catalog import Catalog
from store.chroma.collections import COLLECTIONS, Collections
from store.files import Disk
from store.layout import Layout
from store.listing import get
from store.records import FACETS, Facet, chroma_metadata

_SAMPLE = 500  # records of each collection whose vector and metadata are compared: a small library wholly
_SELF_QUERIES = 10  # of these, as many are looked up through the index itself
_ENDS_WITH_PARENT = "--ends-with-parent"
_TIME_LIMIT = 300.0  # seconds; a damaged index has been seen to hang


def probe(root: Path) -> list[str]:
    """What is wrong with Chroma, in plain words, found without risking this process."""
    command = [sys.executable, "-m", "store.chroma.probe", str(root), _ENDS_WITH_PARENT]
    program = Path(__file__).resolve().parent.parent.parent
    ours, theirs = os.pipe()[::-1]
    try:
        done = subprocess.run(
            command, stdin=theirs, capture_output=True, timeout=_TIME_LIMIT, cwd=program, check=False
        )
    except subprocess.TimeoutExpired:
        return [f"Chroma did not answer within {_TIME_LIMIT:.0f} seconds"]
    finally:
        os.close(ours)
        os.close(theirs)
    if done.returncode:
        errors = done.stderr.decode(errors="replace").strip().splitlines()
        return [f"Chroma cannot be opened: {errors[-1] if errors else f'status {done.returncode}'}"]
    return [str(fault) for fault in json.loads(done.stdout.splitlines()[-1])]


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
        vector = np.frombuffer(row[0] if row else b"", np.float32)
        record = get(db, address)
        if (
            address not in stored
            or stored[address].shape != vector.shape
            or not np.allclose(stored[address], vector, atol=1e-4)
        ):
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
    model = catalog.meta("model")
    collections = Collections(layout.chroma, model=model)
    with catalog.reading() as db:
        faults = compare(db, collections, model=model)
    collections.close()
    print(json.dumps(faults))


def _end_with_parent() -> None:
    """Nobody waits for the answer of a process that died: its successor needs Chroma for itself."""
    os.read(0, 1)  # the end of a pipe; sys.stdin would be locked when this process ends by itself
    os._exit(1)


if __name__ == "__main__":
    if _ENDS_WITH_PARENT in sys.argv:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    main(Path(sys.argv[1]))
