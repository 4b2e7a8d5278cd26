"""Make the catalog agree with the sidecars: on opening by size and time, in doctor by content.

`recover` is what happens at every opening, such as after a crash between two files: what was decided is
finished, what was only staged is removed, and edits made outside are applied.

All files are compared without a lock; what differs is applied in parts, each under the lock of the catalog,
so that a large library can be used meanwhile: `FileComparison` does so in the background, once after the
opening. Until then, a record may be listed as it was before its files were changed. No decision is made on
such a record: the journal compares the files of the records that it changes (`store/writing/journal.py`).
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

from store.catalog import blockers, history
from store.catalog import rows as catalog_rows
from store.catalog.catalog import DISK_ERRORS, Catalog, next_generation
from store.disk.aside import Aside, finish_moves
from store.disk.files import Disk
from store.disk.layout import Layout
from store.disk.lock import FairLock, WriterLock
from store.disk.sidecars import CoinFiles, read
from store.embedding import resolve
from store.embedding.protocol import Embedder
from store.errors import BadPicture, InvalidRecord, LibraryStuck
from store.jobs.background_worker import Worker
from store.operations import Change, Operation, State, state_json
from store.progress import Progress
from store.records import Tier
from store.settings import settings
from store.writing import salvage
from store.writing.differences import LostFolder, find_differences, find_suspects, is_large
from store.writing.journal import Journal

OUTSIDE = "outside the program"  # who changed a file that we did not
_PART = 4096  # records whose differences are applied at once
_LOOK = "its files were changed outside the program; look at it before it goes on"
# Of a record in several tiers that the catalog does not know: the one most has been done for counts.
_LATER_FIRST: tuple[Tier, ...] = ("library", "approved", "pending", "trash")


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem with a record's files, in words for people."""

    address: str
    reason: str
    remedy: str
    stray: tuple[Path, ...] = ()  # files that count for nothing
    lost: tuple[Tier, str] | None = None  # a sidecar that is gone: its tier and the hash of its text
    damaged: tuple[Tier, str] | None = None  # a picture that decayed: its tier and the hash it had


@dataclass(slots=True)
class Survey:
    """How the files differ from the catalog."""

    stats: dict[str, tuple[str, str]] = field(default_factory=dict)  # size and time, before they were read
    touched: list[str] = field(default_factory=list)  # same content, other size or time
    changed: list[Change] = field(default_factory=list)
    gone: list[sqlite3.Row] = field(default_factory=list)  # both files removed by hand
    texts: dict[str, str] = field(default_factory=dict)  # of the changed sidecars, by hash
    faults: list[Fault] = field(default_factory=list)  # what cannot be taken in


def reconcile(catalog: Catalog, layout: Layout, *, progress: Progress | None = None) -> list[Fault]:
    """Apply edits made to the files outside the program; returns what could not be applied.

    A full disk does not keep a library from opening: the result says which edits wait for room.
    """
    progress = progress or Progress()
    suspects = find_suspects(catalog, layout, progress=progress)
    faults = [_folder_lost(folder) for folder in suspects.lost]
    decision, left = uuid4().hex, sorted(suspects.addresses)
    progress.what, progress.done, progress.total = "looking at the files", 0, len(left)
    for start in range(0, len(left), _PART):
        if progress.cancelled:
            break
        with catalog.lock:
            found = _survey(catalog, layout, left[start : start + _PART], progress=progress)
            try:
                faults += apply_survey(found, catalog, decision=decision)
            except DISK_ERRORS as error:
                waiting = [change.address for change in found.changed]
                waiting += [row["address"] for row in found.gone]
                reason = f"it was changed outside the program, and that cannot be imported: {error}"
                faults += found.faults
                faults += [Fault(address, reason, "free disk space, then repair") for address in waiting]
    return faults


