"""Does Chroma say what SQLite says of the text memory? Asked in a process of its own.

`python -m store.memory.chroma_check ROOT` prints a JSON list of faults; an empty one means they agree.
"""

import json
import random
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from store.memory.chroma import Chroma, metadata_of
from store.memory.kind import Kind
from store.memory.kinds import KINDS
from store.memory.places import Places

_SAMPLE = 50  # entries of each collection whose vector and metadata are compared
_SELF_QUERIES = 10  # of these, as many are looked up through the index itself


def compare(places: Places, chroma: Chroma, kind: Kind) -> list[str]:
    """Ids of every entry, metadata and vectors of a sample, and that each sampled vector finds itself."""
    path = places.database(kind.file)
    if not path.exists():
        return []
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        meta = {row["key"]: row["value"] for row in db.execute("SELECT * FROM meta")}
        if meta.get("chroma_rebuild"):
            return []
        model, cursor = meta.get("model", ""), int(meta.get("chroma_cursor", 0))
        waiting = {
            row[0]
            for row in db.execute("SELECT id FROM changes WHERE tbl = ? AND number > ?", [kind.table, cursor])
        }
        expected = {
            row[0]
            for row in db.execute(
                f"SELECT id FROM {kind.table} WHERE vector IS NOT NULL AND embedding_model = ?", [model]
            )
        } - waiting
        if not expected and not cursor:
            return []
        return _faults(db, chroma, kind, expected=expected, waiting=waiting, model=model)


def _faults(
    db: sqlite3.Connection, chroma: Chroma, kind: Kind, *, expected: set[str], waiting: set[str], model: str
) -> list[str]:
    collection = chroma.collection(kind.name, model=model)
    faults = []
    if (made_with := (collection.metadata or {}).get("model")) != model:
        faults.append(f"{kind.name} was made with {made_with}, not {model}")
    found = chroma.ids(kind.name, model=model) - waiting
    if missing := expected - found:
        faults.append(f"{kind.name} lacks {len(missing):,} entries, such as {min(missing)}")
    if extra := found - expected:
        faults.append(f"{kind.name} holds {len(extra):,} entries too many, such as {min(extra)}")
    sample = random.sample(sorted(expected & found), min(_SAMPLE, len(expected & found)))
    wrong = [id for number, id in enumerate(sample) if not _agrees(db, collection, kind, id, number=number)]
    if wrong:
        faults.append(f"{kind.name} says otherwise of {len(wrong)} of {len(sample)}, such as {wrong[0]}")
    return faults


def _agrees(db: sqlite3.Connection, collection: Any, kind: Kind, id: str, *, number: int) -> bool:
    row = db.execute(f"SELECT * FROM {kind.table} WHERE id = ?", [id]).fetchone()
    vector = np.frombuffer(row["vector"], np.float32)
    got = collection.get(ids=[id], include=["embeddings", "metadatas"])
    if not np.allclose(got["embeddings"][0], vector, atol=1e-4):
        return False
    if dict(got["metadatas"][0] or {}) != metadata_of(kind, row):
        return False
    if number >= _SELF_QUERIES:
        return True
    nearest = collection.query(query_embeddings=[vector], n_results=1, include=["embeddings"])["embeddings"]
    return len(nearest[0]) > 0 and float(np.asarray(nearest[0][0]) @ vector) > 0.999  # copies may come first


def main(root: Path) -> None:
    places = Places(root)
    chroma = Chroma(places.chroma)
    try:
        faults = [fault for kind in KINDS for fault in compare(places, chroma, kind)]
    finally:
        chroma.close()
    print(json.dumps(faults))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
