"""The entries of all kinds, as Chroma follows them, and the comparison of both."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from secrets import token_hex

from store.catalog.catalog import OWNER
from store.chroma.collections import Point, made_with
from store.chroma.comparison import Expected, compare
from store.chroma.follower import BATCH
from store.chroma.place import collections_at
from store.chroma.process import ChromaProcess
from store.embedding.protocol import without_version
from store.memory.engine.database import Places
from store.memory.engine.entries import Entries
from store.memory.engine.inputs import for_chroma
from store.memory.engine.kind import MemoryKind, add_functions
from store.memory.kinds import KINDS


class MemorySource:
    """The entries of each kind; its collection is brought up to the last line of its `changes`."""

    does, noun = "updating the memory's search index", "entries"

    def __init__(self, root: Path, kinds: Sequence[Entries]) -> None:
        self._root = root
        self._kinds = kinds

    @property
    def behind(self) -> int:
        """How many entries Chroma does not have yet."""
        return sum(behind(kind) for kind in self._kinds)

    @property
    def has_any(self) -> bool:
        """Whether Chroma should have an entry by now."""
        return any(_cursor(kind) and not kind.database.meta("chroma_rebuild") for kind in self._kinds)

    @property
    def comparison(self) -> Callable[[], list[str]]:
        """`faults` of this memory."""
        return partial(faults, self._root, self.owners())

    def owners(self) -> Mapping[str, str]:
        """The collection of each usable kind, and the token of its database."""
        return {kind.kind.name: kind.database.meta(OWNER) for kind in self._kinds}

    def metadata(self) -> Mapping[str, Mapping[str, str]]:
        """The metadata of each kind's collection."""
        for kind in self._kinds:
            if not kind.database.meta(OWNER):
                kind.database.set_meta(OWNER, token_hex(16))
        owners = self.owners()
        return {kind.kind.name: made_with(kind.model, owners[kind.kind.name]) for kind in self._kinds}

    def queue_everything(self, db: sqlite3.Connection) -> None:
        """Have every kind refilled."""
        rebuild = [(kind.kind.key("chroma_rebuild"),) for kind in self._kinds]
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, '1')", rebuild)

    def drain(self, chroma: ChromaProcess, *, is_ending: Callable[[], bool]) -> None:
        """Bring what each kind lacks."""
        for kind in self._kinds:
            if not is_ending() and behind(kind):
                if kind.database.meta("chroma_rebuild"):
                    self._refill(kind, chroma, is_ending)
                self._follow_changes(kind, chroma, is_ending)

    def _follow_changes(self, kind: Entries, chroma: ChromaProcess, is_ending: Callable[[], bool]) -> None:
        table = kind.kind.table
        while not is_ending() and not kind.database.meta("chroma_rebuild"):
            rows = kind.database.rows(
                "SELECT c.number AS change_, c.id AS id_, p.*, v.vector FROM changes c "
                f"LEFT JOIN {table} p ON p.id = c.id {kind.kind.joined()} "
                "WHERE +c.tbl = ? AND c.number > ? ORDER BY c.number LIMIT ?",
                [table, _cursor(kind), BATCH],
            )
            if not rows:
                return
            points = [point_of(kind.kind, row) for row in rows if row["vector"] is not None]
            # All go first, since fields of earlier versions would stay behind.
            chroma.put(kind.kind.name, points, gone=[row["id_"] for row in rows])
            kind.database.set_meta("chroma_cursor", str(rows[-1]["change_"]))

    def _refill(self, kind: Entries, chroma: ChromaProcess, is_ending: Callable[[], bool]) -> None:
        """From the table itself, because `changes` lacks what did not change since a purge."""
        upto, last = self._refilled(kind, chroma)
        rebuild = kind.kind.key("chroma_rebuild")
        while not is_ending():
            rows = kind.database.rows(
                f"SELECT p.rowid AS rowid_, p.*, v.vector FROM {kind.kind.table} p {kind.kind.joined()} "
                "WHERE p.rowid > ? AND v.key IS NOT NULL ORDER BY p.rowid LIMIT ?",
                [last, BATCH],
            )
            chroma.put(kind.kind.name, [point_of(kind.kind, row) for row in rows], gone=())
            before, last = f"{upto} {last}", rows[-1]["rowid_"] if rows else last
            with kind.database.writing() as db:
                if not db.execute(
                    "UPDATE meta SET value = ? WHERE key = ? AND value = ?",
                    [f"{upto} {last}", rebuild, before],
                ).rowcount:
                    return  # another one was asked for meanwhile
                if not rows:
                    db.execute(
                        "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                        [kind.kind.key("chroma_cursor"), str(upto)],
                    )
                    db.execute("DELETE FROM meta WHERE key = ?", [rebuild])
                    return

    def _refilled(self, kind: Entries, chroma: ChromaProcess) -> tuple[int, int]:
        """The last change that a refill includes, and the last row that it has brought; -1: none yet."""
        name, table, progress = kind.kind.name, kind.kind.table, kind.database.meta("chroma_rebuild")
        if " " in progress:
            upto, last = map(int, progress.split())
            found = kind.database.rows(
                f"SELECT p.id FROM {table} p {kind.kind.joined()} WHERE p.rowid <= ? "
                "AND v.key IS NOT NULL AND p.id NOT IN "
                "(SELECT id FROM changes WHERE tbl = ? AND number > ?)",
                [last, table, upto],
            )
            brought = {row["id"] for row in found}
            if brought <= chroma.ids(name):
                return upto, last
        chroma.begin(name, model=kind.model)
        with kind.database.writing() as db:
            upto = db.execute("SELECT coalesce(max(number), 0) FROM changes").fetchone()[0]
            db.execute(
                "UPDATE meta SET value = ? WHERE key = ? AND value = ?",
                [f"{upto} -1", kind.kind.key("chroma_rebuild"), progress],
            )
        return upto, -1


