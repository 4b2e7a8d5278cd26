"""Restore a backup: verify it, copy it, exchange it for the library; or write files again from a catalog."""

import contextlib
import os
import shutil
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from store.backup.create import MANIFEST, PLACES, Manifest, damaged_files, digest_of, read_manifest
from store.catalog import checksums, pages
from store.catalog.catalog import OWNER, Catalog
from store.chroma.collections import COLLECTIONS
from store.chroma.contents import own_names
from store.chroma.place import ownership, remove_files
from store.disk.aside import PREFIX
from store.disk.exchange import STAGED, Exchange, alone, exchange, is_decided
from store.disk.files import Disk, absolute
from store.disk.layout import Layout
from store.disk.lock import WriterLock, holder_file
from store.disk.sqlite import refuse_replica, to_read
from store.errors import BadBackup, BadSource, CatalogDamaged, NotWritten
from store.outcome import Outcome, Refusal
from store.pictures.shared_pictures import SharedPictures, shared_pictures
from store.progress import Progress
from store.records import TIERS

BACKUPS = "backups"  # next to `memecoins`: what restores replaced


@dataclass(slots=True)
class RestoreReport(Outcome):
    """`done` are the restored files; if any is refused, nothing was restored."""

    replaced: Path | None = None  # where what was there before is kept
    fault: str = ""  # what is damaged in the restored catalog, as it was in the backup


def restore_backup(
    root: Path, source: Path, *, progress: Progress | None = None, disk: Disk | None = None
) -> RestoreReport:
    """Restore the backup after verifying each of its files; the current library is kept as a backup.

    If files are damaged they are refused and nothing is changed. Raises BadBackup if it is not a backup,
    LibraryInUse if another process writes, ReadOnly over a replica, NotWritten if the disk refuses. If
    cancelled, it changes nothing. Interrupted by a crash, it changes nothing either, or the next opening
    finishes it.
    """
    progress = progress or Progress()
    source, layout = absolute(source), Layout(root.resolve())
    refuse_replica(layout.catalog)
    listed = read_manifest(source)
    progress.what, progress.total = "verifying", len(listed.files)
    if damaged := list(damaged_files(source, listed, progress=progress)):
        return RestoreReport(refused=damaged)
    lock = WriterLock(layout.lock if has_library(listed) else _memory_lock(layout))
    lock.acquire()
    staged = layout.root / f"{STAGED}{token_hex(4)}"
    try:
        with alone(staged, layout.root):
            fault = _stage(source, staged, listed, progress)
            if progress.cancelled:
                return RestoreReport()
            replaced_folder = _exchange(layout, staged, lock, disk or Disk())
        return RestoreReport(done=list(listed.files), replaced=replaced_folder, fault=fault)
    except OSError as error:
        raise NotWritten(f"nothing was restored: {error}") from error
    finally:
        if not is_decided(staged):
            shutil.rmtree(staged, ignore_errors=True)
        lock.release()


def has_library(listed: Manifest) -> bool:
    """Whether the backup has coins; one of a text memory alone leaves those of the root as they are."""
    return any(name.startswith("memecoins/") for name in listed.files)


def _memory_lock(layout: Layout) -> Path:
    return layout.root / "memory" / layout.lock.name


def _stage(source: Path, staged: Path, listed: Manifest, progress: Progress) -> str:
    """Copy next to the library, never link, which would change the backup; returns the catalog's damage."""
    progress.what, progress.done = "copying", 0
    for name, expected in listed.files.items():
        if progress.cancelled:
            return ""
        target = staged / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target)
        if digest_of(target) != expected:
            raise BadBackup(f"{name} changed while it was read; nothing was restored")
        progress.done += 1
    fault = _make_ready(Layout(staged)) if has_library(listed) else ""
    if hasattr(os, "sync"):
        os.sync()
    return fault


def _make_ready(layout: Layout) -> str:
    """Make the folders of the tiers, mark Chroma to be rebuilt, and return what is damaged in the catalog."""
    layout.memecoins.mkdir(parents=True, exist_ok=True)
    for tier in TIERS:
        layout.sidecar_folder(tier).mkdir(parents=True, exist_ok=True)
        layout.image_folder(tier).mkdir(parents=True, exist_ok=True)
    if not layout.catalog.exists():
        return ""
    try:
        with contextlib.closing(sqlite3.connect(layout.catalog, isolation_level=None)) as db:
            checksums.install(db)
            db.execute("INSERT OR REPLACE INTO meta VALUES ('chroma_rebuild', '1')")
            return pages.first_fault(db) or checksums.first_fault(db)
    except sqlite3.Error as error:  # kept from a broken library
        return str(error)


def _exchange(layout: Layout, staged: Path, lock: WriterLock, disk: Disk) -> Path | None:
    """Move the old library away and the new one in place; returns where the old one is kept."""
    places = [name for name in PLACES if (staged / name).exists()]  # what else there is stays
    if _is_same(staged / "taxonomy.json", layout.root / "taxonomy.json"):
        places.remove("taxonomy.json")
    listed = _truth(layout, places)
    has_truth = bool(listed.files or own_names(layout.chroma))
    replaced = layout.root / BACKUPS / f"before-restore-{time.strftime('%Y%m%d-%H%M%S')}-{token_hex(2)}"
    aside = replaced if has_truth else staged / "before"
    disk.make_folder(aside)
    listed.write(aside)
    if os.name == "nt":  # Windows does not rename a folder that holds an open file
        lock.release()
    try:
        exchange(Exchange(layout.root, staged, aside, places), disk=disk)
    except OSError:
        with contextlib.suppress(OSError):  # nothing but the manifest is in it any more
            (aside / MANIFEST).unlink()
            aside.rmdir()
        raise
    with contextlib.suppress(OSError):  # only to save room
        _remove_own_chroma(Layout(aside))
        shutil.rmtree(Layout(aside).matrices, ignore_errors=True)
        shutil.rmtree(Layout(aside).thumbnails)
    return replaced if has_truth else None


