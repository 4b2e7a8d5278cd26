"""Write a library's files again from its catalog and the shared pictures, after its disk was lost.

The catalog comes from Litestream (`litestream restore`), as `docs/scaling.md` describes.
"""

import contextlib
from pathlib import Path

from store.catalog.catalog import Catalog
from store.disk.files import Disk
from store.disk.layout import Layout
from store.disk.lock import WriterLock
from store.disk.replica import refuse_replica
from store.errors import BadBackup, BadSource, CatalogDamaged
from store.outcome import Outcome, Refusal
from store.pictures.shared_pictures import SharedPictures, shared_pictures
from store.progress import Progress
from store.records import TIERS


def restore_files(root: Path, *, progress: Progress) -> Outcome:
    """Write each sidecar and picture that is missing; a coin whose picture cannot be had is refused.

    What is there stays as it is; run again, it does what is left. Chroma is filled again when the library is
    opened. Raises BadBackup without a catalog or a shared place, CatalogDamaged if it was not restored whole,
    LibraryInUse beside a process that writes, ReadOnly for a replica.
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
