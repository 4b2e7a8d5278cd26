"""The folder of Chroma's files: what other programs left is moved aside, only our own is removed."""

import logging
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from store.chroma.collections import INDEX, Collections, FolderCollections, flush, stamp
from store.chroma.contents import DATABASE
from store.chroma.ownership import Ownership, ownership, remove_collections
from store.chroma.place import ChromaPlace, Metadata
from store.chroma.process import ChromaProcess
from store.disk.aside import Aside, finish_moves, move_aside
from store.disk.files import Disk

log = logging.getLogger(__name__)


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
        """`into` is where others' files are moved; `note` records that in the history.

        The rest as `ownership`.
        """
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
        """Name, size and time of its files as one hash."""
        return stamp(self.path)

    def flush(self) -> None:
        """Fsync its files."""
        flush(self.path)

    def collections(self, metadata: Metadata) -> Callable[[], Collections]:
        """What opens the collections in the folder."""
        return partial(FolderCollections, self.path, metadata, index=INDEX)

    def begin(self, chroma: ChromaProcess, metadata: Metadata) -> None:
        """Nothing: collections are created when they are first written."""

    def ownership(self) -> Ownership:
        """Whose each collection in the folder is; reads only."""
        return ownership(self.path, owners=self._owners())

    def foreign(self) -> str:
        """A description of others' files that are in the way; "" if there are none."""
        found = self.ownership()
        return found.contents.summary if found.is_foreign(self._owners()) else ""

    def clear_the_way(self) -> None:
        """Move others' files aside before Chroma opens the folder; ours stay."""
        self._finish()
        found = self.ownership()
        if found.is_foreign(self._owners()):
            self._move_aside(found.contents.names, found.contents.summary)

    def remove_own(self) -> None:
        """Remove ours, which can be rebuilt; others' collections stay, here or moved aside."""
        self.clear_the_way()
        found = self.ownership()
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


def remove_files(folder: Path, names: Sequence[str]) -> None:
    """Remove these files and folders, the database last, because it says whose the index folders are."""
    for name in sorted(names, key=lambda name: name.startswith(DATABASE)):
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
