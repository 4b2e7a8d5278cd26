"""Check the catalog's pages, vectors and records in batches; a check that was stopped goes on there."""

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from store.catalog import pages
from store.catalog.catalog import DISK_ERRORS, Catalog
from store.disk.files import content_hash, file_hash
from store.disk.layout import Layout
from store.disk.stats import stat_text
from store.embedding import reembed
from store.embedding.protocol import Embedder, are_usable
from store.errors import CatalogDamaged
from store.maintenance import repair
from store.maintenance.repair import Damage
from store.progress import Progress
from store.records import Tier

_T = TypeVar("_T")
_FORM = 1  # what was checked by an earlier version of these checks counts no longer
_VALID = 86_400.0  # seconds after the last batch: a disk that decays says so by nothing but its content
_LOOK = 0.1  # seconds
_BLOCK = 4_000  # vectors: what an interruption waits for and loses
_BATCH = 500  # records: a second's work at most, which is what an interruption waits for and loses
_READERS = 4  # files at once: a disk answers several requests in the time of one


class CheckedBatches:
    """The sound batches of one check; the file is deleted at its end.

    A batch is known by everything it was read from, so one that changed since is checked again, and so is
    one with a fault. A folder that cannot be written to costs no more than the memory of an interruption.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sound: set[str] = set()
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime < _VALID:
                self._sound.update(path.read_text("ascii", errors="replace").split())
            else:
                path.unlink()

    def faults(self, source: object, look: Callable[[], list[_T]]) -> Iterator[_T]:
        """What is wrong with a batch; nothing is read if one from the same source was sound.

        `source` says by its `repr` what the batch is read from, with sizes and times of files.
        """
        key = content_hash(repr((_FORM, source)).encode())
        if key in self._sound:
            return
        found = look()
        if not found:
            self._sound.add(key)
            with contextlib.suppress(*DISK_ERRORS), self._path.open("a", encoding="ascii") as file:
                file.write(f"{key}\n")
        yield from found

    def finish(self) -> None:
        """Forget all: the next check begins from nothing."""
        self._sound.clear()
        with contextlib.suppress(*DISK_ERRORS):
            self._path.unlink(missing_ok=True)


@contextmanager
def ended_by(progress: Progress, catalog: Catalog) -> Iterator[None]:
    """Leave the block, without an error, where SQLite reads the catalog when the work is cancelled."""
    reader, is_over = threading.get_ident(), threading.Event()

    def watch() -> None:
        while not is_over.wait(_LOOK):
            if progress.cancelled:
                catalog.interrupt(reader)

    watcher = threading.Thread(target=watch, name="memedex-interruption", daemon=True)
    watcher.start()
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
    finally:
        is_over.set()
        watcher.join()


def damaged_pages(catalog: Catalog, *, checked: CheckedBatches, progress: Progress) -> Iterator[str]:
    """What SQLite finds wrong with the pages, those of many vectors excepted; stops early if cancelled."""
    state = catalog_state(catalog)
    with catalog.reading() as db:
        parts = pages.parts(db)
    for part in parts:
        if progress.cancelled:
            return
        progress.what = f"reading the catalog: {part}" if part else "reading the catalog"
        faults = list[str]()
        with ended_by(progress, catalog):
            faults += checked.faults(("pages", part, state), partial(_page_faults, catalog, part))
        yield from faults


def damaged_vectors(catalog: Catalog, *, checked: CheckedBatches, progress: Progress) -> Iterator[Damage]:
    """Records with a vector that cannot be searched with, and vectors that cannot be read.

    Stops early if cancelled.
    """
    progress.what = "reading the vectors"
    state = catalog_state(catalog)
    count = count_vectors(catalog)
    for first in range(0, count, _BLOCK):
        if progress.cancelled:
            return
        yield from checked.faults(("vectors", first, state), partial(_unusable, catalog, first))
        progress.done += min(_BLOCK, count - first)


def count_vectors(catalog: Catalog) -> int:
    """How many vectors are stored at most, by the last row's number; 1 if that cannot be read."""
    with suppress(CatalogDamaged), catalog.reading() as db:
        return int(db.execute("SELECT coalesce(max(rowid), 0) FROM vectors").fetchone()[0])
    return 1


def _page_faults(catalog: Catalog, part: str) -> list[str]:
    with catalog.reading() as db:
        return pages.faults(db, part)


