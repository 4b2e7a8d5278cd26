"""Where our collections lie, as the follower sees it: in a folder or on a server.

Memedex only deletes or rewrites collections whose metadata carry its mark, with the token of the catalog (or
memory database) that they are derived from. `docs/decisions.md` says why. What other programs left in the
folder is moved aside.
"""

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from store.chroma.collections import Collections, FolderCollections, Metadata, own_files
from store.chroma.contents import DATABASE, MARK, Contents, FoundCollection, read_contents
from store.chroma.process import ChromaProcess
from store.chroma.server import ChromaServer, ServerCollections
from store.disk.aside import Aside, finish_moves, move_aside
from store.disk.files import Disk
from store.settings import settings

log = logging.getLogger(__name__)


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


class ChromaPlace:
    """A place for collections that needs no care, as a server where we see ours; only `lacks` asks it."""

    name = ""  # tells servers apart; "" is the folder next to the database

    def collections(self, metadata: Metadata) -> Callable[[], Collections]:
        """What opens the collections; can be pickled."""
        raise NotImplementedError

    @property
    def has_files(self) -> bool:
        """Whether there may be something to compare with SQLite; a server says so when it is compared."""
        return True

    @property
    def stamp(self) -> str:
        """Its state, to notice that another program changed it; a server shows that only when compared."""
        return self.name

    def lacks(self, metadata: Metadata) -> bool:
        """Whether a server lost one of these collections; the loss of a folder shows in its `stamp`.

        Raises ServerAway if the server does not say, OthersCollection if it has others' under our names.
        """
        return False

    def foreign(self) -> str:
        """A description of others' files that are in the way; "" if there are none."""
        return ""

    def clear_the_way(self) -> None:
        """Move others' files aside before Chroma opens the place; ours stay."""

    def remove_own(self) -> None:
        """Remove ours, which can be rebuilt; others' collections stay."""

    def begin(self, chroma: ChromaProcess, metadata: Metadata) -> None:
        """Create what a rebuild needs after `remove_own`; a folder's come with their first entry."""

    def flush(self) -> None:
        """Fsync what Chroma wrote."""


class ChromaFolder(ChromaPlace):
    """Chroma's files in one folder, which must not be open during these calls."""

    def __init__(
        self,
        folder: Path,
        *,
        into: Path,
        owners: Callable[[], Mapping[str, str]],
        note: Callable[[Aside], None],
        disk: Disk,
    ) -> None:
        """`into` is where others' files are moved, which `note` records; the rest as `ownership`."""
        self.path = folder
        self._into = into
        self._owners = owners
        self._note = note
        self._disk = disk

    @property
    def has_files(self) -> bool:
        """Whether Chroma's database exists."""
        return (self.path / DATABASE).exists()

    @property
    def stamp(self) -> str:
        """Names, sizes and times of its files, wherever the folder is, as one hash."""
        known = ((path.relative_to(self.path).as_posix(), path.stat()) for path in own_files(self.path))
        text = "\n".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in known)
        return sha256(text.encode()).hexdigest()

    def flush(self) -> None:
        """Fsync its files, because Chroma never fsyncs its index."""
        for path in own_files(self.path):
            with path.open("rb") as file, suppress(OSError):  # Windows flushes only what can be written
                os.fsync(file.fileno())

    def collections(self, metadata: Metadata) -> Callable[[], Collections]:
        """What opens the collections in the folder."""
        return partial(FolderCollections, self.path, metadata)

    def foreign(self) -> str:
        """A description of others' files that are in the way; "" if there are none."""
        found = ownership(self.path, owners=self._owners())
        return found.contents.summary if found.is_foreign(self._owners()) else ""

    def clear_the_way(self) -> None:
        """Move others' files aside before Chroma opens the folder; ours stay."""
        self._finish()
        found = ownership(self.path, owners=self._owners())
        if found.is_foreign(self._owners()):
            self._move_aside(found.contents.names, found.contents.summary)

    def remove_own(self) -> None:
        """Remove ours, which can be rebuilt; others' collections stay, here or moved aside."""
        self.clear_the_way()
        found = ownership(self.path, owners=self._owners())
        contents = found.contents
        if found.is_wholly_ours:
            if found.own:
                self._disk.step("remove", self.path)
                remove_files(self.path, contents.names)
            return
        try:
            remove_collections(self.path, found.own)
        except (OSError, sqlite3.Error) as error:
            log.warning("Chroma is moved aside, its collections could not be removed one by one: %s", error)
            self._move_aside(contents.names, contents.summary)
            return
        if contents.strays:
            self._move_aside(contents.strays, f"{len(contents.strays):,} index folders of no collection")

    def _move_aside(self, names: tuple[str, ...], what: str) -> None:
        log.warning("%s is moved aside from %s", what, self.path)
        move_aside(names, source=self.path, into=self._into, what=what, disk=self._disk)
        self._finish()

    def _finish(self) -> None:
        finish_moves(self._into, note=self._note, disk=self._disk)


class ServerPlace(ChromaPlace):
    """A database on a server; a collection of others is refused when it is opened (OthersCollection)."""

    def __init__(self, server: ChromaServer) -> None:
        self._server = server
        self.name = str(server)

    def lacks(self, metadata: Metadata) -> bool:
        """As `ChromaPlace.lacks`."""
        return self._server.lacks(metadata)

    def collections(self, metadata: Metadata) -> Callable[[], Collections]:
        """What opens the collections on the server."""
        return partial(ServerCollections, self._server, metadata)

    def begin(self, chroma: ChromaProcess, metadata: Metadata) -> None:
        """Replace our collections by empty ones."""
        for name, fields in metadata.items():
            chroma.begin(name, model=fields["model"])


def describe_place() -> str:
    """Where the collections are, for people: "off", a server, or "" for the library's folder."""
    if settings().chroma == "off":
        return "off"
    server = ChromaServer.configured()
    return str(server) if server else ""


def is_there() -> bool:
    """Whether the place of the settings can be asked now: a folder always, a server that answers."""
    server = ChromaServer.configured()
    return server is None or server.answers()


def collections_at(folder: Path, metadata: Metadata) -> Collections:
    """Our collections where the settings say: on a server, or in this folder."""
    server = ChromaServer.configured()
    return ServerCollections(server, metadata) if server else FolderCollections(folder, metadata)


def remove_files(folder: Path, names: Sequence[str]) -> None:
    """Remove these files and folders, the database last, because it says whose the index folders are."""
    for name in sorted(names, key=lambda name: name.startswith(DATABASE)):
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


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
