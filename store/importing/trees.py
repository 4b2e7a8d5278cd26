"""The files of an import: a folder, an upload or a zip archive read in place; nothing outside is reached."""

import os
import re
import stat
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO
from pathlib import Path
from posixpath import basename, splitext
from typing import IO, BinaryIO
from urllib.parse import unquote, urlsplit
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from store.disk import images
from store.disk.files import open_regular
from store.disk.picture_files import BEGINNING, is_picture
from store.errors import BadSource
from store.importing import tables, zip_names
from store.importing.candidate import shown
from store.outcome import Refusal

_DRIVE = re.compile(r"[A-Za-z]:")
_LEFTOVERS = {"__macosx", "thumbs.db", "desktop.ini"}
_REMOTE = {"http", "https", "ipfs", "ar", "data"}
_LONGEST = 2000
_OTHER_KINDS = {".json", ".csv", ".tsv", ".jsonl", ".ndjson", ".txt", ".zip", ".md", ".sqlite3", ".parquet"}
MAX_ENTRIES = 2 * tables.MAX_ROWS + 1  # our own largest export: a table, a picture and a text for each row
MAX_DIRECTORY = 150 * MAX_ENTRIES  # bytes of the list of entries, which is read into memory whole
MAX_UNPACKED = 4_000_000_000
_OWN_SIZES = 3  # … or so many times what it takes itself, which no bomb needs and many pictures do
MAX_RATIO = 200  # pictures hardly shrink; what shrinks a thousandfold is a bomb
_SMALL = 10_000_000  # below this, no ratio does harm
_CHUNK = 1_000_000
_TAIL = 66_000  # the end record with the longest possible comment


def relative(name: str) -> str:
    """The name as a clean relative path. Raises BadSource if it would leave its folder.

    For entries of archives and names of uploads, which may come from any system.
    """
    parts = name.replace("\\", "/").split("/")
    if not name.strip() or len(name) > _LONGEST:
        raise BadSource("its name is empty or far too long")
    if parts[0] == "" or _DRIVE.match(parts[0]):
        raise BadSource("its name is an absolute path, which would lead out of the import")
    if ".." in parts:
        raise BadSource("its name holds “..”, which would lead out of the import")
    if "\0" in name:
        raise BadSource("its name holds a zero byte")
    return "/".join(part for part in parts if part not in ("", "."))


def referred(reference: str, *, folder: str) -> list[str]:
    """The files that a relative reference in `folder` may mean. Raises BadSource if it leaves the import.

    A list, because a space may be written as itself or as %20.
    """
    if len(reference) > _LONGEST:
        raise BadSource("its picture's address is far too long")
    path = reference.replace("\\", "/")
    if path.startswith("/") or _DRIVE.match(path):
        raise BadSource(f"its picture {reference!r} is an absolute path; only files of the import are read")
    return [_resolved(spelling, folder) for spelling in dict.fromkeys((path, unquote(path)))]


def remote_parts(reference: str) -> tuple[str, ...] | None:
    """The path of a URL in parts; None for a relative path.

    Raises BadSource for a URL that cannot be read or has another scheme.
    """
    try:
        address = urlsplit(reference.strip())
    except ValueError as error:
        raise BadSource(f"its picture's address cannot be read: {error}") from error
    if len(address.scheme) < 2:  # one letter is a drive
        return None
    if address.scheme not in _REMOTE:
        raise BadSource(f"its picture is a “{address.scheme}:” address, which is not followed")
    return tuple(part for part in unquote(address.path).split("/") if part not in ("", ".", ".."))


def is_leftover(name: str) -> bool:
    """Whether it is a system's own file (hidden, __MACOSX, Thumbs.db)."""
    return any(part.startswith(".") or part.lower() in _LEFTOVERS for part in name.split("/"))


def folder_of(name: str) -> str:
    """The folder part of a relative name, "" at the top."""
    return name.rpartition("/")[0]