def _unusable(catalog: Catalog, first: int) -> list[Damage]:
    try:
        with catalog.reading() as db:
            rows = db.execute(
                "SELECT key, vector FROM vectors WHERE rowid BETWEEN ? AND ?", [first + 1, first + _BLOCK]
            ).fetchall()
            usable = are_usable([row["vector"] for row in rows])
            keys = [row["key"] for row, good in zip(rows, usable, strict=True) if not good]
            if not keys:
                return []
            users = db.execute(  # reads all embeddings
                "SELECT DISTINCT r.address FROM embeddings e JOIN records r ON r.id = e.record "
                "WHERE e.key IN (SELECT value FROM json_each(?)) ORDER BY r.id",
                [json.dumps(keys)],
            )
            return [Damage("a vector", row["address"]) for row in users]
    except CatalogDamaged as error:
        return [Damage(f"vectors from row {first + 1:,} on: {error.__cause__}")]


class SilentChange(NamedTuple):
    """A file with the expected size and time but other content."""

    address: str
    tier: Tier
    what: str
    expected: str  # hash of the content that was written


def silent_changes(
    catalog: Catalog, layout: Layout, *, checked: CheckedBatches, progress: Progress
) -> Iterator[SilentChange]:
    """Read every sidecar and picture that looks unchanged; stops early if cancelled."""
    progress.what = "reading the files"
    with ThreadPoolExecutor(_READERS, thread_name_prefix="memedex-check") as readers:
        for rows in _batches(catalog):
            if progress.cancelled:
                return
            files = [file for row in rows for file in _files(layout, row)]
            source = [(*file, _inode(file.path)) for file in files]
            yield from checked.faults(source, partial(_all_silent, readers, files))
            progress.done += len(rows)


def damaged_rows(
    catalog: Catalog, layout: Layout, *, checked: CheckedBatches, progress: Progress
) -> Iterator[Damage]:
    """What the lists say of a record differently from its text; stops early if cancelled."""
    progress.what = "comparing the catalog's rows"
    for first, last, count in _ranges(catalog):
        if progress.cancelled:
            return
        source = ("rows", first, last, catalog_state(catalog))
        yield from checked.faults(source, partial(repair.damaged_rows, catalog, layout, first, last))
        progress.done += count


def incomplete(
    catalog: Catalog, layout: Layout, embedder: Embedder, *, checked: CheckedBatches, progress: Progress
) -> Iterator[str]:
    """Library records without exactly this model's vectors; stops early if cancelled."""
    progress.what = "comparing the vectors"
    for first, last, count in _ranges(catalog):
        if progress.cancelled:
            return
        source = ("vectors", first, last, embedder.fingerprint, catalog_state(catalog))
        look = partial(reembed.incomplete, catalog, layout, embedder, between=(first, last))
        yield from checked.faults(source, look)
        progress.done += count


def catalog_state(catalog: Catalog) -> tuple[str, str]:
    """Size and time of the catalog and of what is not merged into it yet: they change with every commit."""
    log = catalog.path.with_name(f"{catalog.path.name}-wal")
    return stat_text(catalog.path), stat_text(log) if log.exists() and log.stat().st_size else ""


def _ranges(catalog: Catalog) -> Iterator[tuple[int, int, int]]:
    """The first and the last number of each batch of records, and how many they are."""
    for rows in _batches(catalog, columns="id"):
        yield rows[0]["id"], rows[-1]["id"], len(rows)


class _File(NamedTuple):
    address: str
    tier: Tier
    what: str
    path: Path
    stat: str  # as the catalog knows it
    expected: str  # hash of the content


def _batches(catalog: Catalog, *, columns: str = "*") -> Iterator[list[sqlite3.Row]]:
    """All records; no reading stays open between two batches, so that the log of changes can be merged."""
    last = -1
    while True:
        with catalog.reading() as db:
            rows = db.execute(
                f"SELECT {columns} FROM records WHERE id > ? ORDER BY id LIMIT ?", [last, _BATCH]
            ).fetchall()
        if not rows:
            return
        yield rows
        last = rows[-1]["id"]


def _files(layout: Layout, row: sqlite3.Row) -> Iterator[_File]:
    tier, address = row["tier"], row["address"]
    sidecar, image = layout.sidecar(tier, address), layout.image(tier, address)
    yield _File(address, tier, "sidecar", sidecar, row["sidecar_stat"], row["sidecar_hash"])
    yield _File(address, tier, "picture", image, row["image_stat"], row["image_hash"])


def _inode(path: Path) -> tuple[int, ...]:
    """What changes with the file: the time of its last change of any kind cannot be set back."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _all_silent(readers: ThreadPoolExecutor, files: list[_File]) -> list[SilentChange]:
    shares = [files[start::_READERS] for start in range(_READERS)]  # one by one would cost more than reading
    return [one for share in readers.map(_silent_among, shares) for one in share]


def _silent_among(files: list[_File]) -> list[SilentChange]:
    return [one for file in files if (one := _silent(file))]


def _silent(file: _File) -> SilentChange | None:
    found = file_hash(file.path)
    if found in (None, file.expected) or stat_text(file.path) != file.stat:
        return None
    return SilentChange(file.address, file.tier, file.what, file.expected)
