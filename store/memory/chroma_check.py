"""Compare Chroma with SQLite for the text memory.

`python -m store.memory.chroma_check ROOT OWNERS` prints a JSON list of faults; an empty one means they agree.
"""

import json
import sqlite3
import sys
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from store.chroma.collections import Point, made_with
from store.chroma.comparison import Expected, answer, compare
from store.chroma.place import collections_at
from store.memory.chroma_source import point_of
from store.memory.engine import vectors
from store.memory.engine.kind import MemoryKind
from store.memory.engine.places import Places
from store.memory.kinds import KINDS


def _expected(db: sqlite3.Connection, kind: MemoryKind) -> Expected | None:
    """The expected content of this kind's collection; None as long as it need not exist."""
    db.row_factory = sqlite3.Row
    meta = dict(db.execute("SELECT key, value FROM meta").fetchall())
    if meta.get(kind.key("chroma_rebuild")):
        return None
    model, cursor = meta.get(kind.key("model"), ""), int(meta.get(kind.key("chroma_cursor"), 0))
    waiting = db.execute("SELECT id FROM changes WHERE tbl = ? AND number > ?", [kind.table, cursor])
    entries = f"FROM {kind.table} p {vectors.joined(kind)} WHERE v.key IS NOT NULL"
    ids = db.execute(f"SELECT p.id {entries}")

    def point(id: str) -> Point:
        return point_of(kind, db.execute(f"SELECT p.*, v.vector {entries} AND p.id = ?", [id]).fetchone())

    found = Expected(kind.name, model, "entries", {row[0] for row in ids}, {row[0] for row in waiting}, point)
    return found if cursor or found.ids - found.waiting else None


def faults(root: Path, owners: dict[str, str]) -> list[str]:
    """Compare collections; `owners` maps them to the tokens of their databases."""
    places = Places(root)
    uri = f"{places.database.as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as db, ExitStack() as stack:
        vectors.install(db)
        found = (_expected(db, kind) for kind in KINDS if kind.name in owners)
        expected = [one for one in found if one]
        metadata = {one.name: made_with(one.model, owners[one.name]) for one in expected}
        collections = stack.enter_context(closing(collections_at(places.chroma, metadata)))
        return [fault for one in expected for fault in compare(collections, one)]


if __name__ == "__main__":
    answer(partial(faults, Path(sys.argv[1]).resolve(), json.loads(sys.argv[2])))
