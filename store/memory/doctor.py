"""Check the text memory, kind by kind."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from store.chroma.place import is_there
from store.disk.aside import KEPT
from store.disk.lock import WriterLock
from store.memory.engine import damaged_rows, salvage
from store.memory.engine.passages import Passages
from store.memory.engine.places import Places
from store.memory.engine.reembedding import embed_new
from store.memory.engine.vector_cache import UNKNOWN
from store.memory.kinds import KINDS

if TYPE_CHECKING:
    from store.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class MemoryFinding:
    """A problem in words for people, and its remedy."""

    kind: str
    what: str
    remedy: str
    is_fault: bool = True  # no: it is only to be known, and nothing has to be mended


def check(memory: "Memory") -> list[MemoryFinding]:
    """All problems; an empty list means that files, full text, vectors and Chroma agree."""
    found = [finding for passages in memory.usable for finding in _kind(passages)]
    found += [
        MemoryFinding(kind, fault, "the other kinds work") for kind, fault in memory.status().faults.items()
    ]
    found += [
        MemoryFinding("world_lore", f"{one.item}: {one.reason}", "fix the file")
        for one in memory.lore.refused
    ]
    for world in memory.lore.worlds():
        if not world.lore.strip():
            found.append(
                MemoryFinding("world_lore", f"the world {world.id} has no lore", f"write it in {world.file}")
            )
        if not (memory.places.worlds / world.file).exists():
            remedy = "put the file back, or remove the world's entries"
            found.append(MemoryFinding("world_lore", f"the file of the world {world.id} is gone", remedy))
    for source in memory.documents.sources():
        if source.original and not (memory.places.originals / source.original).exists():
            found.append(
                MemoryFinding("documents", f"the original of {source.id} is gone", "import it again")
            )
    if fault := memory.status().chroma_fault:
        found.append(MemoryFinding("chroma", f"Chroma is behind: {fault}", "rebuild it"))
    found += [MemoryFinding("chroma", fault, "rebuild it") for fault in memory.check_chroma()]
    if aside := memory.status().moved_aside:
        remedy = f"{KEPT}, and `adopt` with that folder takes over what it knows of it"
        found.append(MemoryFinding("files", "; ".join(aside), remedy, is_fault=False))
    return found


def salvage_damaged(root: Path) -> list[str]:
    """Make files that cannot be read, or are gone, again; returns a sentence for each.

    Only while nothing has them open. Raises LibraryInUse while another process keeps the memory.
    """
    places = Places(root.resolve())
    found = [kind for kind in KINDS if salvage.is_needed(places.database(kind.file), kind)]
    if not found:
        return []
    lock = WriterLock(places.lock)
    lock.acquire()
    try:
        return [salvage.salvage(places.database(kind.file), kind) for kind in found]
    finally:
        lock.release()


def repair(memory: "Memory") -> list[MemoryFinding]:
    """Repair everything possible without discarding anything; returns the remaining problems."""
    memory.actor.permit()
    transcripts = memory.transcripts
    own = ("", transcripts.passages.model)  # what another model embedded waits until the user chooses
    if not transcripts.passages.fault:
        transcripts.cut_long_chunks([id for id, model in transcripts.long_chunks().items() if model in own])
    for passages in memory.usable:
        _mend(passages)
        with passages.database.writing() as db:
            for index in _indexes(db):
                db.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
        if passages.to_embed():
            embed_new(passages)
    is_sound = not any(damaged_rows.find(one.database, one.kind) for one in memory.usable)
    if is_sound and memory.check_chroma() and is_there():  # a damaged vector must not replace Chroma's
        memory.rebuild_chroma()
    memory.wait_for_chroma()
    return check(memory)


def _mend(passages: Passages) -> None:
    """Give damaged rows back from copies; a vector that no copy has is made again, if its text is sound."""
    kind, database = passages.kind, passages.database
    for one in damaged_rows.restore(database, kind):
        with database.reading() as db:
            query = f"SELECT {kind.text} FROM {kind.table} WHERE id = ? AND embedding_model = ?"
            row = db.execute(query, [one.key, passages.model]).fetchone()
        if one.table == kind.table and row:
            (vector,), _ = passages.embed([row[0]])
            damaged_rows.restore_if_sound(database, kind, one, vector=vector)


def _kind(passages: Passages) -> Iterator[MemoryFinding]:
    name = passages.kind.name
    with passages.database.reading() as db:
        for (fault,) in db.execute("PRAGMA quick_check(10)").fetchall():
            if fault != "ok":
                yield MemoryFinding(
                    name, f"the file is damaged: {fault}", "`memory doctor --repair` makes a new one from it"
                )
    for one in damaged_rows.find(passages.database, passages.kind):
        what = f"row {one.key} of {one.table} is not what was written"
        remedy = "repair gives it back if a copy has it; otherwise restore a backup, or edit it"
        yield MemoryFinding(name, what, remedy)
    if passages.can_write:
        try:
            with passages.database.writing() as db:
                for index in _indexes(db):  # also says whether it agrees with the texts
                    db.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError:
            yield MemoryFinding(name, "full-text search does not agree with the texts", "repair rebuilds it")
    yield from _without_vector(passages)
    expected = 4 * passages.embedder.dimensions
    with passages.database.reading() as db:
        (wrong,) = db.execute(
            f"SELECT count(*) FROM {passages.kind.table} WHERE embedding_model = ? AND length(vector) <> ?",
            [passages.model, expected],
        ).fetchone()
    if wrong:
        yield MemoryFinding(
            name, f"{wrong:,} vectors have not {expected // 4} numbers", "edit or import them again"
        )


def _without_vector(passages: Passages) -> Iterator[MemoryFinding]:
    name, model = passages.kind.name, passages.model
    with passages.database.reading() as db:
        query = (
            f"SELECT coalesce(embedding_model, '{UNKNOWN}') AS model, count(*) AS count FROM "
            f"{passages.kind.table} WHERE vector IS NOT NULL AND embedding_model IS NOT ? GROUP BY 1"
        )
        others = {row["model"]: row["count"] for row in db.execute(query, [model]).fetchall()}
    if unembedded := passages.to_embed() - sum(others.values()):
        remedy = f"embed them with {model}"
        yield MemoryFinding(name, f"{unembedded:,} entries have no vector of this kind's model", remedy)
    for other, count in others.items():
        yield MemoryFinding(
            name,
            f"{count:,} entries have a vector by {other}, not by this kind's model {model}; repair keeps it",
            f"memory model NAME --kind {name}: {other} uses these vectors, {model} embeds all, keeping them",
        )


def _indexes(db: sqlite3.Connection) -> list[str]:
    rows = db.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'")
    return [row[0] for row in rows]
