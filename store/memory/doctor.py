"""Checking the text memory, kind by kind."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.memory.passages import Passages

if TYPE_CHECKING:
    from store.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be, in plain words, and what mends it."""

    kind: str
    what: str
    remedy: str


def check(memory: "Memory") -> list[Finding]:
    """Everything that is wrong; an empty list means that files, full text, vectors and Chroma agree."""
    found = [finding for passages in memory.passages.values() for finding in _kind(passages)]
    found += [
        Finding("world_lore", f"{one.item}: {one.reason}", "mend the file") for one in memory.lore.refused
    ]
    for world in memory.lore.worlds():
        if not world.lore.strip():
            found.append(
                Finding("world_lore", f"the world {world.id} has no lore", f"write it in {world.file}")
            )
        if not (memory.places.worlds / world.file).exists():
            remedy = "put the file back, or remove the world's entries"
            found.append(Finding("world_lore", f"the file of the world {world.id} is gone", remedy))
    for source in memory.documents.sources():
        if not (memory.places.originals / source.original).exists():
            found.append(Finding("documents", f"the original of {source.id} is gone", "import it again"))
    if fault := memory.status().chroma_fault:
        found.append(Finding("chroma", f"Chroma is behind: {fault}", "rebuild it"))
    return found + [Finding("chroma", fault, "rebuild it") for fault in memory.check_chroma()]


def repair(memory: "Memory") -> list[Finding]:
    """Mend what can be mended without throwing anything away; returns what is left."""
    memory.transcripts.cut_long_chunks()
    for passages in memory.passages.values():
        with passages.database.writing() as db:
            for index in _indexes(db):
                db.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
        if passages.to_embed():
            passages.embed_all()
    if memory.check_chroma():
        memory.rebuild_chroma()
    memory.wait_for_chroma()
    return check(memory)


def _kind(passages: Passages) -> Iterator[Finding]:
    name = passages.kind.name
    with passages.database.reading() as db:
        for (fault,) in db.execute("PRAGMA quick_check(10)").fetchall():
            if fault != "ok":
                yield Finding(name, f"the file is damaged: {fault}", "restore a backup")
    if passages.can_write:
        try:
            with passages.database.writing() as db:
                for index in _indexes(db):  # also says whether it agrees with the texts
                    db.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError:
            yield Finding(name, "full-text search does not agree with the texts", "repair rebuilds it")
    if waiting := passages.to_embed():
        remedy = f"embed them with {passages.model}"
        yield Finding(name, f"{waiting:,} entries have no vector of this kind's model", remedy)
    expected = 4 * passages.embedder.dimensions
    with passages.database.reading() as db:
        (wrong,) = db.execute(
            f"SELECT count(*) FROM {passages.kind.table} WHERE embedding_model = ? AND length(vector) <> ?",
            [passages.model, expected],
        ).fetchone()
    if wrong:
        yield Finding(
            name, f"{wrong:,} vectors have not {expected // 4} numbers", "edit or import them again"
        )


def _indexes(db: sqlite3.Connection) -> list[str]:
    rows = db.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'")
    return [row[0] for row in rows]
