"""Check a library from the files up, and repair what can be repaired."""

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from store.catalog import pages, snapshots
from store.catalog.catalog import DISK_ERRORS, Catalog, is_made
from store.chroma import catalog_source
from store.chroma.place import is_there
from store.chroma.server import ChromaServer
from store.disk.aside import KEPT
from store.disk.files import Disk, content_hash, file_hash
from store.disk.layout import Layout
from store.disk.lock import WriterLock
from store.disk.sidecars import blocked, stat_text
from store.disk.sqlite import is_replica, refuse_replica
from store.embedding import embedding_cache
from store.embedding.protocol import are_usable
from store.errors import BadSource, CatalogDamaged, CatalogTooNew, ForeignFile, MemedexError, ModelUnavailable
from store.maintenance import repair as maintenance_repair
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

_T = TypeVar("_T")
_FORM = 1  # what was checked by an earlier version of these checks counts no longer
_VALID = 86_400.0  # seconds after the last batch: a disk that decays says so by nothing but its content
_LOOK = 0.1  # seconds
_BLOCK = 4_000  # vectors: what an interruption waits for and loses
_BATCH = 500  # records: a second's work at most, which is what an interruption waits for and loses
_READERS = 4  # files at once: a disk answers several requests in the time of one


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


class _CheckRun:
    """One run of a check: how far it is, and which batches an earlier run found sound.

    A batch is known by everything it was read from, so one that changed since is checked again, and so is
    one with a fault. The file of sound batches is deleted at the end; a folder that cannot be written to
    costs no more than the memory of an interruption.
    """

    def __init__(self, path: Path, progress: Progress | None) -> None:
        self.progress = progress or Progress()
        self._path = path
        self._sound: set[str] = set()
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime < _VALID:
                self._sound.update(path.read_text("ascii", errors="replace").split())
            else:
                path.unlink()

    def faults(self, source: object, look: Callable[[], list[_T]]) -> Iterator[_T]:
        """What is wrong with a batch; none is read again whose `source` (files' sizes, times) was sound."""
        key = content_hash(repr((_FORM, source)).encode())
        if key in self._sound:
            return
        found = look()
        if not found:
            self._sound.add(key)
            with contextlib.suppress(*DISK_ERRORS), self._path.open("a", encoding="ascii") as file:
                file.write(f"{key}\n")
        yield from found

    def each(self, batches: Iterable[tuple[int, object, Callable[[], list[_T]]]]) -> Iterator[_T]:
        """What is wrong with these batches, each with its size, source and look; stops early if cancelled."""
        for size, source, look in batches:
            if self.progress.cancelled:
                return
            yield from self.faults(source, look)
            self.progress.done += size

    def finish(self) -> None:
        """Forget all: the next check begins from nothing."""
        self._sound.clear()
        with contextlib.suppress(*DISK_ERRORS):
            self._path.unlink(missing_ok=True)


def check(reader: Reader, *, progress: Progress | None = None) -> list[DoctorFinding]:
    """All problems; an empty list means that files, catalog and Chroma agree.

    A check that is cancelled or killed goes on where it was when it is run again within a day; what changed
    since is checked again. Only the process that writes opens Chroma: two processes on its folder lose
    vectors. A replica has no files, and what is not finished is finished where it is written.
    """
    return _check(reader, _CheckRun(reader.layout.unfinished_check, progress))


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
    run = _CheckRun(library.layout.unfinished_check, progress)
    _notice_silent_changes(library, run)
    if run.progress.cancelled:
        return [STOPPED]
    for tier, (_, is_taken) in blocked(library.layout).items():
        if not is_taken:  # the person who repairs was warned, and gives up its records
            for folder in (library.layout.sidecar_folder(tier), library.layout.image_folder(tier)):
                Disk().make_folder(folder)
    for fault in reconcile.survey(library.catalog, library.layout).faults:
        _mend(fault, library)
    library.apply_external_edits()
    with contextlib.suppress(ModelUnavailable):  # the check below says what is missing
        is_damaged = any(_damaged_vectors(library.catalog, run))
        if is_damaged:
            embedding_cache.delete_damaged(library.catalog)
        if is_damaged or embedding_cache.incomplete(library.catalog, library.layout, library.embedder):
            library.embed_all(library.embedder, progress=run.progress)
    if library.check_chroma() and is_there():  # a server that is away catches up when it is back
        library.rebuild_chroma()
    library.wait_for_chroma()
    return _check(library, run)


