"""Edit the taxonomy's file: decided by one commit, then written as a whole, and undone like any decision.

If the disk refuses the file, the decided text applies and waits in the catalog.
"""

import contextlib
import json
import time
from collections.abc import Mapping

from store.catalog import history
from store.catalog.catalog import DISK_ERRORS, Catalog, next_generation
from store.disk.aside import carry_out_moves, move_aside
from store.disk.files import Disk
from store.disk.layout import Layout
from store.disk.lock import WriterLock
from store.errors import BadSource, InvalidRecord, NotWritten
from store.operations import DecisionIntent
from store.tags.taxonomy import Taxonomy, written

_TO_WRITE = "taxonomy to write"  # in the catalog while a decided text is not yet in the file


def edit(
    catalog: Catalog, layout: Layout, disk: Disk, entries: Mapping[str, str], *, decision: DecisionIntent
) -> None:
    """Make this the taxonomy, once for each decision. Raises BadSource or NotWritten."""
    with catalog.lock:  # what another edit replaces meanwhile would be lost by the undo of this one
        if _is_made_by(catalog, decision.id):
            return
        finish(catalog, layout, disk)
        before, after = _text(catalog, layout), written(Taxonomy.parsed(entries, path=layout.own_taxonomy))
        if before != after:
            _decide(catalog, layout, disk, before=before, after=after, decision=decision)


def undo(catalog: Catalog, layout: Layout, disk: Disk, *, decision: DecisionIntent, more: bool) -> bool:
    """Restore what the reversed decision replaced; False if it changed no taxonomy.

    `more`: records follow, and the last of them completes the reversal. Raises InvalidRecord if the file was
    changed since.
    """
    assert decision.reverses
    row = catalog.row("SELECT * FROM taxonomies WHERE decision = ?", [decision.reverses])
    if row is None:
        return False
    with catalog.lock:
        finish(catalog, layout, disk)
        now = _text(catalog, layout)
        if now == row["before"]:  # an interrupted one came this far
            return True
        if now != row["after"]:
            raise InvalidRecord(f"the taxonomy was changed since; {decision.verb} would lose that")
        _decide(catalog, layout, disk, before=now, after=row["before"], decision=decision, reverses=not more)
    return True


def finish(catalog: Catalog, layout: Layout, disk: Disk) -> None:
    """Write the decided text to the file; if the disk refuses, it waits for the next time."""
    with contextlib.suppress(*DISK_ERRORS), catalog.lock:
        text = waiting(catalog)
        if not text:
            return
        if not _is_edited_by_hand(catalog, layout, text):
            disk.make_folder(layout.own_taxonomy.parent)
            disk.replace(layout.own_taxonomy, text.encode())
        with catalog.writing() as db:
            db.execute("DELETE FROM meta WHERE key = ?", [_TO_WRITE])


def set_aside_if_broken(layout: Layout) -> str:
    """Move a taxonomy that cannot be read aside; the last one that was decided is written on opening.

    Returns what was done, in a sentence; "" if it is sound. Raises LibraryInUse while another process writes.
    """
    if not layout.own_taxonomy.exists():
        return ""
    try:
        Taxonomy.load(layout.own_taxonomy)
    except BadSource as error:
        what = str(error)
    else:
        return ""
    lock, disk = WriterLock(layout.lock), Disk()
    lock.acquire()
    try:
        name, into = layout.own_taxonomy.name, layout.memecoins
        place = move_aside([name], source=layout.root, into=into, what=f"a broken {name}", disk=disk)
        carry_out_moves(into, disk=disk)
        with contextlib.closing(Catalog(layout.catalog, disk=disk, writable=True)) as catalog:
            row = catalog.row("SELECT after FROM taxonomies ORDER BY number DESC")
            if row and not waiting(catalog):
                catalog.set_meta(_TO_WRITE, row["after"])
    finally:
        lock.release()
    source = "the last one that was decided here" if row else "the one that comes with the program"
    return f"{what}; it was moved to {place}, and {source} is in its place"


def waiting(catalog: Catalog) -> str:
    """The decided text that could not be written yet; "" if there is none."""
    return catalog.meta(_TO_WRITE)


def current(catalog: Catalog, layout: Layout) -> Taxonomy:
    """The taxonomy in effect. Raises BadSource if its file is broken."""
    if text := waiting(catalog):
        return Taxonomy.parsed(json.loads(text), path=layout.own_taxonomy)
    return Taxonomy.load(layout.taxonomy)


def _is_edited_by_hand(catalog: Catalog, layout: Layout, text: str) -> bool:
    """Whether the file has neither the decided text nor the one before, so it was edited."""
    if not layout.own_taxonomy.exists():
        return False
    row = catalog.row("SELECT before FROM taxonomies WHERE after = ? ORDER BY number DESC", [text])
    try:
        return row is not None and written(Taxonomy.load(layout.own_taxonomy)) not in (row["before"], text)
    except BadSource:
        return True  # it is being edited; opening says what is wrong with it


def _is_made_by(catalog: Catalog, decision: str) -> bool:
    """Whether this decision has changed the taxonomy already."""
    row = catalog.row("SELECT 1 FROM taxonomies WHERE decision = ?", [decision])
    return row is not None


def _decide(
    catalog: Catalog,
    layout: Layout,
    disk: Disk,
    *,
    before: str,
    after: str,
    decision: DecisionIntent,
    reverses: bool = False,
) -> None:
    """The caller holds the lock."""
    now = time.time()
    try:
        with catalog.writing() as db:
            next_generation(db)
            history.record_decision(db, decision.id, verb=decision.verb, actor=decision.actor, at=now)
            if reverses and decision.reverses:
                history.record_reversal(db, decision.id, of=decision.reverses)
            db.execute(
                "INSERT INTO taxonomies (decision, at, who, before, after) VALUES (?, ?, ?, ?, ?)",
                [decision.id, now, decision.actor, before, after],
            )
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_TO_WRITE, after])
    except DISK_ERRORS as error:
        if not _is_decided(catalog, decision):
            with contextlib.suppress(*DISK_ERRORS), catalog.writing() as db:
                next_generation(db)  # a commit in its place, so that it cannot come back from SQLite's log
            raise NotWritten(f"the taxonomy could not be written: {error}") from error
    finish(catalog, layout, disk)


def _is_decided(catalog: Catalog, decision: DecisionIntent) -> bool:
    """Whether its commit took effect although it raised, for example because only the fsync failed."""
    with contextlib.suppress(*DISK_ERRORS):
        return _is_made_by(catalog, decision.id)
    return False


def _text(catalog: Catalog, layout: Layout) -> str:
    """The taxonomy as the program writes it, so that changed spaces and order do not count."""
    return written(current(catalog, layout))
