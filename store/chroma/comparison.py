"""Compare Chroma with SQLite, in a separate process, because a broken index can crash its reader.

`python -m store.chroma.comparison ROOT` prints a JSON list of faults; an empty one means that all five
collections of a library agree with its catalog. The memory has `store/memory/chroma_source.py`.
"""

import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from store.catalog.catalog import Catalog
from store.catalog.rows import get
from store.chroma.collections import COLLECTIONS, Collections, Point, made_with
from store.chroma.place import collections_at, describe_place
from store.chroma.process import LIMIT, ServerAway, answered
from store.disk.files import Disk
from store.disk.layout import Layout
from store.records import Facet, chroma_metadata

_SAMPLE = 500  # ids of each collection whose vector and metadata are compared: a small one wholly
_SELF_QUERIES = 10  # of these, as many are looked up through the index itself
_ENDS_WITH_PARENT = "--ends-with-parent"


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected content of one collection."""

    name: str
    model: str
    noun: str  # what its ids mean, in the plural
    ids: AbstractSet[str]
    waiting: AbstractSet[str]  # ids that wait for Chroma; its answers about them do not count
    point: Callable[[str], Point | None]  # None: it is gone by now


def compare(collections: Collections, expected: Expected) -> list[str]:
    """Compare model, ids, and metadata and vectors of a sample, and look each sampled vector up."""
    name, noun, faults = expected.name, expected.noun, []
    if not collections.has(name):
        return [f"{name} does not exist"]
    if (model := collections.model(name)) != expected.model:
        faults.append(f"{name} was made with {model}, not {expected.model}")
    found, ids = collections.ids(name) - expected.waiting, expected.ids - expected.waiting
    if missing := ids - found:
        faults.append(f"{name} lacks {len(missing):,} {noun}, such as {min(missing)}")
    if extra := found - ids:
        faults.append(f"{name} holds {len(extra):,} {noun} too many, such as {min(extra)}")
    both = sorted(ids & found)
    return faults + _compare_sample(collections, expected, random.sample(both, min(_SAMPLE, len(both))))


def _compare_sample(collections: Collections, expected: Expected, ids: list[str]) -> list[str]:
    name = expected.name
    vectors, fields = collections.vectors(name, ids), collections.metadata(name, ids)
    wrong, other, lost = [], [], []
    for number, id in enumerate(ids):
        point = expected.point(id)
        if point is None:
            continue
        vector = np.frombuffer(point.vector, np.float32)
        if (
            id not in vectors
            or vectors[id].shape != vector.shape
            or not np.allclose(vectors[id], vector, atol=1e-4)
        ):
            wrong.append(id)
        elif fields.get(id) != point.metadata:
            other.append(id)
        elif number < _SELF_QUERIES and not _finds_itself(collections, name, vector):
            lost.append(id)
    return [
        f"{name} has {what} for {len(some):,} of {len(ids):,} sampled {expected.noun}, such as {some[0]}"
        for some, what in ((wrong, "another vector"), (other, "other metadata"), (lost, "no way to find"))
        if some
    ]


def _finds_itself(collections: Collections, name: str, vector: np.ndarray) -> bool:
    """Whether the index finds a vector equal to this one (copies may come first)."""
    found = collections.vectors(name, collections.nearest(name, vector))
    return any(float(row @ vector) > 0.999 for row in found.values())


def ask(
    module: str, *arguments: str, begun: Callable[["subprocess.Popen[bytes]"], None] = lambda _: None
) -> list[str]:
    """The faults, one sentence each, found by a child process, which `begun` receives.

    Raises ServerAway if a Chroma server does not answer it.
    """
    command = [sys.executable, "-W", "ignore", "-m", module, *arguments, _ENDS_WITH_PARENT]
    ours, theirs = os.pipe()[::-1]
    try:
        done = answered(command, begun=begun, stdin=theirs)
    except subprocess.TimeoutExpired:
        fault = f"Chroma did not answer within {LIMIT:.0f} seconds"
        if server := describe_place():
            raise ServerAway(f"{server}: {fault}") from None
        return [fault]
    finally:
        os.close(ours)
        os.close(theirs)
    if done.returncode:
        errors = done.stderr.decode(errors="replace").strip().splitlines()
        return [f"Chroma cannot be opened: {errors[-1] if errors else f'status {done.returncode}'}"]
    found = json.loads(done.stdout.splitlines()[-1])
    if isinstance(found, str):
        raise ServerAway(found)
    return [str(fault) for fault in found]


def answer(faults: Callable[[], list[str]]) -> None:
    """In the child process: compare and print a JSON list, or why a server does not answer, as a string.

    Ends when the parent does.
    """
    if _ENDS_WITH_PARENT in sys.argv:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        found: list[str] | str = faults()
    except ServerAway as error:
        found = str(error)
    print(json.dumps(found))


def _end_with_parent() -> None:
    """End when the parent dies, because its successor needs Chroma for itself."""
    os.read(0, 1)  # the end of a pipe; sys.stdin would be locked when this process ends on its own
    os._exit(1)


def probe(root: Path, *, begun: Callable[["subprocess.Popen[bytes]"], None] = lambda _: None) -> list[str]:
    """Faults of Chroma, one sentence each, found by a child process, which `begun` receives."""
    return ask("store.chroma.comparison", str(root), begun=begun)


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


if __name__ == "__main__":
    answer(partial(faults, Path(sys.argv[1])))
