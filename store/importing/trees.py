"""A tree of files to import, in a folder, an archive or an upload; nothing outside it can be reached."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from store.disk import images
from store.disk.files import open_regular
from store.errors import BadSource
from store.importing.candidate import shown
from store.importing.names import is_leftover, relative, suffix
from store.outcome import Refusal


class Tree(ABC):
    """Files by their names relative to the top, separated by "/".

    `names` are all readable files, `chosen` those to import, `refused` those that may not be read.
    """

    title: str
    names: list[str]
    chosen: list[str]
    is_whole = True  # everything there was chosen, rather than single files
    refused: list[Refusal]
    opens_archives = True

    @cached_property
    def known(self) -> frozenset[str]:
        """All readable files, to look names up."""
        return frozenset(self.names)

    def item(self, name: str) -> str:
        """The file's name for people."""
        return shown(f"{self.title}/{name}" if self.title else name)

    @abstractmethod
    def read(self, name: str, *, limit: int) -> bytes:
        """The file's bytes. Raises BadSource if it cannot be read or has more than `limit`."""

    def on_disk(self, name: str) -> Path | None:
        """The path of this file or folder, if the tree is a folder on this machine."""
        return None

    @abstractmethod
    def picture(self, name: str) -> Path | bytes:
        """The file as a candidate holds it."""


class DiskTree(Tree):
    """A folder on this machine, without links that leave it."""

    def __init__(self, root: Path, *, title: str, chosen: Iterable[str] | None = None) -> None:
        self.title = title
        self._root = Path(os.path.realpath(root))
        self.refused = []
        if chosen is None:
            self.names = self.chosen = sorted(self._found())
            return
        self.is_whole = False
        self.names = self.chosen = sorted(set(chosen))
        if not all(suffix(name) in images.SUFFIXES for name in self.chosen):
            # Lists and sidecars name pictures that were not given but lie beside them.
            self.names = sorted({*self._found(), *self.chosen})
            self.refused = []

    def read(self, name: str, *, limit: int) -> bytes:
        try:
            with open_regular(self._root / name) as file:
                content = file.read(limit + 1)
        except OSError as error:
            raise BadSource(f"it cannot be read: {error.strerror}") from error
        return within(content, limit=limit)

    def on_disk(self, name: str) -> Path:
        return self._root / name

    def picture(self, name: str) -> Path:
        return self._root / name

    def _found(self) -> Iterator[str]:
        folders = [""]
        while folders:
            folder = folders.pop()
            try:
                entries = list(os.scandir(self._root / folder))
            except OSError as error:
                self._refuse(folder or ".", f"the folder cannot be read: {error.strerror}")
                continue
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if is_leftover(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif self._is_usable(entry, name):
                    yield name

    def _is_usable(self, entry: "os.DirEntry[str]", name: str) -> bool:
        if entry.is_symlink():
            target = Path(os.path.realpath(entry.path))
            if not target.is_relative_to(self._root):
                self._refuse(name, "it is a link that leads out of the folder")
                return False
            if target.is_dir():
                return False  # its files are found where they are
        if not entry.is_file():  # a pipe would block for ever
            self._refuse(name, "it is not a file that can be read")
            return False
        return True

    def _refuse(self, name: str, reason: str) -> None:
        self.refused.append(Refusal(self.item(name), reason))


class UploadTree(Tree):
    """Files given with their bytes, under untrusted names."""

    def __init__(self, files: Iterable[tuple[str, bytes]]) -> None:
        self.title = ""
        self.refused = []
        self._content: dict[str, bytes] = {}
        for given, content in files:
            try:
                name = relative(given)
            except BadSource as error:
                self.refused.append(Refusal(shown(given), str(error)))
                continue
            if name and not is_leftover(name):
                self._content[self._free(name, content)] = content
        self.names = self.chosen = sorted(self._content)

    def read(self, name: str, *, limit: int) -> bytes:
        return within(self._content[name], limit=limit)

    def picture(self, name: str) -> bytes:
        return self._content[name]

    def _free(self, name: str, content: bytes) -> str:
        """The name, numbered if another file has it, because browsers drop the folders of uploads."""
        start, dot, end = name.rpartition(".")
        candidate, number = name, 2
        while self._content.get(candidate, content) != content:
            candidate = f"{start} ({number}){dot}{end}" if start else f"{name} ({number})"
            number += 1
        return candidate


def within(content: bytes, *, limit: int) -> bytes:
    """The content. Raises BadSource if it is larger than `limit` bytes."""
    if len(content) > limit:
        raise BadSource(f"it is larger than {limit // 1_000_000} MB")
    return content


def picture_bytes(tree: Tree, name: str) -> bytes:
    """The bytes of a picture, within the limit for pictures."""
    return tree.read(name, limit=images.MAX_BYTES)