def _check(reader: Reader, run: _CheckRun) -> list[DoctorFinding]:
    parts = [_catalog, _moved_aside]
    if not is_replica(reader.layout.catalog):
        parts = [_catalog, _operations, _files, _vectors, _chroma, _copies, _moved_aside]
        total = 3 * sum(reader.counts().values()) + _count_vectors(reader.catalog)
        run.progress.done, run.progress.total = 0, total
    found: list[DoctorFinding] = []
    for part in parts:
        try:
            found.extend(part(reader, run))
        except CatalogDamaged as error:
            return [*found, DoctorFinding(str(error), _FIRST)]
        if run.progress.cancelled:
            return [*found, STOPPED]
    run.finish()
    return found


def _catalog(reader: Reader, run: _CheckRun) -> Iterator[DoctorFinding]:
    catalog = reader.catalog
    for fault in _damaged_pages(catalog, run):
        yield DoctorFinding(f"the catalog is damaged: {fault}", _SALVAGE)
    run.progress.what = "reading the texts"
    damages = list[Damage]()
    with _ended_by(run.progress, catalog):
        look = partial(maintenance_repair.damaged_texts, catalog)
        damages += run.faults(("texts", _catalog_state(catalog)), look)
    damages += _damaged_rows(reader, run)
    for damage in damages:
        what = f"{damage.what} in the catalog is not what was written"
        yield DoctorFinding(what, "repair gives it back, from the files or a copy", damage.address)


def _operations(reader: Reader, _: _CheckRun) -> Iterator[DoctorFinding]:
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


def _files(reader: Reader, run: _CheckRun) -> Iterator[DoctorFinding]:
    run.progress.what = "looking for changed files"
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
    for one in _silent_changes(reader, run):
        remedy = "repair writes it again from the catalog" if one.what == "sidecar" else _BACKUP
        yield DoctorFinding(f"its {one.what} in {one.tier} is not what was written", remedy, one.address)


def _notice_silent_changes(library: "Library", run: _CheckRun) -> None:
    total = sum(library.counts().values()) + _count_vectors(library.catalog)
    run.progress.done, run.progress.total = 0, total
    for one in list(_silent_changes(library, run)):
        if (
            one.what == "sidecar"
            and content_hash(library.sidecar_text(one.expected).encode()) == one.expected
        ):
            _mend(reconcile.Fault(one.address, "", "", lost=(one.tier, one.expected)), library)
        column = "image_stat" if one.what == "picture" else "sidecar_stat"
        with library.catalog.writing() as db:  # its time counts no longer, its size does
            shorter = f"UPDATE records SET {column} = substr({column}, 1, instr({column}, ':'))"
            db.execute(f"{shorter} WHERE address = ?", [one.address])