def reconcile_addresses(catalog: Catalog, layout: Layout, addresses: Collection[str]) -> dict[str, str]:
    """Apply outside edits of these records' files; returns what to tell those who want to decide on them.

    Deleted files, and those of library records, wait for a repair, which may need the model or a backup.
    """
    with catalog.lock:
        found = _survey(catalog, layout, addresses)
        few = replace(
            found, changed=[change for change in found.changed if change.after.tier != "library"], gone=[]
        )
        try:
            faults = {fault.address: fault.reason for fault in apply_survey(few, catalog)}
        except DISK_ERRORS:
            return {}
    taken = {*few.touched, *(change.address for change in few.changed)} - faults.keys()
    outside = "its files were changed outside the program"
    return {
        **dict.fromkeys(taken, f"{outside}; they count now, look at it again"),
        **{address: f"{outside}, and cannot be imported: {reason}" for address, reason in faults.items()},
    }


def survey(catalog: Catalog, layout: Layout, *, progress: Progress | None = None) -> Survey:
    """Compare files and catalog by size and time, and read what differs; writes nothing."""
    progress = progress or Progress()
    suspects = find_suspects(catalog, layout, progress=progress)
    progress.what, progress.done, progress.total = "looking at the files", 0, len(suspects.addresses)
    found = _survey(catalog, layout, suspects.addresses, progress=progress)
    found.faults[:0] = [_folder_lost(folder) for folder in suspects.lost]
    return found


def _survey(
    catalog: Catalog, layout: Layout, addresses: Collection[str], *, progress: Progress | None = None
) -> Survey:
    """`survey` of these records alone."""
    found, progress = Survey(), progress or Progress()
    differences = find_differences(catalog, layout, addresses)
    rows, files = differences.rows, differences.files
    for address, tiers in files.items():
        row = rows.get(address)
        tier = _chosen(tiers, row)
        for other in tiers.keys() - {tier}:
            stray = _existing(layout, other, address)
            reason = f"also lies in {other}; the one in {tier} counts"
            found.faults.append(Fault(address, reason, "repair sets the other aside", stray))
        _compare(found, layout, address, row, tier, tiers[tier])
        progress.done += 1
    found.gone = [row for address, row in rows.items() if address not in files]
    return found


def apply_survey(found: Survey, catalog: Catalog, *, decision: str = "") -> list[Fault]:
    """Apply outside edits, each with a history event; returns what could not be applied."""
    faults = list(found.faults)
    if not (found.touched or found.changed or found.gone):
        return faults
    now, decision = time.time(), decision or uuid4().hex
    with catalog.writing() as db:
        generation = next_generation(db)
        for address in found.touched:
            db.execute(
                "UPDATE records SET sidecar_stat = ?, image_stat = ? WHERE address = ?",
                [*found.stats[address], address],
            )
        db.executemany("INSERT OR IGNORE INTO sidecars VALUES (?, ?)", found.texts.items())
        taken = []
        for change in found.changed:
            if _put(db, change, stats=found.stats[change.address], now=now, generation=generation):
                taken.append(change)
            else:
                reason = "differs only in upper and lower case from another record's address"
                faults.append(Fault(change.address, reason, "rename one of the two"))
        if taken:
            history.record(db, Operation(uuid4().hex, decision, "change", OUTSIDE, now, tuple(taken)))
        of_others = {change.address: _LOOK for change in taken if change.after.tier == "approved"}
        if of_others:
            blockers.store(db, of_others)
        for row in found.gone:
            _remove(db, row, now=now, decision=decision, generation=generation)
    return faults


def is_stale(catalog: Catalog, layout: Layout) -> bool:
    """Whether the files differ from the catalog, by size and time alone.

    Those of a large library are left to the program that writes, for which a reader would wait.
    """
    with catalog.reading() as db:
        if db.execute("SELECT 1 FROM journal").fetchone():
            return True
    return not is_large(catalog) and bool(find_suspects(catalog, layout).addresses)


