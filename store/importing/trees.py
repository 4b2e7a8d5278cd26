"""The files of an import: a folder, an upload, or an archive read in place; nothing outside is reached."""

import os
import re
import stat
import struct
import tarfile
import zlib
from abc import ABC, abstractmethod
from bz2 import BZ2File
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from gzip import GzipFile
from io import BufferedIOBase, BytesIO
from itertools import islice
from lzma import LZMAError, LZMAFile
from pathlib import Path
from posixpath import basename, splitext
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO
from urllib.parse import unquote, urlsplit
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from store.disk import images
from store.disk.files import open_regular
from store.disk.picture_files import BEGINNING, is_picture
from store.errors import BadSource
from store.importing import encodings, tables
from store.importing.candidate import shown
from store.outcome import Refusal

_DRIVE = re.compile(r"[A-Za-z]:")
_LEFTOVERS = {"__macosx", "thumbs.db", "desktop.ini"}
_REMOTE = {"http", "https", "ipfs", "ar", "data"}
_LONGEST = 2000
_PACKED: Mapping[bytes, Callable[[BinaryIO], BufferedIOBase]] = {  # by their first bytes
    b"\x1f\x8b": lambda file: GzipFile(fileobj=file),
    b"BZh": BZ2File,
    b"\xfd7zXZ\0": LZMAFile,
}
ARCHIVES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz")
_STARTS = ((b"PK\3\4", ".zip"), *((start, ".gz") for start in _PACKED), (b"PAR1", ".parquet"))
_OTHER_KINDS = {
    *ARCHIVES, ".json", ".csv", ".tsv", ".jsonl", ".ndjson", ".txt", ".md", ".sqlite3", ".parquet",
}  # fmt: skip
MAX_ENTRIES = 2 * tables.MAX_ROWS + 1  # our own largest export: a table, a picture and a text for each row
MAX_DIRECTORY = 150 * MAX_ENTRIES  # bytes of the list of entries, which is read into memory whole
MAX_UNPACKED = 4_000_000_000
_OWN_SIZES = 3  # … or so many times what it takes itself, which no bomb needs and many pictures do
MAX_RATIO = 200  # pictures hardly shrink; what shrinks a thousandfold is a bomb
_SMALL = 10_000_000  # below this, no ratio does harm
_CHUNK = 1_000_000
_START = 6  # bytes that tell what packed a file
_DAMAGE = (  # what reading a damaged archive raises
    *(BadZipFile, tarfile.TarError, NotImplementedError, RuntimeError, EOFError, OSError, ValueError),
    *(zlib.error, struct.error),
)
_TOO_LARGE = "it is larger than {} MB"
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


