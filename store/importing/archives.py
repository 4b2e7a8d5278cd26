"""Read zip archives in place: nothing is unpacked to disk, and no header is trusted."""

import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from store.disk import images
from store.disk.files import open_regular
from store.errors import BadSource
from store.importing import tables
from store.importing.candidate import shown
from store.importing.names import is_leftover, relative
from store.importing.trees import Tree
from store.outcome import Refusal

MAX_ENTRIES = 2 * tables.MAX_ROWS + 1  # our own largest export: a table, a picture and a text for each row
MAX_DIRECTORY = 150 * MAX_ENTRIES  # bytes of the list of entries, which is read into memory whole
MAX_UNPACKED = 4_000_000_000
_OWN_SIZES = 3  # … or so many times what it takes itself, which no bomb needs and many pictures do
MAX_RATIO = 200  # pictures hardly shrink; what shrinks a thousandfold is a bomb
_SMALL = 10_000_000  # below this, no ratio does harm
_CHUNK = 1_000_000
_TAIL = 66_000  # the end record with the longest possible comment


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
        for info in archive.infolist():
            try:
                self._take(info)
            except BadSource as error:
                self.refused.append(Refusal(self.item(info.filename), str(error)))
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

    def _take(self, info: ZipInfo) -> None:
        name = relative(info.filename)
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