def _chosen(tiers: dict[Tier, CoinFiles], row: sqlite3.Row | None) -> Tier:
    """The tier of a record: as the catalog says, else the later one; a tier with a sidecar wins."""
    known: Tier | None = row["tier"] if row else None
    with_sidecar = [tier for tier in _LATER_FIRST if tier in tiers and tiers[tier].sidecar]
    if known in tiers and (known in with_sidecar or not with_sidecar):
        return known
    return with_sidecar[0] if with_sidecar else next(iter(tiers))


def _compare(
    found: Survey, layout: Layout, address: str, row: sqlite3.Row | None, tier: Tier, pair: CoinFiles
) -> None:
    known = (row["tier"], row["sidecar_stat"], row["image_stat"]) if row else None
    if known == (tier, pair.sidecar, pair.image) and pair.sidecar and pair.image:
        return
    if not pair.sidecar:
        found.faults.append(_without_sidecar(layout, address, row, tier))
    elif not pair.image:
        remedy = "put the picture back from a backup, or remove the sidecar as well"
        found.faults.append(Fault(address, f"its picture is missing in {tier}", remedy))
    else:
        try:
            state, content = read(layout, tier, address)
        except InvalidRecord as error:
            remedy = "fix the file, or repair to restore what the catalog has" if row else "fix the file"
            lost = (tier, row["sidecar_hash"]) if row else None
            found.faults.append(Fault(address, str(error), remedy, lost=lost))
            return
        before = catalog_rows.state_of(row) if row else None
        is_new_picture = before is None or before.image_hash != state.image_hash
        if row and before and is_new_picture and _size(row["image_stat"]) == _size(pair.image):
            found.faults.append(_decayed(address, tier, before.image_hash))
            return
        if is_new_picture and (reason := _unusable(layout.image(tier, address))):
            remedy = "put the picture back from a backup, or remove the sidecar as well"
            found.faults.append(Fault(address, f"its picture in {tier} cannot be used: {reason}", remedy))
            return
        found.stats[address] = pair.sidecar, pair.image
        if before and before.tier == tier:
            state = State(tier, state.sidecar_hash, state.image_hash, before.came_from)
        if state == before:
            found.touched.append(address)
        else:
            found.texts[state.sidecar_hash] = content.decode()
            found.changed.append(Change(address, before, state, row["revision"] if row else 0))


def _size(stat: str) -> str:
    return stat.partition(":")[0]


def _decayed(address: str, tier: Tier, image_hash: str) -> Fault:
    """A picture of the same size with other content: a person who edits one saves another size."""
    return Fault(
        address,
        f"its picture in {tier} is damaged: it is as long as the one that was written, with other bytes",
        "put the picture back from a backup (repair does it with MEMEDEX_PICTURES), or save it again in an "
        "image editor to take it as it is",
        damaged=(tier, image_hash),
    )


def _unusable(picture: Path) -> str:
    """Why this picture cannot be used; "" if it can. One that cannot be decoded could never be embedded."""
    from store.disk.images import decode  # brings Pillow along

    try:
        decode(picture)
    except BadPicture as error:
        return str(error)
    return ""


def _without_sidecar(layout: Layout, address: str, row: sqlite3.Row | None, tier: Tier) -> Fault:
    if row and row["tier"] == tier:
        remedy = "repair writes it again from the catalog"
        return Fault(address, "its sidecar is missing", remedy, lost=(tier, row["sidecar_hash"]))
    stray = _existing(layout, tier, address)
    return Fault(address, f"a picture in {tier} without a sidecar", "repair sets it aside", stray)


def _put(
    db: sqlite3.Connection, change: Change, *, stats: tuple[str, str], now: float, generation: int
) -> bool:
    db.execute("SAVEPOINT one")
    try:
        catalog_rows.upsert(
            db, change.address, change.after, stats=stats, now=now, generation=generation, embeddings={}
        )
    except sqlite3.IntegrityError:
        db.execute("ROLLBACK TO one")
        return False
    finally:
        db.execute("RELEASE one")
    if "library" in (change.after.tier, change.before and change.before.tier):
        db.execute("INSERT OR REPLACE INTO chroma_queue VALUES (?, ?)", [change.address, generation])
    return True