def kind_of(beginning: bytes, *, called: str) -> str:
    """The ending of a file by its first bytes; `called`, which it has, where these tell nothing."""
    if known := next((kind for start, kind in _STARTS if beginning.startswith(start)), None):
        return known
    text = beginning.decode("utf-8-sig", "replace").lstrip()
    first = text.partition("\n")[0].strip()
    if first[:1] == "[" or (first[:1] == "{" and (called not in (".jsonl", ".ndjson") or first == "{")):
        return ".json"
    is_table = called not in (*tables.SUFFIXES, ".txt") and any(
        tables.known_columns(first, sign) > 1 for sign in tables.SIGNS
    )
    return ".csv" if is_table else called


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

    @cached_property
    def folded(self) -> dict[str, str]:
        """All readable files by their names in lower case, to look names up as Windows does."""
        return {name.lower(): name for name in reversed(self.names)}

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
        raise BadSource(_TOO_LARGE.format(limit // 1_000_000))
    return content


def picture_bytes(tree: Tree, name: str) -> bytes:
    """The bytes of a picture, within the limit for pictures."""
    return tree.read(name, limit=images.MAX_BYTES)


class TooMuch(BadSource):
    """The archive's content exceeds the limit as a whole."""


class Budget:
    """How many bytes an archive, and all archives in it, may still unpack to."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._spent = 0

    def spend(self, count: int) -> None:
        """Note that so many bytes were unpacked. Raises TooMuch beyond the limit."""
        self._spent += count
        if self._spent > self._most:
            raise TooMuch(f"the archive unpacks to more than {self._most // 10**9} GB")


class ArchiveTree(Tree):
    """The entries of an archive that have safe names; the others are refused one by one."""

    def __init__(self, *, title: str, budget: Budget, is_inner: bool) -> None:
        self.title = title
        self.refused = []
        self.budget = budget
        self.opens_archives = not is_inner  # one in one in one may go on for ever
        self._entries: dict[str, Any] = {}

    def picture(self, name: str) -> bytes:
        return self.read(name, limit=images.MAX_BYTES)

    def beginning(self, name: str) -> bytes:
        try:
            with self._opened(name) as entry:
                return entry.read(BEGINNING)
        except (BadSource, *_DAMAGE):
            return b""

    def read(self, name: str, *, limit: int) -> bytes:
        content = bytearray()
        with self._opened(name, limit=limit) as entry:
            while chunk := self._chunk(entry):
                content += chunk
                self.budget.spend(len(chunk))
                if len(content) > limit:
                    raise BadSource(_TOO_LARGE.format(limit // 1_000_000))
                self._check(name, len(content))
        return bytes(content)

    @abstractmethod
    def _opened(self, name: str, *, limit: int = 0) -> IO[bytes]:
        """The entry to read. Raises BadSource if it is damaged or admits to more bytes than the limit."""

    def _check(self, name: str, unpacked: int) -> None:
        """Raises BadSource if an entry of so many bytes unpacks as only a bomb does."""

    def _chunk(self, entry: IO[bytes]) -> bytes:
        try:
            return entry.read(_CHUNK)
        except _DAMAGE as error:
            raise BadSource(f"the archive is damaged here: {error}"[:200]) from error

    def _add(self, given: str, info: Any, *, is_link: bool) -> None:
        name = relative(given)
        if not name or is_leftover(name):
            return
        if is_link:
            raise BadSource("it is a link, which is not followed")
        if name in self._entries:
            raise BadSource("a second entry with this name; the first is taken")
        self._entries[name] = info

    def _take_all(self, entries: Iterable[tuple[Any, str]]) -> None:
        for info, name in entries:
            try:
                self._take(info, name)
            except BadSource as error:
                self.refused.append(Refusal(self.item(name), str(error)))
        self.names = self.chosen = sorted(self._entries)

    @abstractmethod
    def _take(self, info: Any, given: str) -> None:
        """Take in an entry that is a file. Raises BadSource if it cannot be read."""


class ZipTree(ArchiveTree):
    """The entries of a zip."""

    def __init__(self, archive: ZipFile, *, title: str, budget: Budget, is_inner: bool) -> None:
        super().__init__(title=title, budget=budget, is_inner=is_inner)
        self._archive = archive
        self._take_all(encodings.named(archive.infolist()))

    def _opened(self, name: str, *, limit: int = 0) -> IO[bytes]:
        info = self._entries[name]
        if limit and info.file_size > limit:
            raise BadSource(_TOO_LARGE.format(limit // 1_000_000))
        self._check(name, info.file_size if limit else 0)  # what the header admits to need not be unpacked
        try:
            return self._archive.open(info)
        except _DAMAGE as error:
            raise BadSource(f"the archive is damaged here: {error}"[:200]) from error

    def _check(self, name: str, unpacked: int) -> None:
        _check_ratio(unpacked, self._entries[name].compress_size)

    def _take(self, info: ZipInfo, given: str) -> None:
        if info.is_dir():
            return
        if info.flag_bits & 1:
            raise BadSource("it is encrypted; unpack the archive first")
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise BadSource("it is compressed in a way that is not read; zip it again in the ordinary way")
        self._add(given, info, is_link=stat.S_ISLNK(info.external_attr >> 16))


class TarTree(ArchiveTree):
    """The files of a tar, such as a shard of WebDataset."""

    def __init__(self, archive: tarfile.TarFile, *, title: str, budget: Budget, is_inner: bool) -> None:
        super().__init__(title=title, budget=budget, is_inner=is_inner)
        self._archive = archive
        members = list(islice(archive, MAX_ENTRIES + 1))
        _check_number(len(members))
        self._take_all((info, info.name) for info in members)

    def _opened(self, name: str, *, limit: int = 0) -> IO[bytes]:
        entry = self._archive.extractfile(self._entries[name])
        assert entry  # a file
        return entry

    def _take(self, info: tarfile.TarInfo, given: str) -> None:
        if info.isfile() or info.issym() or info.islnk():
            self._add(given, info, is_link=not info.isfile())


@contextmanager
def opened(source: Path | bytes, *, title: str, outer: Tree | None = None) -> Iterator[Tree]:
    """The archive as a tree, until the block ends; `outer` is the one that it is in.

    Raises BadSource if it is not an archive or is harmful.
    """
    try:
        file = BytesIO(source) if isinstance(source, bytes) else open_regular(source)
    except OSError as error:
        raise BadSource(f"it cannot be read: {error.strerror}") from error
    with file, ExitStack() as stack:
        plain: IO[bytes] = file
        start = file.read(_START)
        unpacked = next((opener for mark, opener in _PACKED.items() if start.startswith(mark)), None)
        if unpacked:
            plain = stack.enter_context(SpooledTemporaryFile(_SMALL))
            _unpack(file, plain, unpacked)
        yield _tree(plain, title=shown(title), outer=outer, is_packed=unpacked is not None)


def is_archive(name: str) -> bool:
    """Whether a file is called as an archive is."""
    return suffix(name) in ARCHIVES


def _unpack(packed: BinaryIO, plain: IO[bytes], opener: Callable[[BinaryIO], BufferedIOBase]) -> None:
    size = _size(packed)
    packed.seek(0)
    try:
        with opener(packed) as content:
            budget = Budget(MAX_UNPACKED)
            while chunk := content.read(_CHUNK):
                plain.write(chunk)
                budget.spend(len(chunk))
                _check_ratio(plain.tell(), size)
    except (OSError, EOFError, zlib.error, LZMAError) as error:
        raise BadSource(f"the archive is damaged: {error}"[:200]) from error


def _tree(file: IO[bytes], *, title: str, outer: Tree | None, is_packed: bool) -> Tree:
    budget = Budget(max(MAX_UNPACKED, _OWN_SIZES * _size(file)))
    if is_inner := isinstance(outer, ArchiveTree):
        budget = outer.budget
    try:
        file.seek(0)
        with suppress(tarfile.ReadError):
            archive = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115  closed with its file
            return TarTree(archive, title=title, budget=budget, is_inner=is_inner)
        if is_packed:
            return _single(file, title=title)
        _check_directory(file)
        zipped = ZipFile(file)
        _check_number(len(zipped.infolist()))
    except (BadZipFile, tarfile.TarError, struct.error, UnicodeDecodeError, NotImplementedError, EOFError,
            ValueError) as error:  # fmt: skip
        if isinstance(error, BadSource):
            raise
        raise BadSource(f"it is no archive, or a damaged one ({error})"[:200]) from error
    except OSError as error:
        raise BadSource(f"it cannot be read: {error.strerror or error}") from error
    return ZipTree(zipped, title=title, budget=budget, is_inner=is_inner)


def _single(file: IO[bytes], *, title: str) -> Tree:
    """The one file that is packed by itself, called as the archive without its ending."""
    file.seek(0)
    tree = UploadTree(
        [(stem(title) or title, within(file.read(tables.MAX_BYTES + 1), limit=tables.MAX_BYTES))]
    )
    tree.title, tree.opens_archives = title, False
    return tree


def _check_number(entries: int) -> None:
    if entries > MAX_ENTRIES:
        raise BadSource(f"the archive has {entries:,} entries; at most {MAX_ENTRIES:,} are read; split it")


def _check_ratio(unpacked: int, packed: int) -> None:
    if unpacked > _SMALL and unpacked > MAX_RATIO * packed:
        raise BadSource(f"it unpacks to more than {MAX_RATIO} times its size, as only a bomb does")


def _size(file: IO[bytes]) -> int:
    return file.seek(0, 2)


def _check_directory(file: IO[bytes]) -> None:
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