def folders_above(name: str) -> Iterator[str]:
    """Every folder that contains this name, the outermost first, beginning with "" for the top."""
    yield ""
    for place, sign in enumerate(name):
        if sign == "/":
            yield name[:place]


def stem(name: str) -> str:
    """The file name without folder and suffix."""
    return splitext(basename(name))[0]


def suffix(name: str) -> str:
    """The lower-case suffix with its dot, or ""."""
    return splitext(name)[1].lower()


def _resolved(path: str, folder: str) -> str:
    parts = [part for part in folder.split("/") if part]
    for part in path.split("/"):
        if part == "..":
            if not parts:
                raise BadSource(f"its picture {path!r} lies outside the import")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


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

    @abstractmethod
    def beginning(self, name: str) -> bytes:
        """The first bytes of a file, by which its kind is told; b"" if it cannot be read."""

    def is_picture(self, name: str) -> bool:
        """Whether this is a picture: by the end of its name, or where that says nothing, by its content."""
        end = suffix(name)
        if end in images.SUFFIXES or end in _OTHER_KINDS:
            return end in images.SUFFIXES
        return is_picture(self.beginning(name))


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
        if not all(map(self.is_picture, self.chosen)):
            # Lists and sidecars name pictures that were not given but lie next to them.
            self.names = sorted({*self._found(), *self.chosen})
            self.refused = []

    def read(self, name: str, *, limit: int) -> bytes:
        try:
            with open_regular(self._root / name) as file:
                content = file.read(limit + 1)
        except OSError as error:
            raise BadSource(f"it cannot be read: {error.strerror}") from error
        return within(content, limit=limit)

    def beginning(self, name: str) -> bytes:
        try:
            with open_regular(self._root / name) as file:
                return file.read(BEGINNING)
        except OSError:
            return b""

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

    def beginning(self, name: str) -> bytes:
        return self._content[name][:BEGINNING]

    def _free(self, name: str, content: bytes) -> str:
        """The name, numbered if another file has it, because browsers drop the folders of uploads."""
        start, dot, end = name.rpartition(".")
        candidate, number = name, 2
        while self._content.get(candidate, content) != content:
            candidate = f"{start} ({number}){dot}{end}" if start else f"{name} ({number})"
            number += 1
        return candidate


def why_unreadable(path: Path) -> str:
    """Why a path that is neither a folder nor a file cannot be read."""
    return "it is a device or a pipe, not a file" if path.exists() else "there is no such file or folder"


def within(content: bytes, *, limit: int) -> bytes:
    """The content. Raises BadSource if it is larger than `limit` bytes."""
    if len(content) > limit:
        raise BadSource(f"it is larger than {limit // 1_000_000} MB")
    return content


def picture_bytes(tree: Tree, name: str) -> bytes:
    """The bytes of a picture, within the limit for pictures."""
    return tree.read(name, limit=images.MAX_BYTES)


class TooMuch(BadSource):
    """The archive's content exceeds the limit as a whole."""


