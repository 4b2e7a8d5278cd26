"""Check the text memory, kind by kind."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from store.catalog import checksums, pages, snapshots
from store.catalog.checksums import WrongChecksum
from store.chroma.place import is_there
from store.disk.aside import KEPT
from store.disk.lock import WriterLock
from store.memory.engine import salvage
from store.memory.engine.database import SUMMED, Database, Places, bring_copy_up_to_date
from store.memory.engine.entries import Entries
from store.memory.engine.reembedding import embed_new, is_outdated
from store.memory.kinds import KINDS
from store.memory.opened import OpenedMemory

_ALL = "memory"  # in a finding: the file of all kinds


@dataclass(frozen=True, slots=True)
class MemoryFinding:
    """A problem in words for people, and its remedy."""

    kind: str
    what: str
    remedy: str
    is_fault: bool = True  # no: it is only to be known, and nothing has to be mended


def check(memory: OpenedMemory) -> list[MemoryFinding]:
    """All problems; an empty list means that files, full text, vectors and Chroma agree."""
    found = [] if memory.database.fault else [*_file(memory.database)]
    found += [finding for entries in memory.usable for finding in _kind(entries)]
    found += [
        MemoryFinding(
            kind, fault, "the other kinds work" if memory.usable else "no kind can be used until then"
        )
        for kind, fault in memory.status().faults.items()
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
    """Make files again that are damaged or gone, while nothing has them open; a sentence for each."""
    places = Places(root.resolve())
    broken = [path for kind in KINDS if salvage.is_damaged(path := places.former(kind.file))]
    if not broken and not salvage.is_needed(places.database):
        return []
    lock = WriterLock(places.lock)
    lock.acquire()
    try:
        said = [salvage.mend(path) for path in broken]
        return said + ([salvage.salvage(places.database)] if salvage.is_needed(places.database) else [])
    finally:
        lock.release()


def repair(memory: OpenedMemory) -> list[MemoryFinding]:
    """Repair everything possible without discarding anything; returns the remaining problems."""
    memory.actor.permit()
    transcripts = memory.transcripts
    own = ("", transcripts.entries.model)  # what another model embedded waits until the user chooses
    if not transcripts.entries.fault:
        transcripts.cut_long_chunks([id for id, model in transcripts.long_chunks().items() if model in own])
    if not memory.database.fault:
        _mend(memory)
        with memory.database.writing() as db:
            for index in _indexes(db):
                db.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
    for entries in memory.usable:
        if is_outdated(entries) or entries.to_embed():
            embed_new(entries)
    is_sound = bool(memory.usable) and not damaged_rows(memory.database)
    if is_sound and memory.check_chroma() and is_there():  # a damaged vector must not replace Chroma's
        memory.rebuild_chroma()
    memory.wait_for_chroma()
    return check(memory)


def damaged_rows(database: Database) -> list[WrongChecksum]:
    """The rows that are not what was written, lost ones included."""
    with database.reading() as db:
        return checksums.wrong(db, SUMMED)


def _mend(memory: OpenedMemory) -> None:
    """Give damaged rows back from copies; a vector that no copy has goes, to be made again."""
    database = memory.database
    if not damaged_rows(database):
        return
    copies = snapshots.kept(database.path)
    for copy in copies:
        bring_copy_up_to_date(copy.path)
    models = {entries.kind.vectors: entries.version for entries in memory.usable}
    with database.writing() as db:
        for table, key, _ in snapshots.restore_rows(db, copies, SUMMED):
            if table in models:
                db.execute(f"DELETE FROM {table} WHERE key = ? AND model = ?", [key, models[table]])
                lost = f"name = ? AND key = ? AND key NOT IN (SELECT key FROM {table})"
                db.execute(f"DELETE FROM checksums WHERE {lost}", [table, key])


def _file(database: Database) -> Iterator[MemoryFinding]:
    """What is wrong with the file of all kinds."""
    with database.reading() as db:
        faults = pages.faults(db, "")
    for fault in faults:
        remedy = "`memory doctor --repair` makes a new one from it"
        yield MemoryFinding(_ALL, f"the file is damaged: {fault}", remedy)
    kinds = {table: kind.name for kind in KINDS for table in (*kind.tables, kind.vectors)}
    for one in damaged_rows(database):
        what = f"row {one.key} of {one.table} is not what was written"
        remedy = "repair gives it back if a copy has it; otherwise restore a backup, or edit it"
        yield MemoryFinding(kinds.get(one.table, _ALL), what, remedy)
    if database.can_write:
        try:
            with database.writing() as db:
                for index in _indexes(db):  # also says whether it agrees with the texts
                    db.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError:
            yield MemoryFinding(_ALL, "full-text search does not agree with the texts", "repair rebuilds it")


def _kind(entries: Entries) -> Iterator[MemoryFinding]:
    name = entries.kind.name
    if is_outdated(entries):
        what = f"an earlier version of {entries.model} made the vectors; they answer until all are made again"
        remedy = "wait while the dashboard is open, or repair"
        yield MemoryFinding(name, what, remedy, is_fault=False)
    yield from _without_vector(entries)
    expected = 4 * entries.embedder.dimensions
    kind = entries.kind
    query = f"SELECT count(*) FROM {kind.table} p {kind.joined()} WHERE length(v.vector) <> ?"
    (wrong,) = entries.database.row(query, [expected])
    if wrong:
        yield MemoryFinding(
            name,
            f"{wrong:,} vectors have not {expected // 4} numbers",
            f"memory model {entries.model} --kind {name}",
        )


def _without_vector(entries: Entries) -> Iterator[MemoryFinding]:
    name, model = entries.kind.name, entries.model
    query = (
        f"SELECT coalesce(embedding_model, ''), count(*) FROM {entries.kind.with_any_vector()} "
        "WHERE embedding_model IS NOT ? GROUP BY 1"
    )
    others = dict(entries.database.rows(query, [model]))
    if unembedded := others.pop("", 0):
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
