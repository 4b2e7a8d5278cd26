"""Checks of every record, in batches: its files by content, its row by its text, its vectors."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from store.catalog.catalog import Catalog
from store.disk.files import file_hash
from store.disk.layout import Layout
from store.disk.stats import stat_text
from store.embedding import reembed
from store.embedding.protocol import Embedder
from store.maintenance import repair
from store.maintenance.checked_batches import CheckedBatches
from store.maintenance.repair import Damage
from store.progress import Progress
from store.records import Tier

_BATCH = 500  # records: a second's work at most, which is what an interruption waits for and loses
_READERS = 4  # files at once: a disk answers several requests in the time of one


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