def _remove_own_chroma(layout: Layout) -> None:
    """Remove Chroma's files if all of them are marked as made from the catalog next to them."""
    with (
        contextlib.suppress(sqlite3.Error),  # a broken catalog proves nothing
        contextlib.closing(sqlite3.connect(to_read(layout.catalog), uri=True)) as db,
    ):
        row = db.execute("SELECT value FROM meta WHERE key = ?", [OWNER]).fetchone()
        owners = dict.fromkeys(COLLECTIONS.values(), row[0]) if row else {}
        found = ownership(layout.chroma, owners=owners)
        if found.own and found.is_wholly_ours:
            remove_files(layout.chroma, found.contents.names)


def _truth(layout: Layout, places: list[str]) -> Manifest:
    """The files that could not be rebuilt: without locks, thumbnails, matrices and Chroma's files."""
    if layout.catalog.exists():
        with (
            contextlib.suppress(sqlite3.Error),  # a broken catalog is kept as it is
            contextlib.closing(sqlite3.connect(layout.catalog, isolation_level=None)) as db,
        ):
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    listed = Manifest()
    for place in (layout.root / name for name in places):
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.is_file() and not path.is_symlink() and not _is_derived(path, layout):
                listed.files[path.relative_to(layout.root).as_posix()] = digest_of(path)
    return listed


def _is_derived(path: Path, layout: Layout) -> bool:
    if path in (
        layout.lock,
        holder_file(layout.lock),
        _memory_lock(layout),
        holder_file(_memory_lock(layout)),
        layout.catalog.with_name(f"{layout.catalog.name}-shm"),
    ):
        return True
    if path.is_relative_to(layout.chroma):
        part = path.relative_to(layout.chroma).parts[0]
        return part not in ("images", "metadata") and not part.startswith(PREFIX)
    return path.is_relative_to(layout.thumbnails) or path.is_relative_to(layout.matrices)


def _is_same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and digest_of(one) == digest_of(other)


def restore_files(root: Path, *, progress: Progress) -> Outcome:
    """Write each sidecar and picture that is missing; a coin whose picture cannot be had is refused.

    What is there stays as it is; run again, it does what is left. Chroma is filled again when the library is
    opened. Raises BadBackup without a catalog or a shared place, CatalogDamaged if it was not restored whole,
    LibraryInUse while another process writes, ReadOnly for a replica.
    """
    layout, disk = Layout(root.resolve()), Disk()
    if not layout.catalog.is_file():
        raise BadBackup(f"{layout.catalog} is missing; restore it first, with Litestream")
    refuse_replica(layout.catalog)
    place = shared_pictures(layout)
    if place is None:
        raise BadBackup("MEMEDEX_PICTURES does not say where the pictures are")
    lock = WriterLock(layout.lock)
    lock.acquire()
    try:
        progress.what = "checking the catalog"
        _check(layout, disk)
        outcome = _restore(layout, disk, place, progress)
        with contextlib.closing(Catalog(layout.catalog, disk=disk, writable=True)) as catalog:
            catalog.set_meta("chroma_rebuild", "1")  # a server may have what was decided after this moment
        return outcome
    finally:
        lock.release()


def _check(layout: Layout, disk: Disk) -> None:
    """Check what Litestream restored, before the files of a whole library follow from it."""
    try:
        with contextlib.closing(Catalog(layout.catalog, disk=disk, writable=False)) as catalog:
            fault = catalog.first_fault()
    except CatalogDamaged as error:
        fault = str(error.__cause__)
    if fault:
        raise CatalogDamaged(
            f"{layout.catalog} was not restored whole ({fault}); no file was written. Delete it and run "
            "`litestream restore` again, with -timestamp for an earlier moment if that does not help"
        )


def _restore(layout: Layout, disk: Disk, place: SharedPictures, progress: Progress) -> Outcome:
    catalog, outcome = Catalog(layout.catalog, disk=disk, writable=False), Outcome()
    folders = {find(tier) for tier in TIERS for find in (layout.sidecar_folder, layout.image_folder)}
    for folder in folders:
        disk.make_folder(folder)
    try:
        with catalog.reading() as db:
            (total,) = db.execute("SELECT count(*) FROM records").fetchone()
            progress.what, progress.total = "restoring files", total
            for address, tier, image_hash, text in db.execute(
                "SELECT r.address, r.tier, r.image_hash, s.text FROM records r "
                "JOIN sidecars s ON s.hash = r.sidecar_hash ORDER BY r.address"
            ):
                if progress.cancelled:
                    break
                sidecar, image = layout.sidecar(tier, address), layout.image(tier, address)
                try:
                    if lacked := not sidecar.exists():
                        _write(disk, sidecar, text.encode())
                    if not image.exists():
                        picture = place.read(image_hash)
                        if picture is None:
                            raise BadSource(f"its picture is not in {place.address}")
                        _write(disk, image, picture)
                        lacked = True
                    if lacked:
                        outcome.done.append(address)
                except BadSource as error:
                    outcome.refused.append(Refusal(address, str(error)))
                progress.done += 1
        disk.fsync_folders(folders)
    finally:
        catalog.close()
    return outcome


def _write(disk: Disk, path: Path, content: bytes) -> None:
    """As `Disk.replace`, but the folders are synced once, after all files."""
    temporary = path.with_name(f".{path.name}.new")
    disk.write(temporary, content)
    disk.rename(temporary, path)