class ArchiveTree(Tree):
    """The entries of a zip that have safe names; the others are refused one by one."""

    opens_archives = False  # an archive in an archive may go on for ever

    def __init__(self, archive: ZipFile, *, title: str, size: int) -> None:
        self.title = title
        self.refused = []
        self._archive = archive
        self._may_unpack = max(MAX_UNPACKED, _OWN_SIZES * size)
        self._unpacked = 0
        self._entries: dict[str, ZipInfo] = {}
        for info, name in zip_names.named(archive.infolist()):
            try:
                self._take(info, name)
            except BadSource as error:
                self.refused.append(Refusal(self.item(name), str(error)))
        self.names = self.chosen = sorted(self._entries)

    def read(self, name: str, *, limit: int) -> bytes:
        info = self._entries[name]
        if info.file_size > limit:
            raise BadSource(f"it is larger than {limit // 1_000_000} MB")
        _check_ratio(info.file_size, info)  # what the header admits to need not be unpacked
        try:
            with self._archive.open(info) as entry:
                return self._unpack(entry, info, limit=limit)
        except BadSource:
            raise
        except (BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
            raise BadSource(f"the archive is damaged here: {error}"[:200]) from error
        except (zlib.error, struct.error) as error:
            raise BadSource("the archive is damaged here") from error

    def picture(self, name: str) -> bytes:
        return self.read(name, limit=images.MAX_BYTES)

    def beginning(self, name: str) -> bytes:
        try:
            with self._archive.open(self._entries[name]) as entry:
                return entry.read(BEGINNING)
        except (BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, zlib.error):
            return b""

    def _take(self, info: ZipInfo, given: str) -> None:
        name = relative(given)
        if info.is_dir() or not name or is_leftover(name):
            return
        if stat.S_ISLNK(info.external_attr >> 16):
            raise BadSource("it is a link, which is not followed")
        if info.flag_bits & 1:
            raise BadSource("it is encrypted; unpack the archive first")
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise BadSource("it is compressed in a way that is not read; zip it again in the ordinary way")
        if name in self._entries:
            raise BadSource("a second entry with this name; the first is taken")
        self._entries[name] = info

    def _unpack(self, entry: IO[bytes], info: ZipInfo, *, limit: int) -> bytes:
        content = bytearray()
        while chunk := entry.read(_CHUNK):
            content += chunk
            self._unpacked += len(chunk)
            if len(content) > limit:
                raise BadSource(f"it is larger than {limit // 1_000_000} MB")
            _check_ratio(len(content), info)
            if self._unpacked > self._may_unpack:
                raise TooMuch(f"the archive unpacks to more than {self._may_unpack // 10**9} GB")
        return bytes(content)


@contextmanager
def opened(source: Path | bytes, *, title: str) -> Iterator[ArchiveTree]:
    """The archive as a tree, until the block ends. Raises BadSource if it is not an archive or is harmful."""
    try:
        file = BytesIO(source) if isinstance(source, bytes) else open_regular(source)
    except OSError as error:
        raise BadSource(f"it cannot be read: {error.strerror}") from error
    with file:
        yield _tree(file, title=shown(title))


def _tree(file: BinaryIO, *, title: str) -> ArchiveTree:
    try:
        _check_directory(file)
        archive = ZipFile(file)
        if (entries := len(archive.infolist())) > MAX_ENTRIES:
            raise BadSource(
                f"the archive has {entries:,} entries; at most {MAX_ENTRIES:,} are read; split it"
            )
    except (BadZipFile, struct.error, UnicodeDecodeError, NotImplementedError, ValueError) as error:
        if isinstance(error, BadSource):
            raise
        raise BadSource(f"it is no zip archive, or a damaged one ({error})"[:200]) from error
    except OSError as error:
        raise BadSource(f"it cannot be read: {error.strerror or error}") from error
    return ArchiveTree(archive, title=title, size=_size(file))


def _check_ratio(unpacked: int, info: ZipInfo) -> None:
    if unpacked > _SMALL and unpacked > MAX_RATIO * info.compress_size:
        raise BadSource(f"it unpacks to more than {MAX_RATIO} times its size, as only a bomb does")


def _size(file: BinaryIO) -> int:
    return file.seek(0, 2)


def _check_directory(file: BinaryIO) -> None:
    # Python reads the whole list of entries before anything can be counted, so its size is read first.
    end = _size(file)
    file.seek(max(0, end - _TAIL))
    tail = file.read()
    start = tail.rfind(b"PK\x05\x06")
    if start < 0 or len(tail) < start + 22:
        raise BadZipFile("it has no list of entries")
    (size,) = struct.unpack("<L", tail[start + 12 : start + 16])
    large = tail.rfind(b"PK\x06\x06", 0, start)
    if large >= 0 and len(tail) >= large + 48:
        (size,) = struct.unpack("<Q", tail[large + 40 : large + 48])
    if size > MAX_DIRECTORY:
        raise BadSource("the archive lists more files than are read from one; split it")
