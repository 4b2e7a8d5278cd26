"""Checking a library from the files up, and repairing what can be repaired."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from store import opening, switching
from store.catalog import Catalog, is_made
from store.chroma.follower import Follower
from store.errors import ModelUnavailable
from store.files import Disk, file_hash
from store.layout import Layout
from store.lock import WriterLock
from store.progress import Progress
from store.reading import Reader
from store.writing.journal import stat_text

if TYPE_CHECKING:
    from store.library import Library

_REBUILDS = "repair rebuilds Chroma from the catalog"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong, in plain words, and what mends it."""

    what: str
    remedy: str
    address: str = ""


def check(reader: Reader) -> list[Finding]:
    """Everything that is wrong; an empty list means that files, catalog and Chroma agree.

    Chroma is opened only by the process that writes: two processes on its folder lose vectors.
    """
    return [*_catalog(reader), *_operations(reader), *_files(reader), *_vectors(reader), *_chroma(reader)]


def check_unopened(root: Path) -> list[Finding]:
    """The same for a library that nobody has open, Chroma included; nothing is mended, taken in or rebuilt.

    LibraryInUse while another process writes.
    """
    layout = Layout(root.resolve())
    lock = WriterLock(layout.lock)
    lock.acquire()
    try:
        if not is_made(layout.catalog):
            what = "there is no catalog, or one of an earlier version"
            return [Finding(what, "opening the library makes it from the sidecars; repair does it now")]
        with Reader(root) as reader:
            return [*check(reader), *_unopened_chroma(reader)]
    finally:
        lock.release()


def repair(
    library: "Library", *, progress: Progress | None = None, tell: Callable[[str], None] = lambda _: None
) -> list[Finding]:
    """Mend what can be mended without throwing anything away; returns what is left.

    `tell` is given a sentence for each file that had been removed and that a decided change needed.
    """
    for done in library.finish_without_lost_files():
        tell(done)
    _notice_silent_changes(library)
    for fault in opening.survey(library.catalog, library.layout).faults:
        _mend(fault, library)
    library.take_in_changes()
    with contextlib.suppress(ModelUnavailable):  # the check below says what is missing
        if switching.incomplete(library.catalog, library.layout, library.embedder):
            switching.forget_damaged(library.catalog)
            library.embed_all(library.embedder, progress=progress or Progress())
    if library.check_chroma():
        library.rebuild_chroma()
    library.wait_for_chroma()
    return check(library)


def _catalog(reader: Reader) -> Iterator[Finding]:
    with reader.catalog.reading() as db:
        for (fault,) in db.execute("PRAGMA quick_check(10)").fetchall():
            if fault != "ok":
                remedy = "close the program; doctor --repair on the command line makes a new one from it"
                yield Finding(f"the catalog is damaged: {fault}", remedy)


def _operations(reader: Reader) -> Iterator[Finding]:
    status = reader.status()
    for address in status.applying:
        cause = status.stuck or "the program was ended in the middle"
        remedy = (
            "remove the cause, then repair" if status.stuck else "it is finished on opening, or by repair"
        )
        yield Finding(f"a change is decided but not finished: {cause}", remedy, address)


def _files(reader: Reader) -> Iterator[Finding]:
    found = opening.survey(reader.catalog, reader.layout)
    for fault in found.faults:
        yield Finding(fault.reason, fault.remedy, fault.address)
    for change in found.changed:
        yield Finding("its files were changed outside the program", "repair takes them in", change.address)
    for row in found.gone:
        yield Finding("its files were removed", "restore-backup; repair lets it go", row["address"])
    for address, tier, what in _silent_changes(reader):
        yield Finding(f"its {what} in {tier} is not what was written", "repair takes it in", address)


def _silent_changes(reader: Reader) -> Iterator[tuple[str, str, str]]:
    """Files of the expected size and time whose content is another: address, tier, which file."""
    with reader.catalog.reading() as db:
        rows = db.execute("SELECT * FROM records").fetchall()
    for row in rows:
        tier, address = row["tier"], row["address"]
        for what, path, stat, expected in (
            ("sidecar", reader.layout.sidecar(tier, address), row["sidecar_stat"], row["sidecar_hash"]),
            ("picture", reader.layout.image(tier, address), row["image_stat"], row["image_hash"]),
        ):
            found = file_hash(path)
            if found not in (None, expected) and stat_text(path) == stat:
                yield address, tier, what


def _notice_silent_changes(library: "Library") -> None:
    changed = [(address,) for address, _, _ in _silent_changes(library)]
    with library.catalog.writing() as db:
        db.executemany("UPDATE records SET sidecar_stat = '' WHERE address = ?", changed)


def _vectors(reader: Reader) -> Iterator[Finding]:
    try:
        incomplete = switching.incomplete(reader.catalog, reader.layout, reader.embedder)
    except ModelUnavailable as error:
        yield Finding(f"the model cannot be used: {error}", "or choose another: model NAME")
        return
    for address in incomplete:
        yield Finding(f"its vectors are not those of {reader.model}", "repair embeds it again", address)


def _chroma(reader: Reader) -> Iterator[Finding]:
    status = reader.status()
    if status.chroma_fault:
        yield Finding(f"Chroma is behind: {status.chroma_fault}", _REBUILDS)
    elif status.chroma_behind:
        yield Finding(f"Chroma is {status.chroma_behind:,} records behind", "it catches up by itself")
    for fault in reader.check_chroma():
        yield Finding(fault, _REBUILDS)


def _unopened_chroma(reader: Reader) -> Iterator[Finding]:
    with contextlib.closing(Catalog(reader.layout.catalog, disk=Disk(), writable=True)) as catalog:
        for fault in Follower(catalog, reader.layout, model=lambda: reader.model).check():
            yield Finding(fault, _REBUILDS)


def _mend(fault: opening.Fault, library: "Library") -> None:
    disk, aside = Disk(), library.layout.set_aside
    sidecar = library.layout.sidecar(fault.lost[0], fault.address) if fault.lost else None
    for path in (*fault.stray, *([sidecar] if sidecar and sidecar.exists() else [])):
        disk.make_folder(aside)
        disk.rename(path, aside / f"{time.time_ns()}-{path.name}")
    if fault.lost and sidecar:
        disk.replace(sidecar, library.sidecar_text(fault.lost[1]).encode())