def _remove(db: sqlite3.Connection, row: sqlite3.Row, *, now: float, decision: str, generation: int) -> None:
    catalog_rows.remove(db, row["id"])
    db.execute(
        "INSERT INTO history (decision, verb, address, at, who, reason, before, after) "
        "VALUES (?, 'remove', ?, ?, ?, 'its files were removed', ?, NULL)",
        [decision, row["address"], now, OUTSIDE, state_json(catalog_rows.state_of(row))],
    )
    db.execute("INSERT OR REPLACE INTO chroma_queue VALUES (?, ?)", [row["address"], generation])


def _folder_lost(folder: LostFolder) -> Fault:
    about = f"the files of {folder.records:,} {folder.tier} records"
    if folder.is_taken:
        reason = f"{folder.path} is no folder, which keeps {about} from being found"
        return Fault("", reason, "repair sets aside what is there", (folder.path,))
    reason = f"the folder {folder.path} is gone, with {about}"
    other = " (or restore-files writes it again, with MEMEDEX_PICTURES)" if settings().pictures else ""
    return Fault(
        "",
        reason,
        f"restore it from a backup or from where it was moved{other}; repair removes its records from the "
        "catalog",
    )


def _existing(layout: Layout, tier: Tier, address: str) -> tuple[Path, ...]:
    return tuple(p for p in (layout.sidecar(tier, address), layout.image(tier, address)) if p.exists())


class FileComparison:
    """One comparison of all files; `applied` receives what could not be imported."""

    def __init__(
        self, catalog: Catalog, layout: Layout, *, applied: Callable[[list[Fault]], None], turn: FairLock
    ) -> None:
        self._catalog = catalog
        self._layout = layout
        self._applied = applied
        self._is_over = False
        self._progress = Progress()
        self.worker = Worker("comparing the files with the catalog", self._work, is_unhurried=True, turn=turn)
        self.worker.wake()

    @property
    def under_way(self) -> tuple[int, int] | None:
        """How much is done, and of how much (0: not known yet); None when all is."""
        return None if self._is_over else (self._progress.done, self._progress.total)

    def _work(self, progress: Progress) -> None:
        self._progress = progress
        faults = reconcile(self._catalog, self._layout, progress=progress)
        if not progress.cancelled:  # else the next opening begins again
            self._is_over = True
            self._applied(faults)


def recover(
    catalog: Catalog,
    layout: Layout,
    journal: Journal,
    embedder: Embedder | None,
    *,
    disk: Disk,
    progress: Progress | None = None,
    compares_files: bool = True,
) -> list[Fault]:
    """Finish the journal, and take outside edits if `compares_files`; returns what could not be applied."""

    def note(aside: Aside) -> None:
        with catalog.writing() as db:
            history.record_aside(db, aside, root=layout.root)

    if not catalog.meta("model"):
        catalog.set_meta("model", embedder.name if embedder else resolve(settings().embedder))
    with catalog.lock:
        with contextlib.suppress(LibraryStuck):  # it opens all the same, and says so
            journal.finish_all()
        journal.remove_undecided()  # what stays is tried again by the next opening
    finish_moves(layout.memecoins, note=note, disk=disk)
    return reconcile(catalog, layout, progress=progress) if compares_files else []


def bring_up_to_date(layout: Layout, embedder: Embedder | None, *, progress: Progress | None = None) -> None:
    """Write briefly on behalf of a reader; opens neither a model nor Chroma."""
    lock = WriterLock(layout.lock)
    lock.acquire()
    try:
        salvage.recover_lost(layout)
        disk = Disk()
        catalog = Catalog(layout.catalog, disk=disk, writable=True)
        try:
            journal = Journal(catalog, layout, disk)
            recover(catalog, layout, journal, embedder, disk=disk, progress=progress)
        finally:
            catalog.close()
    finally:
        lock.release()