def _cursor(kind: Entries) -> int:
    return int(kind.database.meta("chroma_cursor") or 0)


def behind(kind: Entries) -> int:
    """How many entries of this kind Chroma does not have yet."""
    if kind.database.meta("chroma_rebuild"):
        return max(1, kind.count())
    row = kind.database.row(
        "SELECT count(*) FROM changes WHERE +tbl = ? AND number > ?", [kind.kind.table, _cursor(kind)]
    )
    return int(row[0])


def point_of(kind: MemoryKind, row: sqlite3.Row) -> Point:
    """An entry as a point of Chroma."""
    return Point(row["id"], row["vector"], for_chroma(kind.fields(row)))


def _expected(db: sqlite3.Connection, kind: MemoryKind) -> Expected | None:
    """The expected content of this kind's collection; None as long as it need not exist."""
    db.row_factory = sqlite3.Row
    meta = dict(db.execute("SELECT key, value FROM meta").fetchall())
    if meta.get(kind.key("chroma_rebuild")):
        return None
    model, cursor = (
        without_version(meta.get(kind.key("model"), "")),
        int(meta.get(kind.key("chroma_cursor"), 0)),
    )
    waiting = db.execute("SELECT id FROM changes WHERE tbl = ? AND number > ?", [kind.table, cursor])
    entries = f"FROM {kind.table} p {kind.joined()} WHERE v.key IS NOT NULL"
    ids = db.execute(f"SELECT p.id {entries}")

    def point(id: str) -> Point:
        return point_of(kind, db.execute(f"SELECT p.*, v.vector {entries} AND p.id = ?", [id]).fetchone())

    known, late = {row[0] for row in ids}, {row[0] for row in waiting}
    found = Expected(kind.name, without_version(model), "entries", known, late, point)
    return found if cursor or found.ids - found.waiting else None


def faults(root: Path, owners: Mapping[str, str]) -> list[str]:
    """Compare collections; `owners` maps them to the tokens of their databases."""
    places = Places(root)
    with closing(sqlite3.connect(f"{places.database.as_uri()}?mode=ro", uri=True)) as db:
        add_functions(db)
        found = (_expected(db, kind) for kind in KINDS if kind.name in owners)
        expected = [one for one in found if one]
        metadata = {one.name: made_with(one.model, owners[one.name]) for one in expected}
        with closing(collections_at(places.chroma, metadata)) as collections:
            return [fault for one in expected for fault in compare(collections, one)]
