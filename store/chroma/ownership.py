"""Whose each collection of a Chroma folder is, and the removal of our own.

Memedex only deletes or rewrites collections whose metadata carry its mark, with the token of the catalog (or
memory database) that they are derived from. `docs/decisions.md` says why.
"""

import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from store.chroma.contents import DATABASE, MARK, Contents, FoundCollection, read_contents


@dataclass(frozen=True, slots=True)
class Ownership:
    """Which collections of a folder are ours."""

    contents: Contents
    own: tuple[FoundCollection, ...] = ()

    @property
    def others(self) -> tuple[FoundCollection, ...]:
        """The collections of other programs."""
        own = {one.id for one in self.own}
        return tuple(one for one in self.contents.collections if one.id not in own)

    @property
    def is_wholly_ours(self) -> bool:
        """Whether nothing in it belongs, or may belong, to another program."""
        return not (self.contents.fault or self.others or self.contents.strays)

    def is_foreign(self, needed_names: Mapping[str, str]) -> bool:
        """Whether it is in the way: unreadable, without anything of ours, or with a name that we need."""
        if self.contents.fault:
            return True
        if not self.own:
            return bool(self.contents.collections or self.contents.strays)
        return any(one.name in needed_names for one in self.others)


def ownership(folder: Path, *, owners: Mapping[str, str]) -> Ownership:
    """Whose each collection is. `owners` maps our collections to the token that their mark must carry."""
    contents = read_contents(folder)
    marked = (one for one in contents.collections if owners.get(one.name, "") == one.metadata.get(MARK))
    return Ownership(contents, tuple(marked))


def remove_collections(folder: Path, collections: Sequence[FoundCollection]) -> None:
    """Delete these collections from a Chroma that no process has open; others stay.

    Uses SQL, because their index may be what is broken, and opening it can end the process. The tables are
    those of chromadb 1.5.9; `VACUUM` leaves nothing of the deleted rows in free pages. Raises sqlite3.Error
    or OSError.
    """
    for one in collections:
        for segment in one.segments:
            if (folder / segment).is_dir():
                shutil.rmtree(folder / segment)
    ids = [(one.id,) for one in collections]
    segments = [(segment,) for one in collections for segment in one.segments]
    rows = "(SELECT id FROM embeddings WHERE segment_id = ?)"
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as db:
        db.execute("PRAGMA secure_delete = 1")
        db.execute("BEGIN IMMEDIATE")
        for table, column in (
            ("embedding_fulltext_search", "rowid"), ("embedding_metadata", "id"),
            ("embedding_metadata_array", "id"),
        ):  # fmt: skip
            db.executemany(f"DELETE FROM {table} WHERE {column} IN {rows}", segments)
        for table, column in (
            ("embeddings", "segment_id"), ("max_seq_id", "segment_id"), ("segment_metadata", "segment_id"),
            ("segments", "id"),
        ):  # fmt: skip
            db.executemany(f"DELETE FROM {table} WHERE {column} = ?", segments)
        db.executemany("DELETE FROM embeddings_queue WHERE topic LIKE '%/' || ?", ids)
        db.executemany("DELETE FROM collection_metadata WHERE collection_id = ?", ids)
        db.executemany("DELETE FROM collections WHERE id = ?", ids)
        db.execute("COMMIT")
        db.execute("VACUUM")
