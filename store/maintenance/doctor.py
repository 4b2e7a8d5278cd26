"""Check a library from the files up, and repair what can be repaired."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from store.catalog import snapshots
from store.catalog.catalog import DISK_ERRORS, Catalog, is_made
from store.chroma.follower import LibraryFollower
from store.chroma.place import is_there
from store.chroma.server import ChromaServer
from store.disk.aside import KEPT
from store.disk.files import Disk, content_hash
from store.disk.layout import Layout
from store.disk.lock import WriterLock
from store.disk.replica import is_replica, refuse_replica
from store.disk.sidecars import blocked
from store.embedding import reembed
from store.errors import BadSource, CatalogDamaged, CatalogTooNew, ForeignFile, MemedexError, ModelUnavailable
from store.maintenance import checks
from store.maintenance import repair as maintenance_repair
from store.maintenance.checks import CheckedBatches, SilentChange, catalog_state, ended_by
from store.maintenance.repair import Damage
from store.pictures.shared_pictures import shared_pictures
from store.progress import Progress
from store.reading.reader import Reader
from store.records import Tier
from store.tags import taxonomy_file
from store.writing import reconcile
from store.writing.journal import set_aside
from store.writing.salvage import is_lost, last_copy

if TYPE_CHECKING:
    from store.library import Library

_REBUILDS = "repair rebuilds Chroma from the catalog"
_FOLLOWS = "nothing is lost, Chroma follows when the server answers"
_FIRST = "nothing else is looked at before"
_BACKUP = "put it back from a backup; repair does it with MEMEDEX_PICTURES"
_SALVAGE = "close the program; doctor --repair on the command line makes a new one from it"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """A problem in words for people, and its remedy."""

    what: str
    remedy: str
    address: str = ""
    is_fault: bool = True  # no: it is only to be known, and nothing has to be mended


STOPPED = DoctorFinding("the check was stopped before its end", "run it again: it goes on where it was")


class _Work(NamedTuple):
    """One check: what is known to be sound already, and how far it is."""

    checked: CheckedBatches
    progress: Progress


def check(reader: Reader, *, progress: Progress | None = None) -> list[DoctorFinding]:
    """All problems; an empty list means that files, catalog and Chroma agree.

    A check that is cancelled or killed goes on where it was when it is run again within a day; what changed
    since is checked again. Only the process that writes opens Chroma: two processes on its folder lose
    vectors. A replica has no files, and what is not finished is finished where it is written.
    """
    work = _Work(CheckedBatches(reader.layout.unfinished_check), progress or Progress())
    return _check(reader, work)


def check_unopened(root: Path, *, progress: Progress | None = None) -> list[DoctorFinding]:
    """The same for a library that no process has open, Chroma included; repairs nothing.

    A restore that was interrupted is finished, as at every opening.

    Raises LibraryInUse if another process writes, ReadOnly for a replica.
    """
    layout = Layout(root.resolve())
    refuse_replica(layout.catalog)
    lock = WriterLock(layout.lock)
    lock.acquire()
    try:
        if not is_made(layout.catalog):
            what, source = "there is no catalog, or one of an earlier version", "the sidecars"
            if is_lost(layout):
                what, source = "the catalog is gone", f"the sidecars and its last copy ({last_copy(layout)})"
            return [DoctorFinding(what, f"opening the library makes it from {source}; repair does it now")]
        try:
            reader = Reader(root)
        except (CatalogTooNew, ForeignFile) as error:
            return [DoctorFinding(str(error), _FIRST)]
        with reader:
            found = check(reader, progress=progress)
            return found if progress and progress.cancelled else [*found, *_unopened_chroma(reader)]
    finally:
        lock.release()


def repair(
    library: "Library", *, progress: Progress | None = None, tell: Callable[[str], None] = lambda _: None
) -> list[DoctorFinding]:
    """Repair everything possible without discarding anything; returns the remaining problems.

    Cancelled, it keeps what it repaired, and the next run goes on like a check.
    `tell` receives a sentence for each deleted file that a decided change needed.
    """
    library.catalog.check_writable()
    with contextlib.suppress(MemedexError, *DISK_ERRORS):  # no room, or damaged: repairing helps all the same
        library.catalog.keep_snapshot("repair")
    maintenance_repair.mend(library.catalog, library.layout, tell=tell)
    for done in library.finish_without_missing_files():
        tell(done)
    work = _Work(CheckedBatches(library.layout.unfinished_check), progress or Progress())
    _notice_silent_changes(library, work)
    if work.progress.cancelled:
        return [STOPPED]
    for tier, (_, is_taken) in blocked(library.layout).items():
        if not is_taken:  # the person who repairs was warned, and gives up its records
            for folder in (library.layout.sidecar_folder(tier), library.layout.image_folder(tier)):
                Disk().make_folder(folder)
    for fault in reconcile.survey(library.catalog, library.layout).faults:
        _mend(fault, library)
    library.apply_external_edits()
    with contextlib.suppress(ModelUnavailable):  # the check below says what is missing
        is_damaged = any(_damaged_vectors(library.catalog, work))
        if is_damaged:
            reembed.delete_damaged(library.catalog)
        if is_damaged or reembed.incomplete(library.catalog, library.layout, library.embedder):
            library.embed_all(library.embedder, progress=work.progress)
    if library.check_chroma() and is_there():  # a server that is away catches up when it is back
        library.rebuild_chroma()
    library.wait_for_chroma()
    return _check(library, work)


def _check(reader: Reader, work: _Work) -> list[DoctorFinding]:
    parts = [_catalog, _moved_aside]
    if not is_replica(reader.layout.catalog):
        parts = [_catalog, _operations, _files, _vectors, _chroma, _copies, _moved_aside]
        total = 3 * sum(reader.counts().values()) + checks.count_vectors(reader.catalog)
        work.progress.done, work.progress.total = 0, total
    found: list[DoctorFinding] = []
    for part in parts:
        try:
            found.extend(part(reader, work))
        except CatalogDamaged as error:
            return [*found, DoctorFinding(str(error), _FIRST)]
        if work.progress.cancelled:
            return [*found, STOPPED]
    work.checked.finish()
    return found


def _catalog(reader: Reader, work: _Work) -> Iterator[DoctorFinding]:
    catalog, checked, progress = reader.catalog, work.checked, work.progress
    for fault in checks.damaged_pages(catalog, checked=checked, progress=progress):
        yield DoctorFinding(f"the catalog is damaged: {fault}", _SALVAGE)
    progress.what = "reading the texts"
    damages = list[Damage]()
    with ended_by(progress, catalog):
        look = partial(maintenance_repair.damaged_texts, catalog)
        damages += checked.faults(("texts", catalog_state(catalog)), look)
    damages += checks.damaged_rows(catalog, reader.layout, checked=checked, progress=progress)
    for damage in damages:
        what = f"{damage.what} in the catalog is not what was written"
        yield DoctorFinding(what, "repair gives it back, from the files or a copy", damage.address)


def _operations(reader: Reader, _: _Work) -> Iterator[DoctorFinding]:
    status = reader.status()
    for address in status.applying:
        cause = status.stuck or "the program was ended in the middle"
        remedy = (
            "remove the cause, then repair" if status.stuck else "it is finished on opening, or by repair"
        )
        yield DoctorFinding(f"a change is decided but not finished: {cause}", remedy, address)
    try:
        reader.taxonomy.knows("")
    except BadSource as error:
        yield DoctorFinding(str(error), "repair sets it aside whole and writes the last one that was decided")
    if taxonomy_file.waiting(reader.catalog):
        what = f"the taxonomy was changed, but {reader.layout.own_taxonomy} could not be written"
        yield DoctorFinding(what, "make room or fix the permission, then repair")


def _files(reader: Reader, work: _Work) -> Iterator[DoctorFinding]:
    work.progress.what = "looking for changed files"
    found = reconcile.survey(reader.catalog, reader.layout)
    for fault in found.faults:
        yield DoctorFinding(fault.reason, fault.remedy, fault.address)
    for change in found.changed:
        yield DoctorFinding(
            "its files were changed outside the program", "repair imports them", change.address
        )
    for row in found.gone:
        yield DoctorFinding(
            "its files were removed", "restore a backup; otherwise repair removes the record", row["address"]
        )
    for one in _silent_changes(reader, work):
        remedy = "repair writes it again from the catalog" if one.what == "sidecar" else _BACKUP
        yield DoctorFinding(f"its {one.what} in {one.tier} is not what was written", remedy, one.address)


def _silent_changes(reader: Reader, work: _Work) -> Iterator[SilentChange]:
    return checks.silent_changes(reader.catalog, reader.layout, checked=work.checked, progress=work.progress)


def _notice_silent_changes(library: "Library", work: _Work) -> None:
    total = sum(library.counts().values()) + checks.count_vectors(library.catalog)
    work.progress.done, work.progress.total = 0, total
    for one in list(_silent_changes(library, work)):
        if (
            one.what == "sidecar"
            and content_hash(library.sidecar_text(one.expected).encode()) == one.expected
        ):
            _mend(reconcile.Fault(one.address, "", "", lost=(one.tier, one.expected)), library)
        column = "image_stat" if one.what == "picture" else "sidecar_stat"
        with library.catalog.writing() as db:  # its time counts no longer, its size does
            shorter = f"UPDATE records SET {column} = substr({column}, 1, instr({column}, ':'))"
            db.execute(f"{shorter} WHERE address = ?", [one.address])


def _vectors(reader: Reader, work: _Work) -> Iterator[DoctorFinding]:
    for damage in _damaged_vectors(reader.catalog, work):
        if damage.address:
            yield DoctorFinding("a vector of it is damaged", "repair embeds it again", damage.address)
        else:
            yield DoctorFinding(f"the catalog is damaged: {damage.what}", _SALVAGE)
    try:
        wrong = [
            *checks.incomplete(
                reader.catalog, reader.layout, reader.embedder, checked=work.checked, progress=work.progress
            )
        ]
        if (
            wrong
            and len(wrong) == reader.counts()["library"]
            and reembed.is_outdated(reader.catalog, reader.embedder)
        ):
            what = f"all vectors are of an earlier version of {reader.model}, with which searches go on"
            yield DoctorFinding(
                what, "the dashboard computes them again by itself, repair now", is_fault=False
            )
            return
        for address in wrong:
            what = f"its vectors are not those of {reader.model}"
            yield DoctorFinding(what, "repair embeds it again", address)
    except ModelUnavailable as error:
        yield DoctorFinding(f"the model cannot be used: {error}", "or choose another: model NAME")


def _damaged_vectors(catalog: Catalog, work: _Work) -> Iterator[Damage]:
    return checks.damaged_vectors(catalog, checked=work.checked, progress=work.progress)


def _chroma(reader: Reader, _: _Work) -> Iterator[DoctorFinding]:
    status, server = reader.status(), ChromaServer.configured()
    if server and not is_there():
        yield DoctorFinding(status.chroma_fault or f"{server} does not answer", _FOLLOWS)
        return
    if status.chroma_fault:
        yield DoctorFinding(f"Chroma is behind: {status.chroma_fault}", _REBUILDS)
    elif status.chroma_behind:
        yield DoctorFinding(f"Chroma is {status.chroma_behind:,} records behind", "it catches up by itself")
    for fault in reader.check_chroma():
        yield DoctorFinding(fault, _REBUILDS)
    if server and server.lets_everybody_in():
        what = f"{server.url} ignores keys and lets everybody in"
        yield DoctorFinding(what, "put it behind a proxy or on a private network", is_fault=False)


def _unopened_chroma(reader: Reader) -> Iterator[DoctorFinding]:
    if not is_there():  # named already
        return
    with contextlib.closing(Catalog(reader.layout.catalog, disk=Disk(), writable=True)) as catalog:
        for fault in LibraryFollower(catalog, reader.layout, model=lambda: reader.model).check():
            yield DoctorFinding(fault, _REBUILDS)


def _copies(reader: Reader, _: _Work) -> Iterator[DoctorFinding]:
    if shortage := snapshots.shortage(reader.layout.catalog):
        yield DoctorFinding(shortage, "free disk space, or keep a backup elsewhere", is_fault=False)


def _moved_aside(reader: Reader, _: _Work) -> Iterator[DoctorFinding]:
    """One finding for all that lies aside: what it is, and that it may be adopted until it was."""
    if aside := reader.moved_aside():
        from store.adopting.three_tiers import waiting

        remedy = KEPT
        if vectors := waiting(reader):
            offer = f"`adopt {reader.layout.memecoins}` takes over its tags and {vectors:,} vectors"
            remedy = f"{offer}; Memedex never removes it"
        yield DoctorFinding("; ".join(one.summary for one in aside), remedy, is_fault=False)


def _put_picture_back(address: str, tier: Tier, image_hash: str, *, layout: Layout) -> None:
    """Exchange a damaged picture for the one of the shared place, if that has it; the damaged one is kept."""
    place, disk = shared_pictures(layout), Disk()
    with contextlib.suppress(BadSource):  # the place does not answer: the check says what is damaged
        if place and (content := place.read(image_hash)):
            set_aside(layout.image(tier, address), layout, disk)
            disk.replace(layout.image(tier, address), content)


def _mend(fault: reconcile.Fault, library: "Library") -> None:
    disk = Disk()
    if fault.damaged:
        _put_picture_back(fault.address, *fault.damaged, layout=library.layout)
    sidecar = library.layout.sidecar(fault.lost[0], fault.address) if fault.lost else None
    for path in (*fault.stray, *([sidecar] if sidecar and sidecar.exists() else [])):
        set_aside(path, library.layout, disk)
    if fault.lost and sidecar:
        disk.replace(sidecar, library.sidecar_text(fault.lost[1]).encode())
