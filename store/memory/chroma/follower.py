"""Chroma follows all kinds in a thread of its own; on failure it only lags behind."""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from secrets import token_hex

from store.catalog.catalog import OWNER
from store.chroma.base_follower import BATCH, ChromaFollower
from store.chroma.collections import Point, made_with
from store.chroma.comparison import ask
from store.chroma.place import ChromaFolder, ServerPlace
from store.chroma.process import ChromaProcess
from store.chroma.server import ChromaServer
from store.disk.aside import Aside
from store.disk.files import Disk
from store.memory.engine.inputs import for_chroma
from store.memory.engine.kind import MemoryKind
from store.memory.engine.passages import Passages
from store.memory.engine.places import Places

_PLACE = "chroma_place"  # in `meta`: the name of the place that was followed last


class MemoryFollower(ChromaFollower):
    """Brings each collection up to the last line of its kind's `changes`."""

    def __init__(
        self,
        places: Places,
        kinds: Sequence[Passages],
        *,
        note: Callable[[Aside], None],
        disk: Disk | None = None,
    ) -> None:
        server = ChromaServer.configured()
        files = ChromaFolder(
            places.chroma,
            into=places.folder,
            owners=self._owners,
            note=note,
            disk=disk or Disk(),
        )
        place = ServerPlace(server) if server else None
        super().__init__(does="updating the memory's search index", noun="entries", files=files, server=place)
        self._places = places
        self._kinds = kinds

    @property
    def behind(self) -> int:
        """How many entries Chroma does not have yet."""
        return sum(behind(kind) for kind in self._kinds)

    def rebuild(self) -> None:
        """Rebuild collections from SQLite's vectors; needs no model."""
        self._queue_everything()
        self.retry()

    @property
    def _marker(self) -> Path:
        """The file that exists from before Chroma's first write until a clean end."""
        return self._places.folder / "chroma.dirty"

    def _mark_dirty(self) -> None:
        if not self._marker.exists():
            disk = Disk()
            disk.write(self._marker, b"")
            disk.fsync_folders([self._marker.parent])

    def _mark_clean(self) -> None:
        if self._marker.exists() and not self._marker.stat().st_size:  # the marker of ours is empty
            self._marker.unlink(missing_ok=True)

    def _record_begun(self) -> None:
        for kind in self._kinds:
            if kind.database.meta(_PLACE) != self._place.name:
                kind.database.set_meta(_PLACE, self._place.name)

    @property
    def _is_dirty(self) -> bool:
        return bool(self._kinds) and (self._marker.exists() or self._is_lost or self._must_rebuild)

    @property
    def _must_rebuild(self) -> bool:
        return any(kind.database.meta(_PLACE) != self._place.name for kind in self._kinds)

    @property
    def _is_lost(self) -> bool:
        return not self._place.has_files and any(
            _cursor(kind) and not kind.database.meta("chroma_rebuild") for kind in self._kinds
        )

    def _probe(self) -> list[str]:
        owners = json.dumps(self._owners())
        return ask("store.memory.chroma_check", str(self._places.root), owners, begun=self._began)

    def _owners(self) -> Mapping[str, str]:
        """The collection of each usable kind, and the token of its database."""
        return {kind.kind.name: kind.database.meta(OWNER) for kind in self._kinds}

    def _metadata(self) -> Mapping[str, Mapping[str, str]]:
        for kind in self._kinds:
            if not kind.database.meta(OWNER):
                kind.database.set_meta(OWNER, token_hex(16))
        owners = self._owners()
        return {kind.kind.name: made_with(kind.model, owners[kind.kind.name]) for kind in self._kinds}

    def _queue_everything(self) -> None:
        for kind in self._kinds:
            kind.database.set_meta("chroma_rebuild", "1")

    def _drain(self, chroma: ChromaProcess) -> None:
        for kind in self._kinds:
            if not self._closing and behind(kind):
                self._mark_dirty()
                if kind.database.meta("chroma_rebuild"):
                    self._refill(kind, chroma)
                self._follow_changes(kind, chroma)

    def _follow_changes(self, kind: Passages, chroma: ChromaProcess) -> None:
        table = kind.kind.table
        while not self._closing and not kind.database.meta("chroma_rebuild"):
            with kind.database.reading() as db:
                rows = db.execute(
                    f"SELECT c.number AS change_, c.id AS id_, p.* FROM changes c LEFT JOIN {table} p "
                    "ON p.id = c.id WHERE c.tbl = ? AND c.number > ? ORDER BY c.number LIMIT ?",
                    [table, _cursor(kind), BATCH],
                ).fetchall()
            if not rows:
                return
            model = kind.model
            points = [
                point_of(kind.kind, row)
                for row in rows
                if row["vector"] is not None and row["embedding_model"] == model
            ]
            # All go first, since fields of earlier versions would stay behind.
            chroma.put(kind.kind.name, points, gone=[row["id_"] for row in rows])
            kind.database.set_meta("chroma_cursor", str(rows[-1]["change_"]))

    def _refill(self, kind: Passages, chroma: ChromaProcess) -> None:
        """From the table itself, because `changes` lacks what did not change since a purge."""
        upto, last = self._refilled(kind, chroma)
        rebuild = kind.kind.key("chroma_rebuild")
        while not self._closing:
            with kind.database.reading() as db:
                rows = db.execute(
                    f"SELECT rowid AS rowid_, * FROM {kind.kind.table} WHERE rowid > ? "
                    "AND vector IS NOT NULL AND embedding_model = ? ORDER BY rowid LIMIT ?",
                    [last, kind.model, BATCH],
                ).fetchall()
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

    def _refilled(self, kind: Passages, chroma: ChromaProcess) -> tuple[int, int]:
        """The last change that a refill includes, and the last row that it has brought; -1: none yet."""
        name, table, progress = kind.kind.name, kind.kind.table, kind.database.meta("chroma_rebuild")
        if " " in progress:
            upto, last = map(int, progress.split())
            with kind.database.reading() as db:
                found = db.execute(
                    f"SELECT id FROM {table} WHERE rowid <= ? AND vector IS NOT NULL AND embedding_model = ?"
                    " AND id NOT IN (SELECT id FROM changes WHERE tbl = ? AND number > ?)",
                    [last, kind.model, table, upto],
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


def _cursor(kind: Passages) -> int:
    return int(kind.database.meta("chroma_cursor") or 0)


def behind(kind: Passages) -> int:
    """How many entries of this kind Chroma does not have yet."""
    if kind.database.meta("chroma_rebuild"):
        return max(1, kind.count())
    with kind.database.reading() as db:
        row = db.execute(
            "SELECT count(*) FROM changes WHERE tbl = ? AND number > ?", [kind.kind.table, _cursor(kind)]
        ).fetchone()
    return int(row[0])


def point_of(kind: MemoryKind, row: sqlite3.Row) -> Point:
    """An entry as a point of Chroma, which has no NULL, so missing values are left out."""
    filters = {column: row[column] for column in kind.filters if row[column] is not None}
    return Point(row["id"], row["vector"], for_chroma({**filters, **kind.metadata(row)}))