def _vectors(reader: Reader, run: _CheckRun) -> Iterator[DoctorFinding]:
    for damage in _damaged_vectors(reader.catalog, run):
        if damage.address:
            yield DoctorFinding("a vector of it is damaged", "repair embeds it again", damage.address)
        else:
            yield DoctorFinding(f"the catalog is damaged: {damage.what}", _SALVAGE)
    try:
        wrong = list(_incomplete(reader, run))
        if (
            wrong
            and len(wrong) == reader.counts()["library"]
            and embedding_cache.is_outdated(reader.catalog, reader.embedder)
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


def _chroma(reader: Reader, _: _CheckRun) -> Iterator[DoctorFinding]:
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
        for fault in catalog_source.follower(catalog, reader.layout, model=lambda: reader.model).check():
            yield DoctorFinding(fault, _REBUILDS)


def _copies(reader: Reader, _: _CheckRun) -> Iterator[DoctorFinding]:
    if shortage := snapshots.shortage(reader.layout.catalog):
        yield DoctorFinding(shortage, "free disk space, or keep a backup elsewhere", is_fault=False)


def _moved_aside(reader: Reader, _: _CheckRun) -> Iterator[DoctorFinding]:
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


@contextmanager
def _ended_by(progress: Progress, catalog: Catalog) -> Iterator[None]:
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


def _damaged_pages(catalog: Catalog, run: _CheckRun) -> Iterator[str]:
    """What SQLite finds wrong with the pages, those of many vectors excepted; stops early if cancelled."""
    state = _catalog_state(catalog)
    with catalog.reading() as db:
        parts = pages.parts(db)
    for part in parts:
        if run.progress.cancelled:
            return
        run.progress.what = f"reading the catalog: {part}" if part else "reading the catalog"
        faults = list[str]()
        with _ended_by(run.progress, catalog):
            faults += run.faults(("pages", part, state), partial(_page_faults, catalog, part))
        yield from faults


def _page_faults(catalog: Catalog, part: str) -> list[str]:
    with catalog.reading() as db:
        return pages.faults(db, part)


def _damaged_vectors(catalog: Catalog, run: _CheckRun) -> Iterator[Damage]:
    """Records with a vector that cannot be searched with, and vectors that cannot be read."""
    run.progress.what = "reading the vectors"
    state, count = _catalog_state(catalog), _count_vectors(catalog)
    return run.each(
        (min(_BLOCK, count - first), ("vectors", first, state), partial(_unusable, catalog, first))
        for first in range(0, count, _BLOCK)
    )


def _count_vectors(catalog: Catalog) -> int:
    """How many vectors are stored at most, by the last row's number; 1 if that cannot be read."""
    with contextlib.suppress(CatalogDamaged), catalog.reading() as db:
        return int(db.execute("SELECT coalesce(max(rowid), 0) FROM vectors").fetchone()[0])
    return 1


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


class _File(NamedTuple):
    """A sidecar or a picture as the catalog knows it."""

    address: str
    tier: Tier
    what: str
    path: Path
    stat: str
    expected: str  # hash of the content


def _silent_changes(reader: Reader, run: _CheckRun) -> Iterator[_File]:
    """Sidecars and pictures that look unchanged, with the expected size and time, but have other content."""
    run.progress.what = "reading the files"
    with ThreadPoolExecutor(_READERS, thread_name_prefix="memedex-check") as readers:
        yield from run.each(_batches_of_files(reader, readers))


def _batches_of_files(
    reader: Reader, readers: ThreadPoolExecutor
) -> Iterator[tuple[int, object, Callable[[], list[_File]]]]:
    for rows in _batches(reader.catalog):
        files = [file for row in rows for file in _files_of(reader.layout, row)]
        source = [(*file, _inode(file.path)) for file in files]
        yield len(rows), source, partial(_all_silent, readers, files)


def _damaged_rows(reader: Reader, run: _CheckRun) -> Iterator[Damage]:
    """What the lists say of a record differently from its text."""
    run.progress.what = "comparing the catalog's rows"
    catalog = reader.catalog
    return run.each(
        (
            count,
            ("rows", first, last, _catalog_state(catalog)),
            partial(maintenance_repair.damaged_rows, catalog, reader.layout, first, last),
        )
        for first, last, count in _ranges(catalog)
    )


def _incomplete(reader: Reader, run: _CheckRun) -> Iterator[str]:
    """Library records without exactly this model's vectors."""
    run.progress.what = "comparing the vectors"
    catalog, embedder = reader.catalog, reader.embedder
    return run.each(
        (
            count,
            ("vectors", first, last, embedder.fingerprint, _catalog_state(catalog)),
            partial(embedding_cache.incomplete, catalog, reader.layout, embedder, between=(first, last)),
        )
        for first, last, count in _ranges(catalog)
    )


def _catalog_state(catalog: Catalog) -> tuple[str, str]:
    """Size and time of the catalog and of what is not merged into it yet: they change with every commit."""
    log = catalog.path.with_name(f"{catalog.path.name}-wal")
    return stat_text(catalog.path), stat_text(log) if log.exists() and log.stat().st_size else ""


def _ranges(catalog: Catalog) -> Iterator[tuple[int, int, int]]:
    """The first and the last number of each batch of records, and how many they are."""
    for rows in _batches(catalog, columns="id"):
        yield rows[0]["id"], rows[-1]["id"], len(rows)


def _batches(catalog: Catalog, *, columns: str = "*") -> Iterator[list[sqlite3.Row]]:
    """All records; no reading stays open between two batches, so that the log of changes can be merged."""
    last = -1
    while True:
        rows = catalog.rows(f"SELECT {columns} FROM records WHERE id > ? ORDER BY id LIMIT ?", [last, _BATCH])
        if not rows:
            return
        yield rows
        last = rows[-1]["id"]


def _files_of(layout: Layout, row: sqlite3.Row) -> Iterator[_File]:
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


def _all_silent(readers: ThreadPoolExecutor, files: list[_File]) -> list[_File]:
    shares = [files[start::_READERS] for start in range(_READERS)]  # one by one would cost more than reading
    return [file for share in readers.map(_silent_among, shares) for file in share]


def _silent_among(files: list[_File]) -> list[_File]:
    return [
        file
        for file in files
        if file_hash(file.path) not in (None, file.expected) and stat_text(file.path) == file.stat
    ]
