"""Read the rows of a SQLite file page by page, for when SQLite itself cannot.

Source: https://sqlite.org/fileformat2.html, sections 1.6, 2 and 4.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

Value = None | int | float | str | bytes
Tree = Literal["table", "index"]  # what a page is a leaf of; tables without rowid are kept as an index

_PAGE = 4096  # bytes; SQLite's default, which the catalog keeps
_FILE_HEADER = 100  # before the first page's own header
_WAL_HEADER, _FRAME_HEADER = 32, 24
# The first byte of a page → what it belongs to, the length of its header, of a child's number in each cell.
_KINDS: dict[int, tuple[Tree, int, int]] = {
    0x0D: ("table", 8, 0),
    0x0A: ("index", 8, 0),
    0x02: ("index", 12, 4),
}
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # serial type → bytes
_UNREADABLE = (IndexError, ValueError, struct.error)


class RawRows:
    """A SQLite file read page by page; damaged pages are skipped."""

    def __init__(self, path: Path) -> None:
        self._file = path.read_bytes() if path.is_file() else b""
        log = path.with_name(path.name + "-wal")
        self._log = log.read_bytes() if log.exists() else b""
        self._logged = dict(self._frames())

    def __iter__(self) -> Iterator[tuple[Tree, int, tuple[Value, ...]]]:
        """Every row of every table and index: its tree, its rowid (0 in an index), its values."""
        for number in range(1, max([len(self._file) // _PAGE, *self._logged]) + 1):
            yield from self._rows(number)

    def _frames(self) -> Iterator[tuple[int, int]]:
        """Pages in the write-ahead log, newest last: number, and their offset in the log."""
        salt = self._log[16:24]
        pending: list[tuple[int, int]] = []
        for at in range(_WAL_HEADER, len(self._log) - _PAGE - _FRAME_HEADER + 1, _PAGE + _FRAME_HEADER):
            number, committed = struct.unpack_from(">II", self._log, at)
            if self._log[at + 8 : at + 16] != salt:  # left over from an earlier round of the log
                return
            pending.append((number, at + _FRAME_HEADER))
            if committed:
                yield from pending
                pending = []

    def _page(self, number: int) -> bytes:
        if number in self._logged:
            return self._log[self._logged[number] : self._logged[number] + _PAGE]
        return self._file[(number - 1) * _PAGE : number * _PAGE]

    def _rows(self, number: int) -> Iterator[tuple[Tree, int, tuple[Value, ...]]]:
        page = self._page(number)
        start = _FILE_HEADER if number == 1 else 0
        if len(page) < _PAGE or page[start] not in _KINDS:
            return
        tree, header, child = _KINDS[page[start]]
        (cells,) = struct.unpack_from(">H", page, start + 3)
        for cell in range(min(cells, _PAGE // 2)):
            try:
                (at,) = struct.unpack_from(">H", page, start + header + 2 * cell)
                size, at = _varint(page, at + child)
                rowid, at = _varint(page, at) if tree == "table" else (0, at)
                yield tree, rowid, _values(self._payload(page, at, size, tree))
            except _UNREADABLE:
                continue

    def _payload(self, page: bytes, at: int, size: int, tree: Tree) -> bytes:
        """A row's bytes; what does not fit its page continues in a chain of overflow pages (section 1.6)."""
        most = _PAGE - 35 if tree == "table" else (_PAGE - 12) * 64 // 255 - 23
        if size <= most:
            return page[at : at + size]
        if size > len(self._file) + len(self._log):  # a torn number must not lead round in a circle for ever
            raise ValueError("not a record")
        least = (_PAGE - 12) * 32 // 255 - 23
        here = least + (size - least) % (_PAGE - 4)
        here = here if here <= most else least
        parts, missing = [page[at : at + here]], size - here
        (following,) = struct.unpack_from(">I", page, at + here)
        while missing > 0:
            page = self._page(following)
            (following,) = struct.unpack_from(">I", page, 0)
            parts.append(page[4 : 4 + missing])
            missing -= _PAGE - 4
        return b"".join(parts)


def _values(payload: bytes) -> tuple[Value, ...]:
    """A record's values (section 2.1)."""
    end, at = _varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values: list[Value] = []
    for kind in kinds:
        value, at = _value(payload, at, kind)
        values.append(value)
    if at != len(payload):
        raise ValueError("not a record")
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if kind == 7:
        return float(struct.unpack_from(">d", payload, at)[0]), at + 8
    if kind in (8, 9):
        return kind - 8, at
    if kind < 12:
        raise ValueError("not a record")
    end = at + (kind - 12) // 2
    content = payload[at:end]
    return (content.decode() if kind % 2 else content), end


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and the offset after it."""
    number = 0
    for _ in range(8):
        byte = page[at]
        at += 1
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at
    return number << 8 | page[at], at + 1
